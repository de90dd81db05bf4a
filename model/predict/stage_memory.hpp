// The memory of each stage, by what it is for and when it is there. Internal to predict.
#pragma once

#include "model/predict/memory_in_flight.hpp"

#include <vector>

namespace sextant {

// By stage.
std::vector<StageMemory> stage_memory(const Prepared::State&);
// What one stage holds from beginning to end, and what beside that in the update alone, when nothing is in flight any more.
struct HeldBytes {
    Bytes throughout, in_update;
};
HeldBytes held_bytes(const Prepared::State&, std::size_t stage);
// Its peak, which is in backward or in the update.
Bytes peak_bytes(const Prepared::State&, std::size_t stage, const HeldBytes&, const InFlightBytes&);
// What a device has.
Bytes device_memory(const Prepared::State&);
HostMemory host_memory(const Prepared::State&);
// What one rank of the stage keeps in host memory for the whole step: weights, gradients and optimizer states.
Bytes host_states(const Prepared::State&, std::size_t stage);

}  // namespace sextant
