#include "model/plan/offload.hpp"

namespace sextant {
namespace {

// One rank owns all, as shards of one.
bool owns_shards(const Plan& plan) { return plan.has_shards() || plan.dp * plan.cp == 1; }

}  // namespace

bool updates_on_host(const Plan& plan) { return plan.offload != Offload::none && plan.updates_weights(); }

bool offloads_gradients(const Plan& plan, const Framework& framework) {
    return updates_on_host(plan) && framework.offloaded_gradients != OffloadedGradients::with_update && owns_shards(plan);
}

// ZeRO-1 reduces once a step, until when the device has all of them.
bool gradients_leave(const Plan& plan, const Framework& framework) {
    const bool whole = plan.data_parallel == DataParallel::zero1 && plan.dp * plan.cp > 1;
    return offloads_gradients(plan, framework) && framework.offloaded_gradients != OffloadedGradients::copied && !whole;
}

bool keeps_sum_on_host(const Plan& plan, const Framework& framework, std::int64_t micro_batches) {
    return framework.offloaded_gradients == OffloadedGradients::added_on_device && offloads_gradients(plan, framework) &&
           (micro_batches > 1 || plan.shards_parameters());
}

GradientCopy gradient_copy(const Plan& plan, const Framework& framework, const Precision& kept, StepEnds at) {
    const Bytes gradient = size_of(kept.gradient_type()), updated = size_of(DataType::fp32);
    switch (framework.offloaded_gradients) {
        case OffloadedGradients::with_update: break;
        case OffloadedGradients::copied: return {gradient, {}};
        case OffloadedGradients::added_on_host:
            return {gradient, at.first ? Bytes{} : 3.0 * gradient};  // both are read, the sum is written
        case OffloadedGradients::added_on_device: {
            // DeepSpeed's copy_grads_in_partition: the sum comes up and goes down, and at the end once more in the type of the update. Its
            // partition_grads (stage 3) fetches what it has just written from the first micro-batch on.
            const bool fetches = !at.first || plan.shards_parameters(), keeps = fetches || !at.last;
            return {(keeps ? gradient : Bytes{}) + (fetches ? gradient : Bytes{}) + (at.last ? updated : Bytes{}), {}};
        }
    }
    return {};
}

double held_parameters(double dense, double expert, const Plan& plan, bool sharded) {
    return sharded ? dense / plan.shard_ranks() + expert / plan.expert_replicas() : dense + expert;
}

}  // namespace sextant
