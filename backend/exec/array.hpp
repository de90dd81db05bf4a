// Memory of a device. It has a length but no shape: the operator graph knows the shape. Tensors are stored row by row, except images
// [batch, channels, height, width], which are stored channels last, so that each is a matrix of pixels by channels.
#pragma once

#include "backend/exec/sixteen_bits.hpp"
#include "model/base/data_type.hpp"
#include "model/workload/operator.hpp"

#include <cstdint>
#include <memory>

namespace sextant {

enum class Element : std::uint8_t { real, bf16, fp16, mask, index };  // fp32, 16 bits, one byte, eight bytes

constexpr bool is_half(Element e) { return e == Element::bf16 || e == Element::fp16; }
constexpr std::int64_t bytes_of(Element e) { return e == Element::real ? 4 : is_half(e) ? 2 : e == Element::mask ? 1 : 8; }

constexpr Element element_of(DataType type) {
    return type == DataType::bf16 ? Element::bf16 : type == DataType::fp16 ? Element::fp16 : Element::real;
}
// The type of a tensor with this role. `activations`: the type in which activations are kept; statistics are always fp32.
constexpr Element element_of(TensorRole role, Element activations) {
    switch (role) {
        case TensorRole::mask: return Element::mask;
        case TensorRole::index: return Element::index;
        case TensorRole::statistic: return Element::real;
        default: return activations;
    }
}

// Calls work.operator()<T>(), where T is the type of such elements: float, Bf16 or Fp16.
template <class Work>
decltype(auto) with_type(Element e, const Work& work) {
    if (e == Element::bf16) return work.template operator()<Bf16>();
    if (e == Element::fp16) return work.template operator()<Fp16>();
    return work.template operator()<float>();
}

// Copies share the memory. A default-constructed array has none.
struct Array {
    std::shared_ptr<void> memory;
    std::int64_t elements = 0;
    Element element = Element::real;

    explicit operator bool() const { return memory != nullptr; }
    [[nodiscard]] std::int64_t bytes() const { return elements * bytes_of(element); }
    template <class Value>
    [[nodiscard]] Value* as() const {
        return static_cast<Value*>(memory.get());
    }
    [[nodiscard]] float* reals() const { return as<float>(); }
    [[nodiscard]] std::uint8_t* mask() const { return as<std::uint8_t>(); }
    [[nodiscard]] std::int64_t* indices() const { return as<std::int64_t>(); }

    // A view of elements first .. first + count - 1.
    [[nodiscard]] Array part(std::int64_t first, std::int64_t count) const {
        auto* begin = static_cast<std::byte*>(memory.get()) + first * bytes_of(element);
        return {std::shared_ptr<void>(memory, begin), count, element};
    }
};

}  // namespace sextant
