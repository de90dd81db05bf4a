#include "model/predict/block_memory.hpp"

#include <algorithm>

namespace sextant {
namespace {

// What blocks keep of their activations until backward, on the device or in host memory. Under selective recomputation the kernels of a
// block say what it keeps. Otherwise the fraction `recomputed` of the blocks keeps its input alone, and the others keep everything. (The
// caller chooses `recomputed`: blocks are priced both ways, whatever the plan says.)
Bytes kept_activations(const BlockKernels& k, const Plan& plan, double recomputed) {
    if (plan.forward_only) return {};
    return plan.recompute == Recompute::selective ? k.saved : recomputed * k.kept_input + (1 - recomputed) * k.saved;
}

}  // namespace

Bytes offloaded_activations(const BlockKernels& k, const Prepared::State& job, double recomputed) {
    const Plan& plan = job.scenario.plan;
    const Bytes kept = kept_activations(k, plan, recomputed);
    switch (plan.offload_activations) {
        case OffloadActivations::none:
            break;
        case OffloadActivations::residuals:
            return min(2.0 * k.kept_input, kept);
        case OffloadActivations::layers: {
            int layers = 0;
            for (const StageBlocks& stage : job.stages) layers += stage.layers;
            return std::min(1.0, static_cast<double>(plan.offloaded_layers) * plan.pp / std::max(1, layers)) * kept;
        }
        case OffloadActivations::all:
            return kept;
    }
    return {};
}

Bytes waiting_activations(const BlockKernels& k, const Prepared::State& job, double recomputed) {
    return kept_activations(k, job.scenario.plan, recomputed) - offloaded_activations(k, job, recomputed);
}

Bytes recomputed_activations(const BlockKernels& k, const Prepared::State& job, double recomputed) {
    if (job.scenario.plan.recompute == Recompute::selective) return {};
    return recomputed * max(Bytes{}, k.saved - k.kept_input);
}

Bytes waiting_logits(const BlockKernels& k, const Plan& plan) {
    return plan.schedule == Schedule::gpipe ? k.saved_logits : k.saved_logits / plan.head_chunks;
}

Bytes alive_beside_logits(const BlockKernels& k, const Plan& plan) { return max(Bytes{}, k.alive - waiting_logits(k, plan)); }

Bytes working_memory(const BlockKernels& k, const Prepared::State& job, bool recomputed) {
    const Plan& plan = job.scenario.plan;
    Bytes working;
    if (plan.recompute == Recompute::selective)
        working = k.dropped;
    else if (recomputed)
        working = k.working;
    // While one block works on what it keeps, what the next one keeps is on its way to or from host memory.
    working += 2.0 * offloaded_activations(k, job, recomputed ? 1 : 0);
    return max(working, plan.forward_only ? alive_beside_logits(k, plan) : k.logits_gradient / plan.head_chunks);
}

}  // namespace sextant
