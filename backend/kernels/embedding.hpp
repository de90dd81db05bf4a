// Rows of a table. Ids whose rows another rank holds give zeros.
#pragma once

#include "backend/exec/device.hpp"
#include "backend/kernels/lanes.hpp"

namespace sextant::kernels {

template <class T>
struct LookUp : ToMatrix<T> {
    const std::int64_t* ids;
    const T* table;
    std::int64_t first, rows;  // here
    SEXTANT_KERNEL float operator()(std::int64_t token, std::int64_t i) const {
        const std::int64_t row = ids[token] - first;
        return row >= 0 && row < rows ? table[row * this->width + i] : T{0};
    }
};

// The first token of each id adds the gradients of all tokens of that id, one after the other: the sum does not depend on who comes when.
template <class T>
struct LookUpGradient {
    const std::int64_t* ids;
    const T* dy;
    float* table;
    std::int64_t tokens, width, first, rows;

    template <class Lanes>
    SEXTANT_KERNEL void operator()(const Lanes& lanes, std::int64_t token) const {
        const std::int64_t id = ids[token], row = id - first;
        if (row < 0 || row >= rows || next(lanes, id, 0) < token) return;
        for (std::int64_t same = token; same < tokens; same = next(lanes, id, same + 1))
            for (std::int64_t i = lanes.first(); i < width; i += lanes.step()) table[row * width + i] += dy[same * width + i];
    }

private:
    // From `begin` on; `tokens` when there is none.
    template <class Lanes>
    SEXTANT_KERNEL std::int64_t next(const Lanes& lanes, std::int64_t id, std::int64_t begin) const {
        std::int64_t at = begin + lanes.first();
        while (at < tokens && ids[at] != id) at += lanes.step();
        return -lanes.max(at < tokens ? -at : -tokens);
    }
};

template <class T, class Machine>
void forward(Machine& m, const Embedding& e, const OperatorCall& c) {
    m.matrix(c.inputs[0].elements, e.width,
             LookUp<T>{{c.outputs[0].as<T>(), e.width}, c.inputs[0].indices(), c.weights[0].as<T>(), c.first_row, c.valid_rows});
}

template <class T, class Machine>
void backward(Machine& m, const Embedding& e, const OperatorCall& c) {
    const std::int64_t tokens = c.inputs[0].elements;
    m.rows(tokens, e.width,
           LookUpGradient<T>{c.inputs[0].indices(), c.output_gradients[0].as<T>(), c.weight_gradients[0].reals(), tokens, e.width,
                             c.first_row, c.valid_rows});
}

}  // namespace sextant::kernels
