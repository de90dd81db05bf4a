// Typed indices: no plain number, and no index of another kind, can be passed where one is meant.
#pragma once

#include <compare>
#include <cstdint>

namespace sextant {

template <class Tag>
struct Id {
    std::uint32_t value = 0;
    friend constexpr auto operator<=>(Id, Id) = default;
};

using TensorId = Id<struct TensorTag>;  // a tensor of one operator graph

}  // namespace sextant
