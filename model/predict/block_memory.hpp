// What one block holds for one micro-batch, and needs while it runs. `recomputed`: the fraction of the blocks of its kind that recompute
// their forward. Internal to predict.
#pragma once

#include "model/predict/state.hpp"

namespace sextant {

// Activations that wait for backward on the device (logits apart), and in host memory.
Bytes waiting_activations(const BlockKernels&, const Prepared::State&, double recomputed);
Bytes offloaded_activations(const BlockKernels&, const Prepared::State&, double recomputed);
// Activations that recompute had dropped and has made again, which the gradients of the inputs and those of the weights both need: they
// stay from the one to the other where these are made apart. Neglected of selective recompute: the attention core has no weights.
Bytes recomputed_activations(const BlockKernels&, const Prepared::State&, double recomputed);
// Logits that wait for backward.
Bytes waiting_logits(const BlockKernels&, const Plan&);
// What is alive in a forward in which nothing is kept; logits are counted by themselves.
Bytes alive_beside_logits(const BlockKernels&, const Plan&);
// What the block needs while it is recomputed, or runs for inference.
Bytes working_memory(const BlockKernels&, const Prepared::State&, bool recomputed);

}  // namespace sextant
