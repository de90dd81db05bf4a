// What one block holds for one micro-batch, and needs while it runs; and how memory rises in a pass over several. `recomputed`: whether
// the block runs forward again. Internal to predict.
#pragma once

#include "model/predict/state.hpp"

namespace sextant {

// Activations that wait for backward on the device (logits apart), and in host memory.
Bytes waiting_activations(const BlockKernels&, const Prepared::State&, bool recomputed);
Bytes offloaded_activations(const BlockKernels&, const Prepared::State&, bool recomputed);
// Activations that recompute had dropped and has made again, or that have come back from host memory. The gradients of the inputs and those
// of the weights both need them: they stay from the one to the other where these are made apart. Neglected of selective recompute: the
// attention core has no weights.
Bytes regained_activations(const BlockKernels&, const Prepared::State&, bool recomputed);
// Logits that wait for backward.
Bytes waiting_logits(const BlockKernels&, const Plan&);
// What is alive in a forward in which nothing is kept; logits are counted by themselves.
Bytes alive_beside_logits(const BlockKernels&, const Plan&);
// What the block needs while it is recomputed, or runs for inference.
Bytes working_memory(const BlockKernels&, const Prepared::State&, bool recomputed);

// The memory of a stage in a pass of backward, from block to block, the last one first: while a block is at work it needs more than what
// waits; behind it what it kept is given back, or where the pass makes the gradients of the inputs alone, what it made again stays. Of a
// forward alone, whose logits are there only with their block, the order does not matter.
class PassMemory {
public:
    PassMemory(const Prepared::State& job, bool inputs_alone) : job_(job), inputs_alone_(inputs_alone) {}
    void add(const BlockKernels&, bool recomputed, int count = 1);
    // The most in the pass, beyond what there was before it and what there is behind it.
    [[nodiscard]] Bytes working() const { return max(Bytes{}, most_ - max(Bytes{}, now_)); }

private:
    const Prepared::State& job_;
    bool inputs_alone_;
    Bytes now_, most_;  // beyond what there was before the pass
};

}  // namespace sextant
