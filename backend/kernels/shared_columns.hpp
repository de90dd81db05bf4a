// Heads that are put together of columns of their own and of columns that all heads share, as the keys of latent attention; see
// backend/cpu/rows.cpp. Own columns lie [rows, heads x own], shared ones [rows, shared], heads [rows, heads x head].
#pragma once

#include "backend/exec/device.hpp"
#include "backend/kernels/lanes.hpp"

namespace sextant::kernels {

struct HeadColumns {
    std::int64_t head, own, heads;  // columns of a head, and how many of them are its own; heads

    [[nodiscard]] SEXTANT_KERNEL std::int64_t shared() const { return head - own; }
    [[nodiscard]] SEXTANT_KERNEL std::int64_t width() const { return heads * head; }
};

template <class T>
struct PutHeadsTogether : ToMatrix<T> {
    HeadColumns c;
    const T *x, *shared;
    SEXTANT_KERNEL float operator()(std::int64_t row, std::int64_t i) const {
        const std::int64_t h = i / c.head, at = i % c.head;
        return at < c.own ? x[(row * c.heads + h) * c.own + at] : shared[row * c.shared() + at - c.own];
    }
};

template <class T>
struct TakeOwnColumns : ToMatrix<T> {
    HeadColumns c;
    const T* dy;
    SEXTANT_KERNEL float operator()(std::int64_t row, std::int64_t i) const { return dy[row * c.width() + i / c.own * c.head + i % c.own]; }
};

template <class T>
struct SumSharedColumns : ToMatrix<T> {
    HeadColumns c;
    const T* dy;
    SEXTANT_KERNEL float operator()(std::int64_t row, std::int64_t i) const {
        float sum = 0;
        for (std::int64_t h = 0; h < c.heads; ++h) sum += dy[row * c.width() + h * c.head + c.own + i];
        return sum;
    }
};

inline HeadColumns head_columns(const OperatorCall& c) {
    const std::int64_t head = std::get<Pointwise>(c.op.kind).head_dim;
    return {head, head - c.input(1).shape.back(), c.output(0).shape.back() / head};
}

template <class T, class Machine>
void forward_shared_columns(Machine& m, const OperatorCall& c) {
    const HeadColumns h = head_columns(c);
    m.matrix(c.output(0).shape.front(), h.width(),
             PutHeadsTogether<T>{{c.outputs[0].as<T>(), h.width()}, h, c.inputs[0].as<T>(), c.inputs[1].as<T>()});
}

template <class T, class Machine>
void backward_shared_columns(Machine& m, const OperatorCall& c) {
    const HeadColumns h = head_columns(c);
    const std::int64_t rows = c.output(0).shape.front();
    const T* dy = c.output_gradients[0].as<T>();
    if (const Array& own = c.input_gradients[0]) m.matrix(rows, h.heads * h.own, TakeOwnColumns<T>{{own.as<T>(), h.heads * h.own}, h, dy});
    if (const Array& shared = c.input_gradients[1]) m.matrix(rows, h.shared(), SumSharedColumns<T>{{shared.as<T>(), h.shared()}, h, dy});
}

}  // namespace sextant::kernels
