// Keys of DeepSpeed's configuration: https://www.deepspeed.ai/docs/config-json/; tensor parallelism in training ("tensor_parallel":
// {"autotp_size"}): https://www.deepspeed.ai/tutorials/autotp-training/.
#include "model/io/export/plan_export.hpp"
#include "model/io/export/refusals.hpp"
#include "model/io/format/json_text.hpp"
#include "model/plan/framework_defaults.hpp"

#include <nlohmann/json.hpp>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

// Null for an optimizer that it has not.
Json optimizer_json(Optimizer o) {
    const Json none = Json::object();
    switch (o) {
        case Optimizer::sgd: return {{"type", "SGD"}, {"params", none}};
        case Optimizer::momentum: return {{"type", "SGD"}, {"params", {{"momentum", 0.9}}}};
        case Optimizer::adam: return {{"type", "Adam"}, {"params", none}};
        case Optimizer::adamw: return {{"type", "AdamW"}, {"params", none}};
        case Optimizer::lamb: return {{"type", "Lamb"}, {"params", none}};
        case Optimizer::lion: return {{"type", "Lion"}, {"params", none}};
        case Optimizer::muon: return {{"type", "Muon"}, {"params", none}};
        case Optimizer::adamw_8bit:
        case Optimizer::adafactor: break;
    }
    return {};
}

Refusals refusals_of_deepspeed(const Scenario& s) {
    const Plan& p = s.plan;
    Refusals r(s, "DeepSpeed");
    r.unless(p.cp == 1, "/plan/cp", "has no context parallelism in its configuration", "cp of 1, or export megatron");
    r.unless(p.tp == 1 || p.pp == 1, "/plan/tp", "has no pipeline whose layers it divides itself", "tp or pp of 1, or export megatron");
    r.unless(p.pp == 1 || p.data_parallel == DataParallel::all_reduce || p.data_parallel == DataParallel::zero1, "/plan/pp",
             "combines a pipeline with ZeRO stage 1 at most", "pp of 1, or zero1");
    r.unless(p.pp == 1 || p.schedule == Schedule::one_f_one_b, "/plan/schedule", "runs 1f1b pipelines alone");
    r.unless(p.ep == 1 || !p.shards_parameters(), "/plan/ep", "spreads experts with ZeRO stages up to 2", "ep of 1, or zero2");
    r.unless(!p.has_servers(), "/plan/data_parallel", "has no parameter servers");
    r.unless(p.optimizer != Optimizer::lamb || !p.has_shards(), "/plan/optimizer",
             "shards no LAMB: its norms are of layers, and ZeRO's shards are not", "adam, or all_reduce");
    r.unless(!optimizer_json(p.optimizer).is_null(), "/plan/optimizer",
             "has no " + std::string(facts_of(p.optimizer).name) + " in its configuration", "adamw or lion");
    r.unless(!p.shard_group, "/plan/shard_group", "shards over all data-parallel ranks", "no shard_group");
    r.unless(p.offload == Offload::none || p.has_shards(), "/plan/offload", "offloads what ZeRO shards alone");
    r.unless(size_of(p.precision.compute) >= size_of(DataType::fp16), "/plan/precision", "trains in 16 and 32 bits");
    check_training(p, r);
    return r;
}

int stage_of(DataParallel d) { return d == DataParallel::zero1 ? 1 : d == DataParallel::zero2 ? 2 : d == DataParallel::zero3 ? 3 : 0; }

Json zero_json(const Scenario& s) {
    const Plan& p = s.plan;
    Json zero{{"stage", stage_of(p.data_parallel)}};
    if (!p.has_shards()) return zero;
    zero["overlap_comm"] = overlaps_gradients(p, s.framework);
    zero["contiguous_gradients"] = true;
    // In elements, where the framework states bytes of 16-bit gradients.
    if (s.framework.bucket && s.framework.bucket->value > Bytes{})
        zero["reduce_bucket_size"] = static_cast<std::int64_t>(s.framework.bucket->value / size_of(DataType::fp16));
    const Json host{{"device", "cpu"}, {"pin_memory", true}};
    if (p.offload != Offload::none) zero["offload_optimizer"] = host;
    if (p.offloads_parameters()) zero["offload_param"] = host;
    return zero;
}

}  // namespace

ExportedConfig deepspeed_config(const Scenario& s) {
    refusals_of_deepspeed(s).throw_if_any();
    const Plan& p = s.plan;
    ExportedConfig config{{}, left_to_the_program(s)};
    Json json{{"train_micro_batch_size_per_gpu", p.micro_batch}, {"gradient_accumulation_steps", p.micro_batches()}};
    // DeepSpeed multiplies by all ranks, those of a tensor group among them, and starts with no other product (runtime/config.py).
    if (p.tp == 1) json["train_batch_size"] = p.global_batch;
    json["zero_optimization"] = zero_json(s);
    if (p.tp > 1) json["tensor_parallel"] = {{"autotp_size", p.tp}};
    if (p.precision.compute == DataType::bf16) json["bf16"] = {{"enabled", true}};
    if (p.precision.compute == DataType::fp16) json["fp16"] = {{"enabled", true}};
    json["optimizer"] = optimizer_json(p.optimizer);
    // ZeRO knows Adam, Lion and Muon; of others it wants to hear that they are meant (runtime/engine.py).
    if (p.has_shards() && (p.optimizer == Optimizer::sgd || p.optimizer == Optimizer::momentum))
        json["zero_allow_untested_optimizer"] = true;
    if (p.optimizer == Optimizer::muon)
        config.notes.emplace_back("which parameters are Muon's is the program's: use_muon of each, true for matrices in layers");
    const bool on_host = p.offload_activations != OffloadActivations::none;
    if (p.recompute != Recompute::none || on_host)
        json["activation_checkpointing"] = {{"partition_activations", false}, {"cpu_checkpointing", on_host}};
    if (p.tp > 1)
        config.notes.push_back("DeepSpeed will report a train_batch_size of " + std::to_string(p.tp) +
                               " times the plan's: it counts tensor ranks too");
    if (p.pp > 1) config.notes.push_back("the pipeline is the program's: PipelineModule(layers, num_stages=" + std::to_string(p.pp) + ")");
    if (p.ep > 1) config.notes.push_back("experts are the program's: deepspeed.moe.layer.MoE(ep_size=" + std::to_string(p.ep) + ")");
    if (p.recompute == Recompute::blocks)
        config.notes.push_back(some_blocks_again(p, "deepspeed.checkpointing.checkpoint"));
    else if (p.recompute != Recompute::none)
        config.notes.emplace_back("what runs forward again is the program's: deepspeed.checkpointing.checkpoint around each such part");
    config.json = json_document(json);
    return config;
}

ExportedLaunch deepspeed_launch(const Scenario& s) {
    Refusals r = refusals_of_deepspeed(s);
    check_ranks(s, r);
    r.throw_if_any();
    const ExportedConfig config = deepspeed_config(s);
    ExportedLaunch launch{used_nodes(s), ranks_per_node(s), cores_of_job(s), {}, "train.py", {}, config.notes};
    if (s.plan.launch_blocking) launch.environment.emplace_back(blocking_launches, "1");
    launch.arguments = {{"--deepspeed_config", "ds_config.json"}};
    launch.notes.emplace_back(
        "ds_config.json is what `sextant export deepspeed` writes; train.py is yours: deepspeed.add_config_arguments");
    return launch;
}

}  // namespace sextant
