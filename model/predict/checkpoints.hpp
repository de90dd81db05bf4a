// What the checkpoints of a job cost. docs/model/input.md derives it.
#pragma once

#include "model/predict/estimate.hpp"

#include <optional>

namespace sextant {

struct CheckpointEstimate {
    Bytes bytes;
    Seconds write;     // until the checkpoint is on storage
    Seconds wait;      // how long training stands still for it
    Seconds read;      // after a failure
    double steps = 1;  // from one checkpoint to the next
};

// None where the scenario has no checkpoints.
std::optional<CheckpointEstimate> estimate_checkpoints(const Prepared::State&, const Estimate&);

}  // namespace sextant
