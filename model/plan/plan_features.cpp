#include "model/plan/plan_features.hpp"

#include "model/plan/partition.hpp"

namespace sextant {

std::string_view to_text(PlanFeature f) {
    static constexpr std::string_view names[] = {"way from node to node",
                                                 "tensor parallelism",
                                                 "sequence parallelism",
                                                 "context parallelism",
                                                 "expert parallelism",
                                                 "pipelines",
                                                 "gpipe",
                                                 "interleaving",
                                                 "zero-bubble schedules",
                                                 "DualPipe",
                                                 "ZeRO-1",
                                                 "ZeRO-2",
                                                 "ZeRO-3",
                                                 "groups of shards",
                                                 "ZeRO-2 and 3 beside a pipeline",
                                                 "selective recompute",
                                                 "offload",
                                                 "offload of the optimizer alone",
                                                 "offload of parameters",
                                                 "offload of what is not sharded"};
    return names[static_cast<std::size_t>(f)];
}

std::vector<PlanFeature> needed_features(const Plan& p, const Cluster& cluster) {
    using enum PlanFeature;
    std::vector<PlanFeature> needed;
    const auto need = [&](bool is_needed, PlanFeature feature) {
        if (is_needed) needed.push_back(feature);
    };
    need(used_nodes(p, cluster) > 1 || (p.has_servers() && !p.servers_on_workers), several_nodes);
    need(p.tp > 1, tensor);
    need(p.pp > 1, pipeline);
    need(p.cp > 1, context);
    need(p.ep > 1, experts);
    need(p.data_parallel == DataParallel::zero1, zero1);
    need(p.data_parallel == DataParallel::zero2, zero2);
    need(p.data_parallel == DataParallel::zero3, zero3);
    need(p.pp > 1 && p.shards_gradients(), sharded_pipeline);
    need(p.shard_group.has_value(), shard_groups);
    need(p.offload != Offload::none, offload);
    need(p.offload == Offload::optimizer, optimizer_offload);
    need(p.offloads_parameters(), parameter_offload);
    need(p.offload != Offload::none && !p.has_shards() && p.dp * p.cp > 1, unsharded_offload);
    need(p.sequence_parallel, sequence);
    need(p.pp > 1 && p.schedule == Schedule::gpipe, gpipe);
    need(p.schedule == Schedule::interleaved, interleaved);
    need(weights_apart(p.schedule) != WeightsApart::in_none, zero_bubble);
    need(p.schedule == Schedule::dual_pipe_v, dual_pipe);
    need(p.recompute == Recompute::selective, selective_recompute);
    return needed;
}

std::vector<PlanFeature> missing_features(const Plan& plan, const Framework& framework, const Cluster& cluster) {
    std::vector<PlanFeature> missing = needed_features(plan, cluster);
    std::erase_if(missing, [&](PlanFeature f) { return framework.can(f); });
    return missing;
}

}  // namespace sextant
