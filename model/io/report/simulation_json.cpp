#include "model/io/format/json_text.hpp"
#include "model/io/report/report_fields.hpp"
#include "model/io/report/simulation_writer.hpp"

#include <nlohmann/json.hpp>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

// A curve may have as many points as there are segments: the highest of each interval is what matters.
constexpr std::size_t memory_intervals = 200;

Json path_json(const CriticalPath& path, const Trace& trace) {
    Json kinds = Json::array(), ranks = Json::array();
    for (const SpanKind k : all_span_kinds) {
        if (path.by_kind[k] > Seconds{}) kinds.push_back({{"name", to_text(k)}, {"seconds", path.by_kind[k].si()}});
    }
    for (std::size_t r = 0; r < path.by_rank.size(); ++r)
        if (path.by_rank[r] > Seconds{})
            ranks.push_back({{"rank", trace.ranks[r].rank}, {"stage", trace.ranks[r].stage}, {"seconds", path.by_rank[r].si()}});
    return {{"seconds", path.seconds.si()},
            {"waiting_s", path.waiting.si()},
            {"spans", path.spans.size()},
            {"by_kind", std::move(kinds)},
            {"by_rank", std::move(ranks)}};
}

Json memory_json(const MemoryTimeline& m, const Trace& trace) {
    Json base, highest = Json::array();
    for (const MemoryKind k : all_memory_kinds) {
        if (m.base[k] > Bytes{}) base[std::string(to_text(k))] = m.base[k].si();
    }
    for (const Bytes b : highest_by_interval(m, trace.end, memory_intervals)) highest.push_back(b.si());
    return {{"stage", m.stage},
            {"rank", trace.ranks[m.rank].rank},
            {"peak_bytes", m.peak().si()},
            {"peak_at_s", m.highest_at.si()},
            {"base_by_kind_bytes", std::move(base)},
            {"interval_s", trace.end.si() / static_cast<double>(memory_intervals)},
            {"highest_above_base_bytes", std::move(highest)}};
}

Json utilization_json(const UtilizationSeries& u, const char* of, const Trace& trace) {
    const double intervals = static_cast<double>(std::max<std::size_t>(1, u.busy.size()));
    return {{"name", u.name}, {"of", of}, {"count", u.count}, {"interval_s", trace.end.si() / intervals}, {"busy", u.busy}};
}

}  // namespace

std::string simulation_to_json(const SimulationReport& s) {
    Json json = report_fields(s.report, "simulation/1");
    json["predicted_step_time_s"] = s.predicted_step.si();
    json["seed"] = s.jitter.seed;
    json["noise"] = s.jitter.noise;
    json["events"] = s.events;
    json["steps"] = s.steps;
    if (s.staleness)
        json["staleness"] = {{"mean", s.staleness->mean}, {"largest", s.staleness->largest}, {"updates", s.staleness->updates}};
    json["critical_path"] = path_json(s.critical_path, s.trace);
    Json& memory = json["memory_over_time"] = Json::array();
    for (const MemoryTimeline& m : s.memory) memory.push_back(memory_json(m, s.trace));
    Json& utilization = json["utilization_over_time"] = Json::array();
    for (const UtilizationSeries& u : s.devices) utilization.push_back(utilization_json(u, "device", s.trace));
    for (const UtilizationSeries& u : s.links) utilization.push_back(utilization_json(u, "link", s.trace));
    return json_document(json);
}

}  // namespace sextant
