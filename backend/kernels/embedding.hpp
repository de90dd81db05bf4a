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

// Of each token the next one of its id, or -1; and whether it is the first one.
struct SameIds {
    const std::int64_t* ids;
    std::int64_t* next;
    std::uint8_t* first;
    std::int64_t tokens;

    template <class Lanes>
    SEXTANT_KERNEL void operator()(const Lanes& lanes, std::int64_t token) const {
        const std::int64_t earliest = find(lanes, ids[token], 0), found = find(lanes, ids[token], token + 1);
        if (lanes.first() > 0) return;
        first[token] = earliest == token ? 1 : 0;
        next[token] = found < tokens ? found : -1;
    }

private:
    // From `begin` on; `tokens` when there is none.
    template <class Lanes>
    SEXTANT_KERNEL std::int64_t find(const Lanes& lanes, std::int64_t id, std::int64_t begin) const {
        std::int64_t at = begin + lanes.first();
        while (at < tokens && ids[at] != id) at += lanes.step();
        return -lanes.max(at < tokens ? -at : -tokens);
    }
};

// The first token of each id adds the gradients of all tokens of that id, one after the other: the sum does not depend on who comes when.
template <class T>
struct LookUpGradient {
    const std::int64_t *ids, *next;
    const std::uint8_t* is_first;  // of its id
    const T* dy;
    float* table;
    std::int64_t width, first, rows;

    SEXTANT_KERNEL void operator()(std::int64_t token, std::int64_t i) const {
        const std::int64_t row = ids[token] - first;
        if (row < 0 || row >= rows || is_first[token] == 0) return;
        float sum = 0;
        for (std::int64_t same = token; same >= 0; same = next[same]) sum += dy[same * width + i];
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
    const Array next = m.scratch(tokens, Element::index), first = m.scratch(tokens, Element::mask);
    m.rows(tokens, 1, SameIds{ids, next.indices(), first.mask(), tokens});
    m.matrix(tokens, e.width,
             LookUpGradient<T>{ids, next.indices(), first.mask(), c.output_gradients[0].as<T>(), c.weight_gradients[0].reals(), e.width,
                               c.first_row, c.valid_rows});
}

}  // namespace sextant::kernels
