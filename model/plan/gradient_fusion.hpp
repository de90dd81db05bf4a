// Gradients that a background thread reduces together: it wakes once a cycle and takes what is ready then, up to so many bytes (Horovod's
// tensor fusion).
#pragma once

#include "model/base/quantity.hpp"

#include <optional>

namespace sextant {

struct Framework;
struct Plan;

struct GradientFusion {
    Seconds cycle;
    Bytes most;
};

// None where nothing is decided while the step runs: exchanges are buckets, or wait for the end of backward.
std::optional<GradientFusion> gradient_fusion(const Plan&, const Framework&);

}  // namespace sextant
