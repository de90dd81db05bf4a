// Typed indices: a rank cannot be passed where a stage is meant.
#pragma once

#include <compare>
#include <cstdint>

namespace sextant {

template <class Tag>
struct Id {
    std::uint32_t value = 0;
    friend constexpr auto operator<=>(Id, Id) = default;
};

using RankId = Id<struct RankTag>;      // a process of the job, one per device
using StageId = Id<struct StageTag>;    // a pipeline stage (not a virtual chunk)
using TensorId = Id<struct TensorTag>;  // a tensor of one operator graph

}  // namespace sextant
