// Gradients that a background thread reduces together: it wakes once a cycle and takes what is ready, up to a
// number of bytes (Horovod's tensor fusion).
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

// None where exchanges are fixed beforehand: buckets, or everything at the end of backward.
std::optional<GradientFusion> gradient_fusion(const Plan&, const Framework&);

}  // namespace sextant
