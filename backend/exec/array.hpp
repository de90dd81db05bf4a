// Memory of a device. What shape it has, the graph knows; what lies where in it:
// a tensor of more than two dimensions that stands for an image [batch, channels, height, width] lies channels last, so that it is a matrix
// of pixels by channels; all others lie as their shape says.
#pragma once

#include "model/workload/operator.hpp"

#include <cstdint>
#include <memory>

namespace sextant {

enum class Element : std::uint8_t { real, mask, index };  // fp32, one byte, eight bytes

constexpr Element element_of(TensorRole role) {
    return role == TensorRole::mask ? Element::mask : role == TensorRole::index ? Element::index : Element::real;
}
constexpr std::int64_t bytes_of(Element e) { return e == Element::real ? 4 : e == Element::mask ? 1 : 8; }

// Copies share the memory. None where it was never allocated.
struct Array {
    std::shared_ptr<void> memory;
    std::int64_t elements = 0;
    Element element = Element::real;

    explicit operator bool() const { return memory != nullptr; }
    [[nodiscard]] std::int64_t bytes() const { return elements * bytes_of(element); }
    [[nodiscard]] float* reals() const { return static_cast<float*>(memory.get()); }
    [[nodiscard]] std::uint8_t* mask() const { return static_cast<std::uint8_t*>(memory.get()); }
    [[nodiscard]] std::int64_t* indices() const { return static_cast<std::int64_t*>(memory.get()); }

    // Elements first .. first + count - 1 of it.
    [[nodiscard]] Array part(std::int64_t first, std::int64_t count) const {
        auto* begin = static_cast<std::byte*>(memory.get()) + first * bytes_of(element);
        return {std::shared_ptr<void>(memory, begin), count, element};
    }
};

}  // namespace sextant
