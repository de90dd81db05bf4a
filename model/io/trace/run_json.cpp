#include "model/io/format/json_text.hpp"
#include "model/io/trace/run_writer.hpp"
#include "model/io/trace/span_columns.hpp"

#include <nlohmann/json.hpp>

#include <concepts>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

Json ranks_json(const RunRecord& run) {
    Json list = Json::array();
    for (const RankEnvironment& r : run.ranks) {
        list.push_back({{"rank", r.rank},
                        {"host", r.host},
                        {"processor", r.processor},
                        {"threads", r.threads},
                        {"peak_memory_bytes", r.peak_memory.si()},
                        {"peak_resident_bytes", r.peak_resident.si()}});
        if (r.offloaded > Bytes{}) list.back()["offloaded_bytes"] = r.offloaded.si();
        if (r.clock) list.back()["clock_hz"] = r.clock->si();
    }
    return list;
}

template <int... Exponents>
double cell(Quantity<Exponents...> value) {
    return value.si();
}
std::string_view cell(Stream value) { return to_text(value); }
std::string_view cell(SpanKind value) { return to_text(value); }
template <std::unsigned_integral T>
T cell(T value) {
    return value;
}

// Spans as columns: a row each would repeat every key a hundred thousand times.
Json spans_json(const Trace& trace) {
    Json columns;
    for_each_span_column([&](std::string_view name, auto field, std::string_view unit) {
        Json& list = columns[json_key(name, unit)] = Json::array();
        for (const Span& s : trace.spans) list.push_back(cell(s.*field));
    });
    return columns;
}

Json trace_json(const Trace& trace) {
    Json ranks = Json::array();
    for (const TraceRank& r : trace.ranks)
        ranks.push_back({{"rank", r.rank}, {"stage", r.stage}, {"multiplicity", r.multiplicity}, {"server", r.server}, {"host", r.host}});
    return {{"end_s", trace.end.si()}, {"ranks", std::move(ranks)}, {"names", trace.names}, {"spans", spans_json(trace)}};
}

Json parameters_json(const RunRecord& run) {
    Json list = Json::array();
    for (const ParameterSummary& p : run.parameters)
        list.push_back({{"block", p.block}, {"name", p.name}, {"elements", p.elements}, {"norm", p.norm}, {"product", p.product}});
    return list;
}

Json operators_json(const RunRecord& run) {
    Json list = Json::array();
    for (const OperatorTime& o : run.operators) {
        Json& json = list.emplace_back(Json{{"block_template", o.block_template}});
        if (o.operator_index) json["operator_index"] = *o.operator_index;
        json["block"] = o.block;
        json["name"] = o.name;
        json["kind"] = to_text(o.kind);
        json["calls"] = o.calls;
        json["time_s"] = o.time.si();
    }
    return list;
}

Json servers_json(const ServerSummary& s) {
    return {{"updates_pushed", s.updates_pushed},
            {"updates_applied", s.updates_applied},
            {"checksum_pushed", s.checksum_pushed},
            {"checksum_applied", s.checksum_applied},
            {"staleness", s.staleness}};
}

Json dataset_json(const DatasetSummary& d) {
    Json json{{"path", d.path},           {"format", d.format},   {"samples", d.samples},        {"workers", d.workers},
              {"loaded", d.loaded},       {"skipped", d.skipped}, {"reading_s", d.reading.si()}, {"decoding_s", d.decoding.si()},
              {"read_bytes", d.read.si()}};
    if (d.staging() > Seconds{}) json["staging"] = {{"copy_s", d.copy.si()}, {"unpack_s", d.unpack.si()}, {"remove_s", d.remove.si()}};
    return json;
}

}  // namespace

std::string run_to_json(const RunRecord& run) {
    Json steps = Json::array(), libraries = Json::object();
    for (const Seconds t : run.steps) steps.push_back(t.si());
    for (const LibraryVersion& l : run.libraries) libraries[l.name] = l.version;
    Json json{{"schema", run_schema},       {"scenario", run.scenario}, {"scenario_file", run.scenario_file},
              {"overrides", run.overrides}, {"backend", run.backend},   {"seed", run.seed}};
    if (!run.settings.empty()) json["settings"] = run.settings;
    json["environment"] = {{"libraries", std::move(libraries)}, {"ranks", ranks_json(run)}};
    json["losses"] = run.losses;
    if (!run.mtp_losses.empty()) json["mtp_losses"] = run.mtp_losses;
    json["step_times_s"] = std::move(steps);
    json["traced_step"] = run.traced_step;
    if (run.steps_in_trace > 1) json["steps_in_trace"] = run.steps_in_trace;
    json["step_time_s"] = run.step().si();
    if (!run.expert_imbalance.empty()) json["expert_imbalance"] = run.expert_imbalance;
    if (!run.expert_rank_imbalance.empty()) json["expert_rank_imbalance"] = run.expert_rank_imbalance;
    if (!run.parameters.empty()) json["parameters"] = parameters_json(run);
    if (!run.operators.empty()) json["operators"] = operators_json(run);
    if (run.servers) json["servers"] = servers_json(*run.servers);
    if (run.loss_scale) json["loss_scale"] = {{"last", run.loss_scale->last}, {"skipped_steps", run.loss_scale->skipped}};
    if (run.dataset) json["dataset"] = dataset_json(*run.dataset);
    json["trace"] = trace_json(run.trace);
    return json_document(json, 1);
}

}  // namespace sextant
