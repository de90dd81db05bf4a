#include "model/base/evenly_spread.hpp"
#include "model/base/list_text.hpp"
#include "model/io/report/simulation_writer.hpp"

#include "model/base/grouped_digits.hpp"
#include "model/base/quantity_text.hpp"
#include "model/io/format/heat_strip.hpp"
#include "model/io/format/text_table.hpp"
#include "model/io/report/report_writer.hpp"
#include "model/report/worth_telling.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sextant {
namespace {

constexpr std::size_t columns = 50, most_lines = 12;

std::string simulated_text(const SimulationReport& s) {
    std::string out = "\nSimulated: " + grouped_digits(s.trace.spans.size()) + " spans, " + grouped_digits(s.events) + " events" +
                      (s.steps > 1 ? ", " + std::to_string(s.steps) + " steps of each worker" : "") + "\n";
    TextTable table;
    const Seconds step = s.report.estimate.step;
    if (s.predicted_step > Seconds{}) {
        const double above = step / s.predicted_step - 1;
        const std::string difference =
            std::fabs(above) < worth_telling ? "the same" : percent_text(std::fabs(above), 2) + (above > 0 ? " longer" : " shorter");
        table.row({"predict says", to_text(s.predicted_step, 4) + ", simulated " + to_text(step, 4) + ": " + difference});
    }
    if (s.jitter.noise > 0)
        table.row({"noise", percent_text(s.jitter.noise, 2) + " of a rank's speed, seed " + std::to_string(s.jitter.seed)});
    if (s.jitter.slow_devices > 0)
        table.row({"slow devices", grouped_digits(s.jitter.slow_devices) + " at " + percent_text(s.jitter.slow_speed) + " of their speed"});
    if (s.staleness)
        table.row({"staleness", number_text(s.staleness->mean) + " updates by other workers since a worker's weights left the servers, " +
                                    std::to_string(s.staleness->largest) + " at most"});
    return out + table.text();
}

std::string path_text(const SimulationReport& s) {
    const CriticalPath& path = s.critical_path;
    std::string out = "\nCritical path: " + to_text(path.seconds) + " in " + grouped_digits(path.spans.size()) + " spans, " +
                      (path.waiting > Seconds{} ? to_text(path.waiting) + " of waiting between them\n" : "back to back\n");
    TextTable table;
    for (const SpanKind k : all_span_kinds) {
        const double share = path.by_kind[k] / s.trace.end;
        if (share > worth_telling) table.row({words(to_text(k)), to_text(path.by_kind[k]), percent_text(share, 2)});
    }
    std::vector<std::size_t> ranks(path.by_rank.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    std::ranges::stable_sort(ranks, std::greater(), [&](std::size_t r) { return path.by_rank[r]; });
    std::string where;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, ranks.size()); ++i)
        if (const Seconds t = path.by_rank[ranks[i]]; t > worth_telling * s.trace.end)
            append_to_list(where, percent_text(t / s.trace.end, 2) + " on " + name_of(s.trace.ranks[ranks[i]]) + " (stage " +
                                      std::to_string(s.trace.ranks[ranks[i]].stage) + ")");
    if (!where.empty()) table.row({"where", where});
    return out + table.text();
}

std::string memory_text(const SimulationReport& s) {
    if (s.memory.empty()) return {};
    std::string out = "\nMemory of each stage over time: its peak, and the part that varies (a column is " +
                      to_text(s.trace.end / static_cast<double>(columns)) + ")\n";
    Bytes top;
    for (const MemoryTimeline& m : s.memory) top = max(top, m.highest);
    TextTable table;
    const std::vector<std::size_t> shown = evenly_spread(s.memory.size(), most_lines);
    for (const std::size_t i : shown) {
        const MemoryTimeline& m = s.memory[i];
        std::vector<double> heights;
        for (const Bytes b : highest_by_interval(m, s.trace.end, columns)) heights.push_back(top > Bytes{} ? b / top : 0);
        table.row({"stage " + std::to_string(m.stage), to_text(m.peak()), "at " + to_text(m.highest_at), "|" + heat_strip(heights) + "|"});
    }
    if (shown.size() < s.memory.size()) table.row({grouped_digits(s.memory.size() - shown.size()) + " other stages lie between these"});
    return out + table.text();
}

// The busiest first; the others in one line.
void add_lines(TextTable& table, std::vector<UtilizationSeries> series, const std::string& word) {
    std::ranges::stable_sort(series, std::greater(), mean_of);
    int others = 0;
    double most = 0;
    for (std::size_t i = 0; i < series.size(); ++i) {
        const UtilizationSeries& u = series[i];
        if (i >= most_lines) {
            others += u.count;
            most = std::max(most, mean_of(u));
            continue;
        }
        table.row({u.name + (u.count > 1 ? " and " + grouped_digits(u.count - 1) + " alike" : ""), percent_text(mean_of(u), 3),
                   "|" + heat_strip(averaged(u.busy, columns)) + "|"});
    }
    if (others > 0) table.row({grouped_digits(others) + " other " + word, percent_text(most, 3), "at most"});
}

std::string utilization_text(const SimulationReport& s) {
    if (s.devices.empty() && s.links.empty()) return {};
    TextTable table;
    add_lines(table, s.devices, "devices");
    add_lines(table, s.links, "links");
    return "\nUtilization over the step: mean, and its course\n" + table.text();
}

}  // namespace

std::string simulation_to_text(const SimulationReport& s) {
    return report_to_text(s.report) + simulated_text(s) + path_text(s) + memory_text(s) + utilization_text(s);
}

}  // namespace sextant
