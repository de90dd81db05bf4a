// How long gradients that ranks share out stand unscattered.
#pragma once

#include "model/plan/framework_defaults.hpp"

namespace sextant {

// Gradients that are scattered once a step add up unsharded until then. `none`: there is one micro-batch. `of_two_chunks`: a stage takes
// all micro-batches through one chunk before the next, so those of two chunks are there at a time. `all`: all of them.
enum class GradientAccumulation { none, of_two_chunks, all };
inline GradientAccumulation gradient_accumulation(const Plan& p, std::int64_t micro_batches) {
    if (micro_batches == 1) return GradientAccumulation::none;
    return micro_batches <= p.pp && p.vpp > 2 ? GradientAccumulation::of_two_chunks : GradientAccumulation::all;
}

// Whether a rank may give up what it does not own of a bucket's gradients as soon as they are reduced: else all of them stay until the
// update.
inline bool gives_up_reduced_gradients(const Plan& p, const Framework& f, std::int64_t micro_batches) {
    const bool at_once = p.shards_gradients() && gradient_accumulation(p, micro_batches) != GradientAccumulation::all;
    return p.has_shards() && (at_once || reduces_every_micro_batch(p, f));
}

}  // namespace sextant
