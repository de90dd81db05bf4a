#include "model/io/report/report_writer.hpp"

#include "model/base/grouped_digits.hpp"
#include "model/base/quantity_text.hpp"
#include "model/io/format/text_table.hpp"
#include "model/io/report/report_fields.hpp"
#include "model/io/report/run_rows.hpp"
#include "model/report/headings.hpp"
#include "model/report/worth_telling.hpp"

namespace sextant {
namespace {

constexpr std::size_t label_width = 24;

std::string padded(std::string text, std::size_t width) {
    if (text.size() < width) text.append(width - text.size(), ' ');
    return text;
}
std::string right(const std::string& text, std::size_t width) {
    return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

std::string row(std::string_view label, const std::string& value) { return padded("  " + std::string(label), label_width) + value + "\n"; }

std::string terms_text(const Estimate& e) {
    std::string out = "\nWhere the time goes (rank of stage " + std::to_string(e.last_stage) + ", which finishes last)\n";
    for (const Term t : all_terms) {
        if (e.terms[t] / e.step < worth_telling) continue;
        out += padded("  " + words(to_text(t)), label_width) + right(to_text(e.terms[t]), 10) + " " +
               right(percent_text(e.terms[t] / e.step, 2), 7) + share_bar(e.terms[t] / e.step) + "\n";
    }
    if (e.slowest_stage != e.last_stage) {
        out += "  stage " + std::to_string(e.slowest_stage) + ", which the others wait for, spends";
        for (const Term t : all_terms) {
            if (e.slowest[t] / e.step > 0.05) out += " " + percent_text(e.slowest[t] / e.step, 2) + " " + words(to_text(t)) + ",";
        }
        out.back() = '\n';
    }
    for (const Term t : all_terms) {
        if (e.overlapped[t] / e.step > worth_telling_hidden)
            out += row("hidden behind compute", to_text(e.overlapped[t]) + " of " + words(to_text(t)));
    }
    return out;
}

std::string room_text(Bytes needed, Bytes there) {
    return to_text(needed) + " of " + to_text(there) +
           (needed > there                    ? ", DOES NOT FIT"
            : nothing_to_spare(needed, there) ? ", fits with nothing to spare"
                                              : ", fits");
}

std::string memory_text(const Report& r) {
    const Estimate& e = r.estimate;
    const std::size_t stage = e.fullest_stage();
    const StageMemory& fullest = e.memory[stage];
    std::string out = "\nMemory of the fullest rank";
    if (e.memory.size() > 1) out += " (stage " + std::to_string(stage) + " of " + std::to_string(e.memory.size()) + ")";
    out += ": " + room_text(e.peak_memory, e.device_memory);
    if (little_to_spare(e.peak_memory, e.device_memory)) out += "; predictions of memory are 3 % off on average";
    out += "\n";
    for (const MemoryKind k : all_memory_kinds) {
        if (fullest[k] > Bytes::from_si(1e5)) out += padded("  " + words(to_text(k)), label_width) + right(to_text(fullest[k]), 10) + "\n";
    }
    if (e.host.total() > Bytes{}) out += row("host memory", room_text(e.host.total(), e.host.there) + ", each node");
    return out + row("largest micro-batch", largest_micro_batch_text(r));
}

std::string bottleneck_text(const Report& r) {
    const Bottleneck& b = r.bottleneck;
    std::string out = "\nWhat holds it back: " + std::string(to_text(b.kind)) + "\n  " + b.why + "\n";
    if (!r.estimate.fits()) return out + "  what would make it fit: " + what_would_move_it(r) + "\n";
    out += "  what would move it: " + what_would_move_it(r) + "\n";
    if (b.changes_at) out += "  " + b.changes_at_text + "\n";
    for (const Mover& m : b.movers)
        out += padded("  " + m.change, 38) + right(to_text(m.step_at_double), 10) + "  (-" + percent_text(m.gain, 2) + ")\n";
    return out;
}

std::string run_text(const Report& r) {
    std::string out;
    for (const auto& [heading, rows] : sections_of_run(r)) {
        out += "\n" + heading + "\n";
        for (const auto& [label, said] : rows) out += row(label, said);
    }
    return out;
}

std::string trust_text(const Report& r) {
    std::string out = "\nHow far to trust it\n";
    out += row("80 % interval", to_text(r.low) + " to " + to_text(r.high));
    for (const InputUsed& i : r.inputs)
        if (i.effect > 2e-3)
            out += "  " + padded(std::string(to_text(i.kind)), 11) + i.name + ": " + i.value + " (moves the answer " +
                   percent_text(i.effect, 2) + ")\n";
    for (const std::string& a : r.assumptions) out += "  assumed    " + a + "\n";
    for (const std::string& a : r.advice) out += "  advice     " + a + "\n";
    return out;
}

}  // namespace

std::string report_to_text(const Report& r) {
    const Estimate& e = r.estimate;
    std::string out = r.scenario + "\n" + row("workload", r.workload) + row("hardware", r.hardware) + row("plan", r.plan) + "\n";
    out += row("step time", to_text(e.step) + "  (80 %: " + to_text(r.low) + " to " + to_text(r.high) + ")" +
                                (e.fits() ? "" : ", if it fitted: it DOES NOT FIT in memory"));
    std::string throughput = grouped_digits(r.samples_per_s.si(), 3) + " " + r.sample_word + "s/s";
    if (r.tokens_per_s) throughput += ", " + grouped_digits(r.tokens_per_s->si(), 4) + " tokens/s";
    out += row("throughput", throughput);
    out += row("efficiency", "MFU " + percent_text(r.mfu) + ", HFU " + percent_text(r.hfu) + " of " + to_text(r.peak) +
                                 " per device; data-parallel scaling " + percent_text(r.scaling_efficiency) + "; device busy " +
                                 percent_text(r.utilization));
    if (r.staleness)
        out += row("staleness", number_text(*r.staleness) + " updates by other workers since a worker's weights left, on average");
    // What does not run is not waited for: what it needs comes first.
    const std::string room = memory_text(r) + bottleneck_text(r);
    out += e.fits() ? terms_text(e) + room : room + terms_text(e);
    return out + run_text(r) + trust_text(r);
}

}  // namespace sextant
