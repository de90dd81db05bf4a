// Weights that come to a rank for the passes over their block: gathered from other ranks, or fetched from the host. Internal to predict.
#pragma once

#include "model/predict/state.hpp"

namespace sextant {

// The weights of the block that computes and of those that are prefetched: without experts, of experts alone, and all.
struct WeightsInUse {
    Bytes dense, expert, all;
};
WeightsInUse weights_in_use(const Prepared::State&, const StageBlocks&);
// Whether they go after the pass that they came for; else they wait for backward.
inline bool gives_back_weights(const Plan& p, const Framework& f) { return p.forward_only || f.reshards_after_forward; }
// What they take on a rank of the stage.
Bytes gathered_weights(const Prepared::State&, std::size_t stage, const WeightsInUse&);

}  // namespace sextant
