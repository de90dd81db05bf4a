// PyTorch Lightning: https://lightning.ai/docs/pytorch/stable/common/trainer.html; its strategies:
// https://lightning.ai/docs/pytorch/stable/api/lightning.pytorch.strategies.FSDPStrategy.html, .DDPStrategy.html, .DeepSpeedStrategy.html.
#include "model/io/export/plan_export.hpp"
#include "model/io/export/python_call.hpp"
#include "model/io/export/refusals.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

void check_for_lightning(const Scenario& s) {
    const Plan& p = s.plan;
    Refusals r(s, "Lightning");
    r.unless(s.framework.starter == RankStarter::torchrun, "/framework", "trains with PyTorch, not with " + s.framework.title,
             R"(a framework of PyTorch, as in "lightning")");
    r.unless(p.devices() == p.dp, "/plan", "divides the batch and, by FSDP and DeepSpeed, states and weights",
             "tp, pp, cp of 1, or export megatron");
    r.unless(p.ep == 1, "/plan/ep", "keeps all experts of a layer together", "ep of 1, or export megatron");
    r.unless(!p.has_servers(), "/plan/data_parallel", "has no parameter servers");
    const int in_node = used_devices_per_node(s);
    r.unless(!p.shard_group || (p.shards_parameters() && *p.shard_group == in_node), "/plan/shard_group",
             "shards over all ranks, or (HYBRID_SHARD) parameters over those of a node: " + std::to_string(in_node));
    r.unless(p.offload == Offload::none || p.has_shards(), "/plan/offload", "offloads what is sharded alone");
    r.unless(p.recompute != Recompute::selective, "/plan/recompute", "recomputes whole blocks");
    check_wide_types(p, r);
    check_training(p, r);
    check_ranks(s, r);
    r.throw_if_any();
}

// Stages 1 and 2 of ZeRO, and an optimizer alone in host memory, are DeepSpeed's; FSDP shards the rest.
bool is_for_deepspeed(const Plan& p) {
    return p.data_parallel == DataParallel::zero1 || (p.data_parallel == DataParallel::zero2 && !p.shard_group) ||
           p.offload == Offload::optimizer;
}

std::string deepspeed_strategy(const Plan& p) {
    const char* stage = p.data_parallel == DataParallel::zero1 ? "1" : p.data_parallel == DataParallel::zero2 ? "2" : "3";
    std::string text = std::string("strategies.DeepSpeedStrategy(stage=") + stage;
    if (p.offload != Offload::none) text += ", offload_optimizer=True";
    if (p.offloads_parameters()) text += ", offload_parameters=True";
    return text + ")";
}

std::string fsdp_strategy(const Plan& p) {
    std::string text = std::string("strategies.FSDPStrategy(sharding_strategy=\"") + (p.shard_group ? "HYBRID_SHARD" : "FULL_SHARD") + "\"";
    if (p.offload != Offload::none) text += ", cpu_offload=True";
    text += ", auto_wrap_policy={Block}";
    if (p.recompute == Recompute::full) text += ", activation_checkpointing_policy={Block}";
    return text + ")";
}

std::string lightning_strategy(const Scenario& s) {
    const Plan& p = s.plan;
    if (p.dp == 1 && !p.has_shards()) return "\"auto\"";
    if (!p.has_shards()) {
        if (!s.framework.bucket) return "strategies.DDPStrategy()";
        return "strategies.DDPStrategy(bucket_cap_mb=" +
               std::to_string(std::max(1LL, std::llround(s.framework.bucket->value / units::MiB))) + ")";
    }
    return is_for_deepspeed(p) ? deepspeed_strategy(p) : fsdp_strategy(p);
}

std::string lightning_precision(const Plan& p) {
    switch (p.precision.compute) {
        case DataType::fp16: return "\"16-mixed\"";
        case DataType::bf16: return "\"bf16-mixed\"";
        case DataType::fp64: return "\"64-true\"";
        default: return "\"32-true\"";
    }
}

}  // namespace

std::string lightning_program(const Scenario& s) {
    check_for_lightning(s);
    const Plan& p = s.plan;
    std::vector<std::string> notes = left_to_the_program(s);
    const bool names_blocks = p.has_shards() && !is_for_deepspeed(p);
    if (names_blocks) notes.emplace_back("Block is the class of your model's layers: import it");
    if (p.recompute == Recompute::blocks) notes.push_back(some_blocks_again(p, "torch.utils.checkpoint.checkpoint"));
    if (p.recompute == Recompute::full && !names_blocks)
        notes.emplace_back("every block runs forward again: torch.utils.checkpoint.checkpoint around each is the module's");
    if (p.launch_blocking) notes.push_back(std::string(blocking_launches) + "=1 in the environment");
    if (p.dp > 1)
        notes.push_back("under Slurm one task for each device starts it: srun --nodes=" + std::to_string(used_nodes(s)) +
                        " --ntasks-per-node=" + std::to_string(ranks_per_node(s)));
    notes.push_back("module and loader are yours: batches of " + std::to_string(p.micro_batch) + " samples on each device");
    const std::string strategy = lightning_strategy(s);
    std::string text = "import lightning\n";
    if (strategy.starts_with("strategies.")) text += "from lightning.pytorch import strategies\n";
    if (multiplies_in_tf32(p)) text += "import torch\n\ntorch.set_float32_matmul_precision(\"high\")\n";
    const bool on_cores = s.cluster.node.device.kind == DeviceKind::cpu;
    text += "\n" + python_call("trainer = lightning.Trainer", {{"accelerator", on_cores ? "\"cpu\"" : "\"gpu\""},
                                                               {"devices", std::to_string(ranks_per_node(s))},
                                                               {"num_nodes", std::to_string(used_nodes(s))},
                                                               {"strategy", strategy},
                                                               {"precision", lightning_precision(p)},
                                                               {"accumulate_grad_batches", std::to_string(p.micro_batches())}});
    return python_comments(notes) + text + "trainer.fit(module, loader)\n";
}

}  // namespace sextant
