// Mixtures of experts: copies of tokens become rows in the order of their experts and sums of rows again, products have a weight for each
// expert; see backend/cpu/experts.cpp. The host knows how many rows an expert has, and calls for a product for each.
#pragma once

#include "backend/kernels/pointwise.hpp"
#include "backend/kernels/product.hpp"
#include "model/base/failure.hpp"

#include <array>

namespace sextant::kernels {

// tokens: [tokens, width]. The copies of a token lie together: copy c is one of token c / copies. `rows`: the row of `to` that a copy
// becomes, or no_row where it is dropped.
template <class T>
struct CopyTokens {
    const std::int64_t* rows;
    const T* tokens;
    T* to;
    std::int64_t copies, width;
    SEXTANT_KERNEL float operator()(std::int64_t copy, std::int64_t i) const { return tokens[copy / copies * width + i]; }
    SEXTANT_KERNEL void put(std::int64_t copy, std::int64_t i, float value) const {
        if (rows[copy] != no_row) to[rows[copy] * width + i] = value;
    }
};

// Of each token, the sum of the rows that its copies became. Added in the order of the experts, so that sums are the same on whichever
// ranks these are.
template <class T>
struct SumCopies : ToMatrix<T> {
    const std::int64_t* rows;
    const T* from;
    std::int64_t copies;
    SEXTANT_KERNEL float operator()(std::int64_t token, std::int64_t i) const {
        float sum = 0;
        for (std::int64_t copy = token * copies; copy < (token + 1) * copies; ++copy)
            if (rows[copy] != no_row) sum += from[rows[copy] * this->width + i];
        return sum;
    }
};

// The weight of a row is the score of its expert, divided by the sum of the scores that the token's experts have, where it has several.
template <class T>
struct Weighting {
    const std::int64_t *rows, *places;  // by copy: its row, and the place of its score among `scores`
    const T* scores;
    std::int64_t copies;

    [[nodiscard]] SEXTANT_KERNEL float score(std::int64_t copy) const { return scores[places[copy]]; }
    [[nodiscard]] SEXTANT_KERNEL float sum(std::int64_t token) const {
        if (copies == 1) return 1;
        float all = 0;
        for (std::int64_t copy = token * copies; copy < (token + 1) * copies; ++copy) all += score(copy);
        return all;
    }
};

template <class T>
struct WeightsOfRows {
    Weighting<T> of;
    float* weights;
    SEXTANT_KERNEL void operator()(std::int64_t token) const {
        const float sum = of.sum(token);
        for (std::int64_t copy = token * of.copies; copy < (token + 1) * of.copies; ++copy)
            if (of.rows[copy] != no_row) weights[of.rows[copy]] = of.score(copy) / sum;
    }
};

// What the loss that loads experts evenly adds to the gradients of the scores. Of shares s' = s / sum s it is sum p s':
// ds_e = (p_e - sum p s') / sum s.
template <class T>
struct PullScores {
    const float* pulls;  // [sequences, experts]
    RoutedTokens tokens;
    const T* scores;
    T* d_scores;
    std::int64_t experts;

    template <class Lanes>
    SEXTANT_KERNEL void operator()(const Lanes& lanes, std::int64_t token) const {
        const T* s = scores + token * experts;
        const float* p = pulls + tokens.sequence_of(token) * experts;
        float sum = 0, pulled = 0;
        for (std::int64_t e = lanes.first(); e < experts; e += lanes.step()) {
            sum += s[e];
            pulled += p[e] * s[e];
        }
        sum = lanes.sum(sum);
        const float mean = lanes.sum(pulled) / sum;
        for (std::int64_t e = lanes.first(); e < experts; e += lanes.step()) d_scores[token * experts + e] = (p[e] - mean) / sum;
    }
};

// Adds to d_scores. w_i = s_i / sum s: ds_i = (dw_i - sum w dw) / sum s. With one expert w = s. The weight of a copy that is dropped weighs
// nothing.
template <class T>
struct GradientsOfScores {
    Weighting<T> of;
    const float* d_weights;
    T* d_scores;
    SEXTANT_KERNEL void operator()(std::int64_t token) const {
        const float sum = of.sum(token);
        const std::int64_t first = token * of.copies, end = first + of.copies;
        float mean = 0;
        if (of.copies > 1)
            for (std::int64_t copy = first; copy < end; ++copy) mean += of.score(copy) / sum * d_weight(copy);
        for (std::int64_t copy = first; copy < end; ++copy)
            d_scores[of.places[copy]] = d_scores[of.places[copy]] + (d_weight(copy) - mean) / sum;
    }

private:
    [[nodiscard]] SEXTANT_KERNEL float d_weight(std::int64_t copy) const { return of.rows[copy] == no_row ? 0 : d_weights[of.rows[copy]]; }
};

// Rows as they arrived become rows by expert, or the other way.
template <class T>
struct SortRows {
    const std::int64_t* order;
    bool by_expert;
    const T* from;
    T* to;
    std::int64_t width;
    SEXTANT_KERNEL float operator()(std::int64_t sorted, std::int64_t i) const {
        return from[(by_expert ? order[sorted] : sorted) * width + i];
    }
    SEXTANT_KERNEL void put(std::int64_t sorted, std::int64_t i, float value) const {
        to[(by_expert ? sorted : order[sorted]) * width + i] = value;
    }
};

// to = weight of the row * from; from may be a single row, of width `from_pitch` 0.
template <class T>
struct WeighRows : ToMatrix<T> {
    const T* from;
    std::int64_t from_pitch;
    const float* weights;  // null: all are 1
    SEXTANT_KERNEL float operator()(std::int64_t row, std::int64_t i) const {
        return (weights == nullptr ? 1 : weights[row]) * from[row * from_pitch + i];
    }
};

// Terms of the gradient of a bias that counts in each row by its weight.
template <class T>
struct WeighedRows {
    const T* rows;
    const float* weights;  // null: all are 1
    std::int64_t width;
    SEXTANT_KERNEL float operator()(std::int64_t, std::int64_t row, std::int64_t i) const {
        return (weights == nullptr ? 1 : weights[row]) * rows[row * width + i];
    }
};

// Of each row, its product with a row of other numbers; all with the same one if those have the pitch 0.
template <class T>
struct RowProducts {
    const T *a, *b;
    std::int64_t b_pitch;
    float* products;
    std::int64_t width;

    template <class Lanes>
    SEXTANT_KERNEL void operator()(const Lanes& lanes, std::int64_t row) const {
        float sum = 0;
        for (std::int64_t i = lanes.first(); i < width; i += lanes.step()) sum += a[row * width + i] * b[row * b_pitch + i];
        sum = lanes.sum(sum);
        if (lanes.first() == 0) products[row] = sum;
    }
};

template <class T>
Weighting<T> weighting(const TokenPermute& p, const OperatorCall& c) {
    return {c.routing->rows.indices(), c.routing->scores.indices(), c.inputs[1].as<T>(), p.copies};
}

// What no copy fills is zero.
template <class T, class Machine>
void copy_tokens(Machine& m, const TokenPermute& p, const Routing& routing, const Array& from, const Array& to) {
    if (p.capacity > 0) m.clear(to.as<T>(), to.elements);
    m.matrix(p.tokens * p.copies, p.width, CopyTokens<T>{routing.rows.indices(), from.as<T>(), to.as<T>(), p.copies, p.width});
}

// What an operator does with rows of experts.
template <class T, class Machine>
void forward_routed(Machine& m, const TokenPermute& p, const OperatorCall& c) {
    const std::int64_t* rows = c.routing->rows.indices();
    if (!c.to_experts)
        return m.matrix(p.tokens, p.width, SumCopies<T>{{c.outputs[0].as<T>(), p.width}, rows, c.inputs[0].as<T>(), p.copies});
    copy_tokens<T>(m, p, *c.routing, c.inputs[0], c.outputs[0]);
    if (p.capacity > 0) m.clear(c.outputs[1].reals(), c.outputs[1].elements);
    m.elements(p.tokens, WeightsOfRows<T>{weighting<T>(p, c), c.outputs[1].reals()});
}
template <class T, class Machine>
void backward_routed(Machine& m, const TokenPermute& p, const OperatorCall& c) {
    const std::int64_t* rows = c.routing->rows.indices();
    const Array &dy = c.output_gradients[0], &dx = c.input_gradients[0];
    if (!c.to_experts) return copy_tokens<T>(m, p, *c.routing, dy, dx);
    if (dx) m.matrix(p.tokens, p.width, SumCopies<T>{{dx.as<T>(), p.width}, rows, dy.as<T>(), p.copies});
    if (!c.input_gradients[1]) return;
    T* d_scores = c.input_gradients[1].as<T>();
    const std::int64_t experts = c.input_gradients[1].elements / p.tokens;
    if (c.routing->pulls)
        m.rows(p.tokens, experts,
               PullScores<T>{c.routing->pulls.reals(), c.routing->tokens, c.inputs[1].template as<T>(), d_scores, experts});
    else
        m.clear(d_scores, c.input_gradients[1].elements);
    m.elements(p.tokens, GradientsOfScores<T>{weighting<T>(p, c), c.output_gradients[1].reals(), d_scores});
}

// Behind the activation the bias of an expert counts in a row as much as the row does.
inline const float* weights_of_biases(const OperatorCall& c) { return c.inputs.size() > 1 ? c.inputs[1].reals() : nullptr; }

template <class T, class Machine>
void forward_routed(Machine& m, const Gemm& g, const OperatorCall& c) {
    const bool bias = c.weights.size() > 1 && c.adds_bias;
    const float* weights = weights_of_biases(c);
    for_each_run(*c.routing, [&](std::int64_t expert, std::int64_t first, std::int64_t rows) {
        if (bias)
            m.matrix(rows, g.n,
                     WeighRows<T>{{c.outputs[0].as<T>() + first * g.n, g.n},
                                  c.weights[1].as<T>() + expert * g.n,
                                  0,
                                  weights == nullptr ? nullptr : weights + first});
        m.multiply({Matrices(c.inputs[0], rows, g.k, first * g.k), Matrices(c.weights[0], g.n, g.k, expert * g.n * g.k).transpose(),
                    Matrices(c.outputs[0], rows, g.n, first * g.n), 1, 1, bias ? 1.0F : 0.0F});
    });
}
template <class T, class Machine>
void backward_routed(Machine& m, const Gemm& g, const OperatorCall& c) {
    const Array &in = c.inputs[0], &dy = c.output_gradients[0], &dx = c.input_gradients[0];
    const Array d_weights = c.input_gradients.size() > 1 ? c.input_gradients[1] : Array{};
    const float* weights = weights_of_biases(c);
    if (d_weights) m.clear(d_weights.reals(), d_weights.elements);
    for_each_run(*c.routing, [&](std::int64_t expert, std::int64_t first, std::int64_t rows) {
        const std::int64_t matrix = expert * g.n * g.k;
        const Matrices gradient(dy, rows, g.n, first * g.n);
        if (dx) m.multiply({gradient, Matrices(c.weights[0], g.n, g.k, matrix), Matrices(dx, rows, g.k, first * g.k)});
        if (!c.weight_gradients.empty())
            m.multiply(
                {gradient.transpose(), Matrices(in, rows, g.k, first * g.k), Matrices(c.weight_gradients[0], g.n, g.k, matrix), 1, 1, 1});
        const T* d = dy.as<T>() + first * g.n;
        if (c.weight_gradients.size() > 1) {
            const WeighedRows<T> terms{d, weights == nullptr ? nullptr : weights + first, g.n};
            const Array sums = column_totals<float>(m, terms, 1, rows, g.n);
            m.elements(g.n, AddElements{{c.weight_gradients[1].reals() + expert * g.n}, sums.reals()});
        }
        if (d_weights && c.adds_bias)
            m.rows(rows, g.n, RowProducts<T>{d, c.weights[1].as<T>() + expert * g.n, 0, d_weights.reals() + first, g.n});
    });
}

template <class Machine>
void sort_all(Machine& m, const OperatorCall& c, bool by_expert, std::span<const Array> from, std::span<const Array> to) {
    const std::int64_t rows = c.routing->order.elements;
    for (std::size_t i = 0; i < from.size(); ++i) {
        if (rows == 0 || !from[i] || !to[i]) continue;
        const std::int64_t width = from[i].elements / rows;
        with_type(from[i].element, [&]<class T>() {
            m.matrix(rows, width, SortRows<T>{c.routing->order.indices(), by_expert, from[i].as<T>(), to[i].as<T>(), width});
        });
    }
}

// y = w f(x): an activation whose rows are multiplied by their weights.
template <class T, class Machine>
void forward_routed(Machine& m, const Pointwise& p, const OperatorCall& c) {
    if (p.kind == PointwiseKind::copy) return sort_all(m, c, c.to_experts, c.inputs, c.outputs);
    const std::int64_t rows = rows_at(RoutedRows::worked, *c.routing);
    if (rows == 0) return;
    const Array& y = c.outputs[0];
    forward<T>(m, p, c);
    m.matrix(rows, y.elements / rows, WeighRows<T>{{y.as<T>(), y.elements / rows}, y.as<T>(), y.elements / rows, c.inputs[1].reals()});
}
// dw is the product of dy and f(x), summed over a row.
template <class T, class Machine>
void backward_routed(Machine& m, const Pointwise& p, const OperatorCall& c) {
    if (p.kind == PointwiseKind::copy) return sort_all(m, c, !c.to_experts, c.output_gradients, c.input_gradients);
    const std::int64_t rows = rows_at(RoutedRows::worked, *c.routing);
    if (rows == 0) return;
    const Array dy = c.output_gradients[0];
    const std::int64_t width = dy.elements / rows;
    OperatorCall alone = c;  // the activation without its weights
    const std::array room{m.scratch(room_for(rows) * width, dy.element).part(0, dy.elements)};
    if (c.input_gradients[1]) {
        alone.outputs = room;
        forward<T>(m, p, alone);
        m.rows(rows, width, RowProducts<T>{dy.as<T>(), room[0].template as<T>(), width, c.input_gradients[1].reals(), width});
    }
    m.matrix(rows, width, WeighRows<T>{{room[0].template as<T>(), width}, dy.as<T>(), width, c.inputs[1].reals()});
    alone.outputs = c.outputs;
    alone.output_gradients = room;
    backward<T>(m, p, alone);
}

template <class T, class Machine, class Kind>
void forward_routed(Machine&, const Kind&, const OperatorCall&) {
    broken_invariant("no operator of experts");
}
template <class T, class Machine, class Kind>
void backward_routed(Machine&, const Kind&, const OperatorCall&) {
    broken_invariant("no operator of experts");
}

}  // namespace sextant::kernels
