// The memory of each stage, by what it is for and when it is there. Internal to predict.
#pragma once

#include "model/predict/memory_in_flight.hpp"

#include <vector>

namespace sextant {

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

}  // namespace sextant
