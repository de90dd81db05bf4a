// A trace as long as somebody may want to look at.
#pragma once

#include "model/graph/trace.hpp"

#include <cstdint>
#include <memory>

namespace sextant {

// Of 32 ranks that compute and communicate without a pause, each span of some microseconds.
std::shared_ptr<const Trace> long_trace(std::int64_t spans);

}  // namespace sextant
