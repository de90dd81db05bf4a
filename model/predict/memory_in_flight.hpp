// The memory of the micro-batches that a stage has in flight, whoever shares weights and states. Internal to predict.
#pragma once

#include "model/predict/gathered_weights.hpp"
#include "model/schedule/fullest_moments.hpp"

namespace sextant {

struct InFlightBytes {
    Bytes activations, logits;  // on the device
    Bytes waiting;              // of the activations, those that wait for backward; the others are of the block at work
    Bytes halfway;              // of those, what came back or was made again, and waits for the gradients of the weights
    Bytes offloaded;            // to host memory
    WeightsInUse weights_in_use;
};
InFlightBytes in_flight_bytes(const Prepared::State&, std::size_t stage);
// For who asks often.
InFlightBytes in_flight_bytes(const Prepared::State&, std::size_t stage, KnownMoments&);
// What one micro-batch has of all blocks of the stage: on the device, and in host memory.
Bytes waiting_activations(const Prepared::State&, std::size_t stage);
Bytes offloaded_activations(const Prepared::State&, std::size_t stage);

}  // namespace sextant
