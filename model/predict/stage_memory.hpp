// The memory of each stage, by what it is for and when it is there. Internal to predict.
#pragma once

#include "model/plan/gradient_accumulation.hpp"
#include "model/predict/state.hpp"

#include <vector>

namespace sextant {

// Of the block that computes and of those that are prefetched: without experts, of experts alone, and all.
struct WeightsInUse {
    Bytes dense, expert, all;
};
// What the micro-batches that a stage has in flight need, whoever shares weights and states: activations and logits on the device, and what
// is offloaded to host memory; also the weights that are there at a time, where they come for each pass.
struct InFlightBytes {
    Bytes activations, logits, offloaded;
    WeightsInUse weights_in_use;
};
InFlightBytes in_flight_bytes(const Prepared::State&, std::size_t stage);
// Whether weights that are gathered or fetched go after the pass that they came for, else they wait for backward.
inline bool gives_back_weights(const Plan& p, const Framework& f) { return p.forward_only || f.reshards_after_forward; }
// By stage.
std::vector<StageMemory> stage_memory(const Prepared::State&);
// What one stage holds from beginning to end, and its peak together with what is in flight.
Bytes held_bytes(const Prepared::State&, std::size_t stage);
Bytes peak_bytes(const Prepared::State&, std::size_t stage, Bytes held, const InFlightBytes&);
// What a device has.
Bytes device_memory(const Prepared::State&);
HostMemory host_memory(const Prepared::State&);
// What one rank of the stage keeps in host memory for the whole step: weights, gradients and optimizer states.
Bytes host_states(const Prepared::State&, std::size_t stage);

// One micro-batch of one block, of whose kind the fraction `recomputed` runs forward again. Activations that wait for backward on the
// device (logits apart) and in host memory:
Bytes waiting_activations(const BlockKernels&, const Prepared::State&, double recomputed);
Bytes offloaded_activations(const BlockKernels&, const Prepared::State&, double recomputed);
// The same of a micro-batch in all blocks of the stage.
Bytes offloaded_activations(const Prepared::State&, std::size_t stage);
// What more there is of a block between the gradients of its inputs and those of its weights, where these are made apart: what recompute
// had dropped and made again, which both need. Neglected of selective recompute: the attention core has no weights.
Bytes made_again(const BlockKernels&, const Prepared::State&, double recomputed);
// Logits that wait for backward.
Bytes waiting_logits(const BlockKernels&, const Plan&);
// What the block needs while it runs, again or for inference.
Bytes working_memory(const BlockKernels&, const Prepared::State&, bool recomputed);

}  // namespace sextant
