#include "model/io/scenario/plan_writer.hpp"

#include "model/base/list_text.hpp"
#include "model/io/scenario/plan_words.hpp"

#include <nlohmann/json.hpp>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

Json recompute_json(const Plan& p) {
    if (p.recompute == Recompute::blocks) return {{"blocks", p.recompute_blocks}};
    return word_of(p.recompute, recompute_words);
}

Json placement_json(const Plan& p) {
    Json list = Json::array();
    for (const PlanDimension d : p.placement) list.push_back(word_of(d, dimension_words));
    return list;
}

// "tp dp pp": the dimensions that have more than one rank, fastest first.
std::string placement_text(const Plan& p) {
    std::string text;
    const auto name = [&](std::string_view dimension, int degree) {
        if (degree > 1) append_to_list(text, dimension, " ");
    };
    for (const PlanDimension d : p.placement) {
        if (d == PlanDimension::tensor) name("tp", p.tp);
        if (d == PlanDimension::context) name("cp", p.cp);
        if (d == PlanDimension::data) name("dp", p.dp);
        if (d == PlanDimension::pipeline) name("pp", p.pp);
    }
    return text.empty() ? "-" : text;
}

}  // namespace

Json plan_field_json(PlanField field, const Plan& p) {
    switch (field) {
        case PlanField::dp: return p.dp;
        case PlanField::tp: return p.tp;
        case PlanField::pp: return p.pp;
        case PlanField::cp: return p.cp;
        case PlanField::ep: return p.ep;
        case PlanField::expert_tp: return p.expert_tp > 0 ? Json(p.expert_tp) : Json();
        case PlanField::placement: return placement_json(p);
        case PlanField::data_parallel: return word_of(p.data_parallel, data_parallel_words);
        case PlanField::shard_group: return p.shard_group ? Json(*p.shard_group) : Json();
        case PlanField::offload: return word_of(p.offload, offload_words);
        case PlanField::micro_batch: return p.micro_batch;
        case PlanField::sequence_parallel: return p.sequence_parallel;
        case PlanField::schedule: return word_of(p.schedule, schedule_words);
        case PlanField::vpp: return p.vpp;
        case PlanField::stage_blocks: return p.stage_blocks.empty() ? Json() : Json(p.stage_blocks);
        case PlanField::recompute: return recompute_json(p);
    }
    return {};
}

std::string plan_field_text(PlanField field, const Plan& p) {
    if (field == PlanField::placement) return placement_text(p);
    if (p.recompute == Recompute::blocks && field == PlanField::recompute)
        return std::to_string(p.recompute_blocks) + (p.recompute_blocks == 1 ? " block" : " blocks");
    const Json value = plan_field_json(field, p);
    if (value.is_null()) return field == PlanField::shard_group ? "all ranks" : field == PlanField::stage_blocks ? "even" : "as tp";
    if (value.is_string()) return value.get<std::string>();
    if (value.is_boolean()) return value.get<bool>() ? "on" : "off";
    if (!value.is_array()) return value.dump();
    return joined(value, [](const Json& v) { return v.is_string() ? v.get<std::string>() : v.dump(); });
}

Json plan_json(const Plan& p) {
    Json json;
    for (const PlanField field : all_plan_fields) json[std::string(to_text(field))] = plan_field_json(field, p);
    json["global_batch"] = p.global_batch;
    json["grad_accum"] = nullptr;  // follows
    // Settings of what it does not do.
    if (!p.has_servers()) json["parameter_servers"] = json["servers_on_workers"] = nullptr;
    if (p.recompute != Recompute::selective) json["recompute_modules"] = nullptr;
    return json;
}

}  // namespace sextant
