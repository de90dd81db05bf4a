// Rows of a table [rows, width], looked up by the ids of tokens. An id whose row another rank holds gives zeros.
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

// Sorts tokens by their ids, those of one id in the order of the tokens. Counts for each token how many are less, which takes the square of
// the number of tokens but no memory and no synchronization.
struct OrderById {
    const std::int64_t* ids;
    std::int64_t *order, *count;  // by place: the token; how many have its id, where it is the first of them, else 0
    std::int64_t tokens;

    template <class Lanes>
    SEXTANT_KERNEL void operator()(const Lanes& lanes, std::int64_t token) const {
        const std::int64_t id = ids[token];
        std::int32_t lesser = 0, earlier = 0, same = 0;
        for (std::int64_t other = lanes.first(); other < tokens; other += lanes.step()) {
            lesser += ids[other] < id ? 1 : 0;
            same += ids[other] == id ? 1 : 0;
            earlier += ids[other] == id && other < token ? 1 : 0;
        }
        const std::int64_t at = lanes.sum(std::int64_t{lesser + earlier}), of_id = lanes.sum(std::int64_t{same});
        const bool is_first = lanes.sum(earlier) == 0;
        if (lanes.first() > 0) return;
        order[at] = token;
        count[at] = is_first ? of_id : 0;
    }
};

// The gradients of all tokens of an id are added one after the other: the sum does not depend on who comes when.
template <class T>
struct LookUpGradient {
    const std::int64_t *ids, *order, *count;
    const T* dy;
    float* table;
    std::int64_t width, first, rows;

    SEXTANT_KERNEL void operator()(std::int64_t at, std::int64_t i) const {
        const std::int64_t same = count[at];
        if (same == 0) return;
        const std::int64_t row = ids[order[at]] - first;
        if (row < 0 || row >= rows) return;
        float sum = 0;
#ifdef __CUDA_ARCH__
#pragma unroll 8
#endif
        for (std::int64_t k = 0; k < same; ++k) sum += dy[order[at + k] * width + i];
        table[row * width + i] += sum;
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
    const std::int64_t* ids = c.inputs[0].indices();
    const Array order = m.scratch(tokens, Element::index), count = m.scratch(tokens, Element::index);
    m.rows(tokens, 1, OrderById{ids, order.indices(), count.indices(), tokens});
    m.matrix(tokens, e.width,
             LookUpGradient<T>{ids, order.indices(), count.indices(), c.output_gradients[0].as<T>(), c.weight_gradients[0].reals(), e.width,
                               c.first_row, c.valid_rows});
}

}  // namespace sextant::kernels
