#include "model/base/grouped_digits.hpp"
#include "model/base/list_text.hpp"
#include "model/base/quantity_text.hpp"
#include "model/io/format/text_table.hpp"
#include "model/io/trace/run_writer.hpp"
#include "model/report/trace_terms.hpp"
#include "model/report/worth_telling.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace sextant {
namespace {

// "2 ranks on node1, node2; AMD EPYC 7763; 1 thread each"
std::string machine_text(const RunRecord& run) {
    std::set<std::string> hosts, processors;
    for (const RankEnvironment& r : run.ranks) {
        hosts.insert(r.host);
        processors.insert(r.processor);
    }
    const auto listed = [](const std::set<std::string>& names) {
        constexpr std::size_t most = 4;
        if (names.size() <= most) return joined(names);
        const std::vector<std::string> first(names.begin(), std::next(names.begin(), most));
        return joined(first) + " and " + std::to_string(names.size() - most) + " more";
    };
    const int threads = run.ranks.empty() ? 1 : run.ranks[0].threads;
    return counted(run.ranks.size(), "rank") + " on " + listed(hosts) + "; " + listed(processors) + "; " + counted(threads, "thread") +
           " each";
}

std::string libraries_text(const RunRecord& run) {
    return joined(run.libraries, [](const LibraryVersion& l) { return l.name + " " + l.version; });
}

std::string step_text(const RunRecord& run) {
    std::string text = to_text(run.step()) + " in step " + std::to_string(run.traced_step + 1) + " of " + std::to_string(run.steps.size());
    // The first walk through the graph allocates.
    const auto first = static_cast<std::size_t>(run.steps_in_trace);
    if (run.steps.size() <= first && run.steps.size() > 1) return text + "; all of them are warm-up: run more steps";
    if (run.steps.size() < first + 2) return text;
    const auto [least, most] = std::minmax_element(run.steps.begin() + run.steps_in_trace, run.steps.end());
    return text + ", the median; " + to_text(*least) + " to " + to_text(*most) + " after the first" +
           (first > 1 ? " " + std::to_string(first) : "");
}

std::string throughput_text(const RunRecord& run, const Scenario& s) {
    const double samples = static_cast<double>(s.plan.global_batch) / run.step().si();
    const auto tokens = static_cast<double>(s.workload.tokens_per_sample());
    std::string text = grouped_digits(samples, 3) + " " + std::string(s.workload.sample_word()) + "s/s";
    return tokens > 0 ? text + ", " + grouped_digits(samples * tokens, 4) + " tokens/s" : text;
}

std::string memory_text(const RunRecord& run) {
    Bytes arrays, resident, offloaded;
    for (const RankEnvironment& r : run.ranks) {
        arrays = max(arrays, r.peak_memory);
        resident = max(resident, r.peak_resident);
        offloaded = max(offloaded, r.offloaded);
    }
    const std::string beside = offloaded > Bytes{} ? to_text(offloaded) + " offloaded, " : "";
    return to_text(arrays) + " in arrays of the fullest rank, " + beside + to_text(resident) + " in its process";
}

std::string servers_text(const ServerSummary& s) {
    const auto count = [](double n) { return std::to_string(static_cast<std::int64_t>(n)); };
    const bool once = s.updates_applied == s.updates_pushed && s.checksum_applied == s.checksum_pushed;
    std::string text = count(s.updates_pushed);
    text += " gradients pushed, ";
    text += once ? "each applied once" : count(s.updates_applied) + " applied, or not as they were pushed";
    if (s.staleness.empty()) return text;
    return text + "; weights up to " + std::to_string(s.staleness.size() - 1) + " steps of other workers old";
}

std::string dataset_text(const DatasetSummary& d) {
    const auto count = [](double n) { return std::to_string(static_cast<std::int64_t>(n)); };
    std::string text = count(d.samples) + " of " + d.path + " (" + d.format + ")";
    if (d.loaded > 0)
        text += "; each read in " + to_text(d.reading / d.loaded) + " and decoded in " + to_text(d.decoding / d.loaded) + " by a worker";
    if (d.staging() > Seconds{}) text += "; staged in " + to_text(d.staging());
    if (d.skipped > 0) text += "; " + count(d.skipped) + " skipped as damaged";
    return text;
}

std::string loss_scale_text(const LossScaleSummary& s) {
    const std::string last = number_text(s.last, 6);
    return s.skipped == 0 ? last : last + "; " + std::to_string(s.skipped) + " steps did not count: gradients were too large for fp16";
}

std::string terms_text(const RunRecord& run) {
    const Trace& trace = run.trace;
    const GraphRank last = last_rank(trace);
    const Terms terms = terms_of(trace, last), hidden = overlapped_of(trace, last);
    TextTable table;
    for (const Term t : all_terms) {
        if (terms[t] / trace.end >= worth_telling)
            table.row({words(to_text(t)), to_text(terms[t] / run.steps_in_trace), percent_text(terms[t] / trace.end, 2),
                       share_bar(terms[t] / trace.end)});
    }
    for (const Term t : all_terms) {
        if (hidden[t] / trace.end >= worth_telling_hidden)
            table.row({"hidden behind compute", to_text(hidden[t] / run.steps_in_trace), "of " + words(to_text(t))});
    }
    return "\nWhere the time went (rank " + std::to_string(trace.ranks[last].rank) + ", which finished last)\n" + table.text();
}

// Those that took longest, of a rank on average.
std::string operators_text(std::vector<OperatorTime> operators, double ranks) {
    constexpr std::size_t most = 12;
    if (operators.empty()) return "";
    Seconds all;
    for (const OperatorTime& o : operators) all += o.time;
    std::ranges::stable_sort(operators, std::greater<>(), &OperatorTime::time);
    TextTable table("  ", Align::right);
    table.row({"", "", "calls", "of a call", "of a step", ""});
    for (std::size_t i = 0; i < std::min(most, operators.size()); ++i) {
        const OperatorTime& o = operators[i];
        table.row({o.name + " of " + o.block, words(to_text(o.kind)), grouped_digits(o.calls / ranks, 3),
                   o.calls > 0 ? to_text(o.time / o.calls) : "", to_text(o.time / ranks), share_bar(o.time / all)});
    }
    table.row({"all " + std::to_string(operators.size()), "", "", "", to_text(all / ranks), ""});
    return "\nSlowest operators (mean over ranks)\n" + table.text();
}

}  // namespace

std::string run_to_text(const RunRecord& run, const Scenario& scenario) {
    TextTable table;
    table.row({"ran on", machine_text(run)});
    if (!run.libraries.empty()) table.row({"libraries", libraries_text(run)});
    table.row({"step time", step_text(run)});
    table.row({"throughput", throughput_text(run, scenario)});
    const auto course = [&](const char* name, const std::vector<double>& by_step, int digits, const char* what) {
        if (!by_step.empty()) table.row({name, number_text(by_step.front(), digits) + " to " + number_text(by_step.back(), digits) + what});
    };
    course("loss", run.losses, 4, "");
    course("loss of modules", run.mtp_losses, 4, "");
    course("busiest expert", run.expert_imbalance, 3, " times the mean of its layer");
    course("busiest rank", run.expert_rank_imbalance, 3, " times the mean in rows for its experts");
    table.row({"memory", memory_text(run)});
    if (run.dataset) table.row({"samples", dataset_text(*run.dataset)});
    if (run.loss_scale) table.row({"loss scale", loss_scale_text(*run.loss_scale)});
    if (run.servers) table.row({"servers", servers_text(*run.servers)});
    return run.scenario + "\n" + table.text() + terms_text(run) +
           operators_text(run.operators, static_cast<double>(scenario.plan.devices()) * run.steps_in_trace);
}

}  // namespace sextant
