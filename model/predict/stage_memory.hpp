// The memory of each stage, by what it is for and when it is there. Internal to predict.
#pragma once

#include "model/predict/state.hpp"

#include <vector>

namespace sextant {

// Of the micro-batches that a stage has in flight, whoever shares weights and states: activations and logits on the device, what is
// offloaded to host memory; and the weights that are gathered at a time, where blocks give them back.
struct InFlightBytes {
    Bytes activations, logits, offloaded, weights_at_work;
};
InFlightBytes in_flight_bytes(const Prepared::State&, std::size_t stage);
// Memory of each stage; of one what is there from beginning to end, and its peak with what is in flight; and what a device has.
std::vector<StageMemory> stage_memory(const Prepared::State&);
Bytes held_bytes(const Prepared::State&, std::size_t stage);
Bytes peak_bytes(const Prepared::State&, std::size_t stage, Bytes held, const InFlightBytes&);
Bytes device_memory(const Prepared::State&);
HostMemory host_memory(const Prepared::State&);
// Gradients that are scattered once a step add up whole until then: none of a micro-batch that is alone; those of two chunks at a time,
// where a stage's chunks do all their micro-batches one chunk after the other; all of them.
enum class GradientAccumulation { none, of_two_chunks, all };
GradientAccumulation gradient_accumulation(const Plan&, std::int64_t micro_batches);
// What one rank of the stage puts there for the whole step: weights, gradients and the optimizer's states.
Bytes host_states(const Prepared::State&, std::size_t stage);

// Of one block and one micro-batch: activations that wait for backward on the device, logits apart, and those that do in host memory, where
// this share of such blocks runs forward again; logits; and what the block needs while it runs, again or for inference.
Bytes waiting_activations(const BlockKernels&, const Prepared::State&, double recomputed);
Bytes offloaded_activations(const BlockKernels&, const Prepared::State&, double recomputed);
Bytes offloaded_activations(const Prepared::State&, std::size_t stage);  // of a micro-batch in all blocks of the stage
Bytes waiting_logits(const BlockKernels&, const Plan&);
Bytes working_memory(const BlockKernels&, const Prepared::State&, bool recomputed);

}  // namespace sextant
