#include "model/io/report/report_html.hpp"

#include "model/base/grouped_digits.hpp"
#include "model/base/quantity_text.hpp"
#include "model/io/format/heat_strip.hpp"
#include "model/io/format/html.hpp"
#include "model/io/format/svg.hpp"
#include "model/io/format/text_table.hpp"
#include "model/io/report/report_fields.hpp"
#include "model/io/report/report_pictures.hpp"
#include "model/io/report/run_rows.hpp"
#include "model/io/trace/timeline_svg.hpp"
#include "model/report/worth_telling.hpp"

#include <algorithm>
#include <functional>

namespace sextant {
namespace {

using html::Rows;
using html::table;
using svg::escaped;

constexpr std::string_view style = R"(
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(160px, 1fr)); gap: 14px; margin: 20px 0; }
.figures div { background: var(--panel); border: 1px solid var(--rule); border-radius: 8px; padding: 10px 14px; }
.figures b { display: block; font-size: 20px; } .figures span { color: var(--soft); font-size: 13px; } .bad { color: #c2410c; }
figure { background: #ffffff; margin: 12px 0; } figure svg { display: block; width: 100%; height: auto; } figure.narrow { max-width: 760px; } td svg { vertical-align: middle; }
p.says { color: var(--ink); } .sources td:last-child, .sources th:last-child { white-space: normal; text-align: left; min-width: 260px; } li { max-width: 90ch; margin: 3px 0; }
details pre { background: var(--panel); border: 1px solid var(--rule); border-radius: 8px; padding: 10px 14px; overflow-x: auto; font-size: 12.5px; }
summary { cursor: pointer; color: var(--soft); } @media print { details > * { display: block; } h2 { break-after: avoid; } figure { break-inside: avoid; } }
)";

std::string section(std::string_view heading) { return "<h2>" + escaped(heading) + "</h2>\n"; }
std::string says(std::string text) {
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') text.front() = static_cast<char>(text.front() - 'a' + 'A');
    return "<p class=\"says\">" + escaped(text) + "</p>\n";
}
std::string figure(const std::string& picture, std::string_view kind = {}) {
    return picture.empty() ? "" : "<figure" + std::string(kind) + ">" + picture + "</figure>\n";
}

std::string list_of(const std::vector<std::string>& texts) {
    std::string out = "<ul>";
    for (const std::string& t : texts) out += "<li>" + escaped(t) + "</li>\n";
    return out + "</ul>\n";
}

std::string box(const std::string& value, const std::string& below, bool bad = false) {
    return "<div><b" + std::string(bad ? " class=\"bad\"" : "") + ">" + escaped(value) + "</b><span>" + escaped(below) + "</span></div>\n";
}

std::string head(const Report& r) {
    const Estimate& e = r.estimate;
    std::string out = "<h1>" + escaped(r.scenario) + "</h1>\n<p>" + escaped(r.workload) + ". " + escaped(r.hardware) + ". " +
                      escaped(r.plan) + ".</p>\n<div class=\"figures\">\n";
    out += box(to_text(e.step),
               std::string(e.fits() ? "a step" : "a step, if it fitted") + "; 80 %: " + to_text(r.low) + " to " + to_text(r.high));
    out += box(grouped_digits(r.samples_per_s.si(), 3),
               r.sample_word + "s/s" + (r.tokens_per_s ? ", " + grouped_digits(r.tokens_per_s->si()) + " tokens/s" : "") + "; " +
                   counted(r.devices, "device"));
    out +=
        box(to_text(e.peak_memory), "of " + to_text(e.device_memory) + (e.fits_device() ? ", fits" : ": does not fit"), !e.fits_device());
    if (e.host.total() > Bytes{})
        out += box(to_text(e.host.total()), "of a host's " + to_text(e.host.there) + (e.host.fits() ? ", fits" : ": does not fit"),
                   !e.host.fits());
    out += box(percent_text(r.mfu), "MFU; HFU " + percent_text(r.hfu) + " of " + to_text(r.peak) + " a device");
    out += box(percent_text(r.scaling_efficiency), "data-parallel scaling; a device is busy for " + percent_text(r.utilization));
    if (r.run) out += box(to_text(r.run->time), "the whole run; " + grouped_digits(r.run->device_time / units::hour) + " device-hours");
    return out + "</div>\n";
}

std::string bottleneck(const Report& r) {
    const Bottleneck& b = r.bottleneck;
    const std::string heading = section("What holds it back: " + std::string(to_text(b.kind))) + says(b.why);
    if (!r.estimate.fits()) return heading + says("What would make it fit: " + what_would_move_it(r));
    Rows rows{{"what if", "a step takes", "gain"}};
    for (const Mover& m : b.movers) rows.push_back({m.change, to_text(m.step_at_double), percent_text(m.gain, 2)});
    return heading + says("What would move it: " + what_would_move_it(r)) + (b.changes_at ? says(b.changes_at_text) : "") + table(rows);
}

std::string breakdown(const Prepared& job, const Estimate& e) {
    Rows rows{{"term", "time", "of the step", "hidden behind compute"}};
    std::string formulas;
    for (const Term term : all_terms) {
        const double share = e.terms[term] / e.step;
        if (share < worth_telling && !(e.overlapped[term] > Seconds{})) continue;
        rows.push_back({words(to_text(term)), to_text(e.terms[term]), percent_text(share, 2),
                        e.overlapped[term] > Seconds{} ? to_text(e.overlapped[term]) : ""});
        formulas += "<details><summary>How " + words(to_text(term)) + " is made up</summary><pre>";
        for (const std::string& line : explain(job, term)) formulas += escaped(line) + "\n";
        formulas += "</pre></details>\n";
    }
    return section("Where a step goes") + "<p>Of the rank that finishes last, one of stage " + std::to_string(e.last_stage) + ".</p>\n" +
           figure(terms_svg(e)) + table(rows) + formulas;
}

std::string memory(const Report& r) {
    const Estimate& e = r.estimate;
    const StageMemory& fullest = e.memory[e.fullest_stage()];
    Rows rows{{"of the fullest rank", "bytes"}};
    for (const MemoryKind kind : all_memory_kinds) {
        if (fullest[kind] > Bytes{}) rows.push_back({words(to_text(kind)), to_text(fullest[kind])});
    }
    return section("Memory") + figure(memory_svg(e)) + table(rows) + says("Largest micro-batch: " + largest_micro_batch_text(r) + ".");
}

// The busiest first.
std::string links(const SimulationReport& played) {
    constexpr std::size_t most = 16, columns = 80;
    std::vector<UtilizationSeries> series = played.links;
    std::ranges::stable_sort(series, std::greater(), mean_of);
    if (series.empty()) return {};
    std::string rows = html::row("th", {"link", "in use, mean", "over the step"});
    for (std::size_t i = 0; i < std::min(most, series.size()); ++i) {
        const UtilizationSeries& u = series[i];
        const std::string name = u.name + (u.count > 1 ? " and " + grouped_digits(u.count - 1) + " alike" : "");
        rows += "<tr><td>" + escaped(name) + "</td><td>" + percent_text(mean_of(u), 2) + "</td><td>" + busy_svg(averaged(u.busy, columns)) +
                "</td></tr>\n";
    }
    std::string out = html::table_of(rows);
    if (series.size() > most) out += "<p>" + std::to_string(series.size() - most) + " other kinds of links are less busy.</p>\n";
    return out;
}

std::string timeline(const SimulationReport& played) {
    return section("Timeline") + "<p>The step as it is played event by event: " + to_text(played.report.estimate.step) +
           ", the closed form says " + to_text(played.predicted_step) + ".</p>\n" + figure(timeline_svg(played.trace, picture_of(played)));
}

std::string topology(const Report& r, const SimulationReport* played) {
    return section("Topology") + says(r.hardware) + (played ? links(*played) : "");
}

std::string operators(const Prepared& job) {
    const Roofline r = roofline(job);
    constexpr std::size_t most = 12;
    Rows rows{{"operator", "bound by", "in a step", "of kernels", "shape"}};
    for (std::size_t i = 0; i < std::min(most, r.kernels.size()); ++i) {
        const RooflineKernel& k = r.kernels[i];
        rows.push_back({k.kernel.name + ", " + words(to_text(k.phase)), std::string(to_text(k.bound)), to_text(k.in_step()),
                        percent_text(k.in_step() / r.total(), 2), shape_text(k.kernel)});
    }
    const std::string above =
        passes_a_roof(r) ? says("Convolutions of 3 x 3 stand above their roof: in the Winograd domain they multiply less than is counted.")
                         : "";
    return section("Roofline") + figure(roofline_svg(r), " class=\"narrow\"") + above + table(rows);
}

std::string whole_run(const Report& r) {
    std::string out;
    for (const auto& [heading, said] : sections_of_run(r)) {
        Rows rows{{"", ""}};
        for (const auto& [label, value] : said) rows.push_back({label, value});
        out += section(heading) + table(rows, " class=\"sources\"");
    }
    return out;
}

std::string trust(const Report& r) {
    Rows rows{{"input", "value", "kind", "moves the answer by", "source"}};
    for (const InputUsed& i : r.inputs)
        rows.push_back({i.name, i.value, std::string(to_text(i.kind)), percent_text(i.effect, 2), i.source});
    std::string out = section("How far to trust it") + "<p>With four chances of five a step takes between " + to_text(r.low) + " and " +
                      to_text(r.high) + ". The inputs of this answer, those first that move it most within their spread:</p>\n" +
                      table(rows, " class=\"sources\"");
    if (!r.assumptions.empty()) out += section("Assumed") + list_of(r.assumptions);
    if (!r.advice.empty()) out += section("Advice") + list_of(r.advice);
    return out;
}

}  // namespace

std::string report_html(const Prepared& job, const Report& r, const SimulationReport* played, const std::vector<PageFigure>& figures) {
    // What does not run is not waited for: what it needs comes first.
    const std::string times = breakdown(job, r.estimate);
    std::string body = head(r) + bottleneck(r) + (r.estimate.fits() ? times + memory(r) : memory(r) + times);
    if (played) body += timeline(*played);
    body += topology(r, played) + operators(job) + whole_run(r);
    for (const PageFigure& f : figures) body += section(f.heading) + figure(f.svg);
    body += trust(r);
    return html::page("Sextant: " + r.scenario, style, body);
}

}  // namespace sextant
