#include "model/plan/data_exchanges.hpp"

#include "model/plan/framework_defaults.hpp"

#include <algorithm>

namespace sextant {

std::optional<GradientFusion> gradient_fusion(const Plan& plan, const Framework& framework) {
    const bool reduces_whole = plan.data_parallel == DataParallel::all_reduce;  // who fuses knows nothing else
    if (!reduces_whole || !overlaps_gradients(plan, framework) || !framework.reduction_cycle || !framework.bucket) return {};
    return GradientFusion{framework.reduction_cycle->value, framework.bucket->value};
}

std::array<DataExchange, 3> gradient_exchanges(const Plan& plan, const Framework& framework, const BucketRule& rule,
                                               const Bucket& gradients) {
    const auto over = [&](ParallelGroup group, ExchangeKind kind, double elements) {
        // Weights in shards are exchanged block by block, whatever their size.
        const int calls = plan.shards_parameters() ? 1 : rule.calls(elements, gradients.tensors);
        return DataExchange{kind, group, elements, calls};
    };
    if (!plan.has_shards() || (framework.reduces_whole_gradients && !plan.shards_parameters()))
        return {over(ParallelGroup::data, ExchangeKind::all_reduce, gradients.dense),
                over(ParallelGroup::expert_data, ExchangeKind::all_reduce, gradients.expert), DataExchange{}};
    return {over(ParallelGroup::shard, ExchangeKind::reduce_scatter, gradients.dense),
            over(ParallelGroup::expert_data, ExchangeKind::reduce_scatter, gradients.expert),
            over(ParallelGroup::replicas, ExchangeKind::all_reduce, gradients.dense / plan.shard_ranks())};
}

// A broadcast to all ranks goes around them once and takes as long as a gather of as much.
std::array<DataExchange, 2> weight_gathers(const Plan& plan, const Framework& framework, const Bucket& weights) {
    const double stored = 1 - plan.pruned_fraction;
    const bool by_owner = framework.broadcasts_parameters && !plan.shards_parameters();
    const int calls = by_owner ? std::max(1, std::min(plan.shard_ranks(), weights.tensors)) : 1;
    return {DataExchange{ExchangeKind::all_gather, ParallelGroup::shard, weights.dense * stored, calls},
            DataExchange{ExchangeKind::all_gather, ParallelGroup::expert_data, weights.expert * stored, calls}};
}

bool reduces_by_block(const Plan& plan, const Framework& framework) { return plan.has_servers() || gradient_fusion(plan, framework); }

bool gathers_by_block(const Framework& framework) { return !framework.bucket; }

}  // namespace sextant
