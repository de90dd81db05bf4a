#include "model/plan/buckets.hpp"

#include "model/plan/partition.hpp"
#include "model/plan/virtual_stages.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {

std::vector<BlockParameters> block_parameters(const Network& network, const Plan& plan) {
    const std::vector<int> per_virtual_stage = blocks_per_virtual_stage(network, plan);
    std::vector<BlockParameters> list, before(static_cast<std::size_t>(plan.pp));
    const VirtualStages virtual_stages(plan);
    for (std::size_t v = 0; v < per_virtual_stage.size(); ++v) {
        BlockParameters& of_stage = before[virtual_stages.stage_of(v)];
        for (int i = 0; i < per_virtual_stage[v]; ++i) {
            const OperatorGraph& graph = network.templates[static_cast<std::size_t>(network.sequence[list.size()])].graph;
            BlockParameters& p = list.emplace_back();
            const auto count = [&](ParameterCount BlockParameters::*of, bool frozen) {
                const ParameterCount all = graph.count_parameters(frozen);
                p.*of = all.in_stage(of_stage.*of);
                of_stage.*of = of_stage.*of + all;
            };
            count(&BlockParameters::trained, false);
            count(&BlockParameters::frozen, true);
            for (const Operator& op : graph.operators())
                if (op.is_trained()) ++p.tensors;
        }
    }
    return list;
}

Bucket gradients_of(int block, const BlockParameters& p) { return {block, 1, p.trained.dense, p.trained.expert, p.tensors}; }

Bucket weights_of(int block, const BlockParameters& p) {
    const ParameterCount all = p.trained + p.frozen;
    return {block, 1, all.dense, all.expert, p.tensors};
}

std::vector<Bucket> BucketRule::buckets(std::span<const BlockParameters> parameters, int first, int count) const {
    std::vector<Bucket> buckets;
    bool open = false;
    for (int block = first + count - 1; block >= first; --block) {
        Bucket& bucket = open ? buckets.back() : buckets.emplace_back();
        const BlockParameters& p = parameters[static_cast<std::size_t>(block)];
        bucket.first_block = block;
        ++bucket.count;
        bucket.dense += p.trained.dense;
        bucket.expert += p.trained.expert;
        bucket.tensors += p.tensors;
        open = !size || (bucket.dense + bucket.expert) * element < *size;
    }
    return buckets;
}

int BucketRule::calls(double elements, int tensors) const {
    if (!size) return 1;
    if (!(*size > Bytes{})) return std::max(1, tensors);
    return std::max(1, static_cast<int>(std::ceil(elements * element / *size)));
}

BucketRule bucket_rule(const Plan& plan, const Framework& framework, const Precision& kept) {
    BucketRule rule{{}, size_of(kept.reduction_type())};
    if (!framework.bucket) return rule;
    rule.size = framework.bucket->value;
    if (framework.bucket_per_rank) rule.size = max(*rule.size, plan.dp * plan.cp * framework.bucket_per_rank->value);
    return rule;
}

std::vector<Bucket> one_block_each(std::span<const BlockParameters> parameters, int first, int count) {
    std::vector<Bucket> buckets;
    for (int block = first + count - 1; block >= first; --block)
        buckets.push_back(gradients_of(block, parameters[static_cast<std::size_t>(block)]));
    return buckets;
}

}  // namespace sextant
