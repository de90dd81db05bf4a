#include "model/io/report/comparison_writer.hpp"

#include "model/io/format/json_text.hpp"

#include <nlohmann/json.hpp>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

Json optional_json(std::optional<double> value) { return value ? Json(*value) : Json(nullptr); }

// `name`: with its unit, "step_time_s".
template <int... Exponents>
void add(Json& json, const std::string& name, const ComparedValue<Quantity<Exponents...>>& b) {
    json[name] = {{"predicted", b.predicted.si()},
                  {"simulated", b.simulated.si()},
                  {"measured", b.measured.si()},
                  {"ratio", optional_json(ratio(b.measured.si(), b.predicted.si()))}};
}

Json terms_json(const ComparedValue<Terms>& terms) {
    Json list = Json::array();
    for (const Term t : all_terms) {
        const ComparedValue<Seconds> of{terms.predicted[t], terms.simulated[t], terms.measured[t]};
        if (of.predicted <= Seconds{} && of.simulated <= Seconds{} && of.measured <= Seconds{}) continue;
        list.push_back({{"name", to_text(t)},
                        {"predicted_s", of.predicted.si()},
                        {"simulated_s", of.simulated.si()},
                        {"measured_s", of.measured.si()},
                        {"ratio", optional_json(ratio(of.measured.si(), of.predicted.si()))}});
    }
    return list;
}

Json times_json(const RankTimes& times) {
    const auto list = [](const Terms& terms) {
        Json json = Json::object();
        for (const Term t : all_terms)
            if (terms[t] > Seconds{}) json[std::string(to_text(t))] = terms[t].si();
        return json;
    };
    return {{"end_s", times.end.si()}, {"terms_s", list(times.terms)}, {"overlapped_s", list(times.overlapped)}};
}

Json rank_json(const RankComparison& r) {
    const auto memory = [](const RankMemoryUse& m) { return Json{{"arrays_bytes", m.arrays.si()}, {"process_bytes", m.process.si()}}; };
    Json json = {{"rank", r.rank},
                 {"stage", r.stage},
                 {"server", r.server},
                 {"host", r.host},
                 {"simulated", times_json(r.simulated)},
                 {"measured", times_json(r.measured)}};
    json["measured"]["memory"] = memory(r.measured_memory);
    if (!r.server) json["predicted_memory"] = memory(r.predicted_memory);
    return json;
}

Json rates_json(const Comparison& c) {
    Json list = Json::array();
    for (const KernelRate& k : c.kernels)
        list.push_back({{"name", to_text(k.kind)},
                        {"simulated_flop_per_s", k.simulated.si()},
                        {"measured_flop_per_s", k.measured.si()},
                        {"ratio", optional_json(ratio(k.measured.si(), k.simulated.si()))}});
    for (const ExchangeRate& e : c.exchanges)
        list.push_back({{"name", to_text(e.kind)},
                        {"bytes", e.bytes.si()},
                        {"simulated_bytes_per_s", e.simulated.si()},
                        {"measured_bytes_per_s", e.measured.si()},
                        {"ratio", optional_json(ratio(e.measured.si(), e.simulated.si()))}});
    return list;
}

Json operators_json(const Comparison& c) {
    Json list = Json::array();
    for (const OperatorComparison& o : c.operators)
        list.push_back({{"block", o.block},
                        {"name", o.name},
                        {"kind", to_text(o.kind)},
                        {"calls", o.calls},
                        {"predicted_s", o.predicted.si()},
                        {"measured_s", o.measured.si()},
                        {"ratio", optional_json(ratio(o.measured.si(), o.predicted.si()))}});
    return list;
}

Json input_comparison_json(const InputComparison& c) {
    const auto beside = [&](Seconds predicted, Seconds measured) {
        return Json{{"predicted_s", c.predicted ? Json(predicted.si()) : Json(nullptr)}, {"measured_s", measured.si()}};
    };
    return {{"reading_of_a_sample", beside(c.predicted_reading, c.reading)},
            {"decoding_of_a_sample", beside(c.predicted_decoding, c.decoding)},
            {"staging", beside(c.predicted_staging, c.staging)},
            {"skipped_samples", c.skipped}};
}

Json input_json(const std::optional<InputUsed>& input) {
    if (!input) return nullptr;
    return {{"name", input->name}, {"value", input->value}, {"kind", to_text(input->kind)}, {"source", input->source}};
}

Json residual_json(const TermResidual& r) {
    return {{"term", to_text(r.term)},  {"seconds", r.seconds.si()},    {"share", r.share},
            {"points_to", r.points_to}, {"input", input_json(r.input)}, {"explained_at_multiple", optional_json(r.explained_at)}};
}

}  // namespace

std::string comparison_to_json(const Comparison& c) {
    Json json;
    json["schema"] = comparison_schema;
    json["scenario"] = c.prediction.scenario;
    add(json, "step_time_s", c.step);
    json["step_time_interval_s"] = {c.prediction.low.si(), c.prediction.high.si()};
    json["steps"] = {{"count", c.steps.count},
                     {"median_s", c.steps.median.si()},
                     {"fastest_s", c.steps.fastest.si()},
                     {"slowest_s", c.steps.slowest.si()},
                     {"first_s", c.steps.first ? Json(c.steps.first->si()) : Json(nullptr)},
                     {"traced_s", c.traced_step.si()}};
    add(json, "samples_per_s", c.samples_per_s);
    if (c.tokens_per_s) add(json, "tokens_per_s", *c.tokens_per_s);
    if (c.first_loss) json["loss"] = {{"first", *c.first_loss}, {"last", optional_json(c.last_loss)}};
    json["stage"] = c.stage;
    json["measured_rank"] = c.measured_rank;
    json["terms"] = terms_json(c.terms);
    json["overlapped"] = terms_json(c.overlapped);
    json["hidden_communication"] = {{"predicted", optional_json(c.hidden.predicted)},
                                    {"simulated", optional_json(c.hidden.simulated)},
                                    {"measured", optional_json(c.hidden.measured)}};
    json["bubble"] = {{"predicted", c.bubble.predicted}, {"simulated", c.bubble.simulated}, {"measured", c.bubble.measured}};
    if (c.input) json["input"] = input_comparison_json(*c.input);
    if (c.staleness) json["staleness"] = {{"simulated", c.staleness->simulated}, {"measured", c.staleness->measured}};
    Json& ranks = json["ranks"] = Json::array();
    for (const RankComparison& r : c.ranks) ranks.push_back(rank_json(r));
    json["rates"] = rates_json(c);
    if (!c.operators.empty()) json["operators"] = operators_json(c);
    json["largest_residual"] = residual_json(c.residual);
    if (const auto& m = c.memory_residual)
        json["memory_residual"] = {
            {"rank", m->rank}, {"bytes", m->bytes.si()}, {"points_to", m->points_to}, {"input", input_json(m->input)}};
    json["notes"] = c.notes;
    return json_document(json);
}

}  // namespace sextant
