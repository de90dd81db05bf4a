// The memory of the micro-batches that a stage has in flight, whoever shares weights and states. Internal to predict.
#pragma once

#include "model/predict/gathered_weights.hpp"

namespace sextant {

struct InFlightBytes {
    Bytes activations, logits;  // on the device
    Bytes offloaded;            // to host memory
    WeightsInUse weights_in_use;
};
InFlightBytes in_flight_bytes(const Prepared::State&, std::size_t stage);
// What one micro-batch has in host memory of all blocks of the stage.
Bytes offloaded_activations(const Prepared::State&, std::size_t stage);

}  // namespace sextant
