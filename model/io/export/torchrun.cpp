// torchrun: https://docs.pytorch.org/docs/stable/elastic/run.html. The environment is what `accelerate launch` sets for the programs that
// it starts (src/accelerate/utils/launch.py of huggingface/accelerate); the arguments are fields of TrainingArguments of
// huggingface/transformers (https://huggingface.co/docs/transformers/main_classes/trainer).
#include "model/io/export/plan_export.hpp"
#include "model/io/export/refusals.hpp"

namespace sextant {
namespace {

void check_for_torchrun(const Scenario& s) {
    const Plan& p = s.plan;
    Refusals r(s, "PyTorch's DDP and FSDP");
    r.unless(
        s.framework.starter == RankStarter::torchrun, "/framework", "start no ranks of " + s.framework.title,
        s.framework.starter == RankStarter::horovodrun ? "export horovod" : R"(a framework that torchrun starts, as in "pytorch-ddp")");
    const std::string alone = "divide no layer and no sequence by a flag";
    r.unless(p.tp == 1, "/plan/tp", alone, "tp of 1, or export megatron");
    r.unless(p.pp == 1, "/plan/pp", "have no pipeline by a flag", "pp of 1, or export megatron");
    r.unless(p.cp == 1, "/plan/cp", alone, "cp of 1, or export megatron");
    r.unless(p.ep == 1, "/plan/ep", "keep all experts of a layer together", "ep of 1, or export megatron");
    r.unless(!p.has_servers(), "/plan/data_parallel", "have no parameter servers");
    r.unless(p.data_parallel != DataParallel::zero1, "/plan/data_parallel", "do not shard optimizer states alone by a flag",
             "zero2 or zero3");
    const int in_node = used_devices_per_node(s);
    r.unless(!p.shard_group || (p.shards_parameters() && *p.shard_group == in_node), "/plan/shard_group",
             "shard over all ranks, or (HYBRID_SHARD) parameters over those of a node: " + std::to_string(in_node));
    r.unless(p.offload == Offload::none || p.has_shards(), "/plan/offload", "offload what FSDP shards alone");
    r.unless(p.offload != Offload::optimizer, "/plan/offload", "offload parameters together with the optimizer",
             "optimizer_and_parameters");
    r.unless(p.recompute != Recompute::selective, "/plan/recompute", "recompute whole blocks");
    const DataType type = p.precision.compute;
    r.unless(size_of(type) >= size_of(DataType::fp16), "/plan/precision", "train in 16 and 32 bits");
    r.unless(!p.forward_only && !p.without_optimizer, "/plan", "are exported for training, with an optimizer");
    check_ranks(s, r);
    r.throw_if_any();
}

void shard(const Plan& p, ExportedLaunch& launch) {
    const auto set = [&](const char* name, const char* value) { launch.environment.emplace_back(name, value); };
    set("ACCELERATE_USE_FSDP", "true");
    if (p.shard_group) {
        set("FSDP_VERSION", "1");
        set("FSDP_SHARDING_STRATEGY", "HYBRID_SHARD");
    } else {
        set("FSDP_VERSION", "2");
        set("FSDP_RESHARD_AFTER_FORWARD", p.shards_parameters() ? "true" : "false");
    }
    set("FSDP_AUTO_WRAP_POLICY", "TRANSFORMER_BASED_WRAP");
    set("FSDP_OFFLOAD_PARAMS", p.offload == Offload::none ? "false" : "true");
    set("FSDP_ACTIVATION_CHECKPOINTING", p.recompute == Recompute::full ? "true" : "false");
}

std::string optimizer_name(Optimizer o) {
    switch (o) {
        case Optimizer::sgd:
        case Optimizer::momentum: return "sgd";
        case Optimizer::adam:
        case Optimizer::adamw: return "adamw_torch";
        case Optimizer::adamw_8bit: return "adamw_bnb_8bit";
        case Optimizer::lion: return "lion_32bit";
        case Optimizer::adafactor: return "adafactor";
        case Optimizer::lamb:
        case Optimizer::muon: break;
    }
    return {};
}

}  // namespace

ExportedLaunch torchrun_launch(const Scenario& s) {
    check_for_torchrun(s);
    const Plan& p = s.plan;
    ExportedLaunch launch{used_nodes(s), ranks_per_node(s), cores_of_job(s), {}, "train.py", {}, left_to_the_program(s)};
    const DataType type = p.precision.compute;
    const bool bf16 = type == DataType::bf16, fp16 = type == DataType::fp16;
    launch.environment.emplace_back("ACCELERATE_MIXED_PRECISION", bf16 ? "bf16" : fp16 ? "fp16" : "no");
    if (p.launch_blocking) launch.environment.emplace_back(blocking_launches, "1");
    if (p.has_shards()) shard(p, launch);
    launch.arguments = {{"--per_device_train_batch_size", std::to_string(p.micro_batch)},
                        {"--gradient_accumulation_steps", std::to_string(p.micro_batches())}};
    if (bf16 || fp16) launch.arguments.push_back({bf16 ? "--bf16" : "--fp16"});
    if (multiplies_in_tf32(p)) launch.arguments.push_back({"--tf32", "true"});
    if (p.recompute == Recompute::full && !p.has_shards()) launch.arguments.push_back({"--gradient_checkpointing"});
    if (const std::string name = optimizer_name(p.optimizer); !name.empty())
        launch.arguments.push_back({"--optim", name});
    else
        launch.notes.push_back(std::string(facts_of(p.optimizer).name) + " is none of the Trainer's optimizers: pass one to it");
    if (p.optimizer == Optimizer::momentum)
        launch.notes.emplace_back("the Trainer's sgd has no momentum: pass it torch.optim.SGD(momentum=0.9)");
    if (p.optimizer == Optimizer::adamw_8bit)
        launch.notes.emplace_back("the Trainer keeps the states of embeddings in 32 bits: more memory than predicted");
    if (p.recompute == Recompute::blocks) launch.notes.push_back(some_blocks_again(p, "torch.utils.checkpoint.checkpoint"));
    launch.notes.emplace_back("train.py is yours: one that reads TrainingArguments, or builds an Accelerator");
    return launch;
}

}  // namespace sextant
