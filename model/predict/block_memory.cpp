#include "model/predict/block_memory.hpp"

#include <algorithm>

namespace sextant {
namespace {

// What a block keeps of its activations until backward, on the device or in host memory. Under selective recomputation its kernels say
// what it keeps. (The caller chooses `recomputed`: blocks are priced both ways, whatever the plan says.)
Bytes kept_activations(const BlockKernels& k, const Plan& plan, bool recomputed) {
    if (plan.forward_only) return {};
    return recomputed && plan.recompute != Recompute::selective ? k.kept_input : k.saved;
}

// What full recompute makes again.
Bytes made_again(const BlockKernels& k, const Plan& plan, bool recomputed) {
    return recomputed && plan.recompute != Recompute::selective ? k.made_again : Bytes{};
}

}  // namespace

Bytes offloaded_activations(const BlockKernels& k, const Prepared::State& job, bool recomputed) {
    const Plan& plan = job.scenario.plan;
    const Bytes kept = kept_activations(k, plan, recomputed);
    switch (plan.offload_activations) {
        case OffloadActivations::none: break;
        case OffloadActivations::residuals: return min(2.0 * k.kept_input, kept);
        case OffloadActivations::layers: {
            int layers = 0;
            for (const StageBlocks& stage : job.stages) layers += stage.layers;
            return std::min(1.0, static_cast<double>(plan.offloaded_layers) * plan.pp / std::max(1, layers)) * kept;
        }
        case OffloadActivations::all: return kept;
    }
    return {};
}

Bytes waiting_activations(const BlockKernels& k, const Prepared::State& job, bool recomputed) {
    return kept_activations(k, job.scenario.plan, recomputed) - offloaded_activations(k, job, recomputed);
}

Bytes regained_activations(const BlockKernels& k, const Prepared::State& job, bool recomputed) {
    return made_again(k, job.scenario.plan, recomputed) + offloaded_activations(k, job, recomputed);
}

Bytes waiting_logits(const BlockKernels& k, const Plan& plan) {
    return plan.schedule == Schedule::gpipe ? k.saved_logits : k.saved_logits / plan.head_chunks;
}

Bytes alive_beside_logits(const BlockKernels& k, const Plan& plan) { return max(Bytes{}, k.alive - waiting_logits(k, plan)); }

Bytes working_memory(const BlockKernels& k, const Prepared::State& job, bool recomputed) {
    const Plan& plan = job.scenario.plan;
    Bytes working = plan.recompute == Recompute::selective ? k.dropped : made_again(k, plan, recomputed);
    // While one block works on what it keeps, what the next one keeps is on its way to or from host memory.
    working += 2.0 * offloaded_activations(k, job, recomputed);
    if (plan.forward_only) return max(working, alive_beside_logits(k, plan));
    return max(working, recomputed && plan.recompute != Recompute::selective ? k.in_backward_again : k.in_backward);
}

void PassMemory::add(const BlockKernels& k, bool recomputed, int count) {
    if (count == 0) return;
    const Bytes change = inputs_alone_ ? regained_activations(k, job_, recomputed)
                                       : -(waiting_activations(k, job_, recomputed) + waiting_logits(k, job_.scenario.plan));
    most_ = max(most_, now_ + working_memory(k, job_, recomputed) + max(Bytes{}, (count - 1) * change));
    now_ += count * change;
}

}  // namespace sextant
