// Copies that move elements: images into windows and back, rolled, transposed. None is read twice, and all are.
#pragma once

#include "backend/exec/device.hpp"
#include "backend/kernels/lanes.hpp"

namespace sextant::kernels {

// Where each element of the output comes from.
struct SourceOf {
    static constexpr int most_axes = 6;
    std::int64_t extents[most_axes], strides[most_axes], starts[most_axes];
    int axes;

    explicit SourceOf(const Pointwise& copy) : axes(static_cast<int>(copy.order.size())) {
        for (int a = 0; a < axes; ++a) {
            const CopyAxis& axis = copy.order[static_cast<std::size_t>(a)];
            extents[a] = axis.extent;
            strides[a] = axis.stride;
            starts[a] = axis.start;
        }
    }
    [[nodiscard]] std::int64_t elements() const {
        std::int64_t product = 1;
        for (int a = 0; a < axes; ++a) product *= extents[a];
        return product;
    }
    [[nodiscard]] SEXTANT_KERNEL std::int64_t operator()(std::int64_t element) const {
        std::int64_t from = 0;
        for (int a = axes - 1; a >= 0; --a) {
            const std::int64_t index = element % extents[a] + starts[a];
            from += (index < extents[a] ? index : index - extents[a]) * strides[a];
            element /= extents[a];
        }
        return from;
    }
};

template <class T>
struct Gather : ToElement<T> {
    const T* x;
    SourceOf source;
    std::int64_t first;  // of the output's elements, those of all outputs counted
    SEXTANT_KERNEL float operator()(std::int64_t i) const { return x[source(first + i)]; }
};

template <class T>
struct Scatter {
    const T* dy;
    T* dx;
    SourceOf source;
    std::int64_t first;
    SEXTANT_KERNEL void operator()(std::int64_t i) const { dx[source(first + i)] = dy[i]; }
};

template <class T, class Machine>
void rearrange(Machine& m, const Pointwise& p, const OperatorCall& c) {
    std::int64_t first = 0;
    for (const Array& y : c.outputs) {
        m.elements(y.elements, Gather<T>{{y.as<T>()}, c.inputs[0].as<T>(), SourceOf(p), first});
        first += y.elements;
    }
}

template <class T, class Machine>
void rearrange_back(Machine& m, const Pointwise& p, const OperatorCall& c) {
    std::int64_t first = 0;
    for (const Array& dy : c.output_gradients) {
        m.elements(dy.elements, Scatter<T>{dy.as<T>(), c.input_gradients[0].as<T>(), SourceOf(p), first});
        first += dy.elements;
    }
}

}  // namespace sextant::kernels
