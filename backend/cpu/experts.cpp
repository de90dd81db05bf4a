// Mixtures of experts: tokens become rows in the order of their experts and sums of rows again, products have a weight for each expert.
#include "backend/cpu/operators.hpp"
#include "backend/cpu/reductions.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace sextant::cpu {
namespace {

void add_row(const float* from, float* to, std::int64_t width) {
    for (std::int64_t i = 0; i < width; ++i) to[i] += from[i];
}

// What no copy fills is zero.
void clear_padding(const TokenPermute& p, const Array& rows) {
    if (p.capacity > 0) std::fill_n(rows.reals(), rows.elements, 0.0F);
}

void tokens_to_rows(const TokenPermute& p, const Routing& routing, const float* tokens, const Array& rows) {
    const std::int64_t* row = routing.rows.indices();
    clear_padding(p, rows);
    for (std::int64_t i = 0; i < routing.rows.elements; ++i)
        if (row[i] != no_row) std::copy_n(tokens + i / p.copies * p.width, p.width, rows.reals() + row[i] * p.width);
}

// In the order of the experts: on whichever ranks they are, sums are the same.
void rows_to_tokens(const TokenPermute& p, const Routing& routing, const float* rows, const Array& tokens) {
    const std::int64_t* row = routing.rows.indices();
    std::fill_n(tokens.reals(), tokens.elements, 0.0F);
    for (std::int64_t i = 0; i < routing.rows.elements; ++i)
        if (row[i] != no_row) add_row(rows + row[i] * p.width, tokens.reals() + i / p.copies * p.width, p.width);
}

// The weight of a row is its score; of several experts of a token, in their sum. Rows are named by the copies that they are.
struct Weighting {
    const float* scores;
    const std::int64_t* places;
    std::int64_t copies;

    Weighting(const TokenPermute& p, const OperatorCall& c)
        : scores(c.inputs[1].reals()), places(c.routing->scores.indices()), copies(p.copies) {}
    [[nodiscard]] float score(std::int64_t copy) const { return scores[places[copy]]; }
    [[nodiscard]] float sum(std::int64_t token) const {
        if (copies == 1) return 1;
        float all = 0;
        for (std::int64_t i = token * copies; i < (token + 1) * copies; ++i) all += score(i);
        return all;
    }
};

void forward_weights(const TokenPermute& p, const OperatorCall& c) {
    const Weighting w(p, c);
    const std::int64_t* row = c.routing->rows.indices();
    clear_padding(p, c.outputs[1]);
    for (std::int64_t t = 0; t < p.tokens; ++t) {
        const float sum = w.sum(t);
        for (std::int64_t i = t * p.copies; i < (t + 1) * p.copies; ++i)
            if (row[i] != no_row) c.outputs[1].reals()[row[i]] = w.score(i) / sum;
    }
}

// What the loss that loads experts evenly adds to the gradients of the scores: what there is of those that no weight is made of.
// Of shares s' = s / sum s it is sum p s': ds_e = (p_e - sum p s') / sum s.
void pull_scores(const TokenPermute& p, const Routing& routing, const float* scores, const Array& d_scores) {
    if (!routing.pulls) {
        std::fill_n(d_scores.reals(), d_scores.elements, 0.0F);
        return;
    }
    const std::int64_t experts = d_scores.elements / p.tokens;
    for (std::int64_t t = 0; t < p.tokens; ++t) {
        const float *s = scores + t * experts, *pulls = routing.pulls.reals() + routing.tokens.sequence_of(t) * experts;
        const float sum = std::accumulate(s, s + experts, 0.0F), mean = dot_of(pulls, s, experts) / sum;
        for (std::int64_t e = 0; e < experts; ++e) d_scores.reals()[t * experts + e] = (pulls[e] - mean) / sum;
    }
}

// w_i = s_i / sum s: ds_i = (dw_i - sum w dw) / sum s. With one expert w = s. The weight of a copy that is dropped weighs nothing.
void backward_weights(const TokenPermute& p, const OperatorCall& c, const float* d_weights, const Array& d_scores) {
    const Weighting w(p, c);
    const std::int64_t* row = c.routing->rows.indices();
    const auto d_weight = [&](std::int64_t i) { return row[i] == no_row ? 0 : d_weights[row[i]]; };
    pull_scores(p, *c.routing, w.scores, d_scores);
    for (std::int64_t t = 0; t < p.tokens; ++t) {
        const std::int64_t first = t * p.copies, end = first + p.copies;
        const float sum = w.sum(t);
        float mean = 0;
        if (p.copies > 1)
            for (std::int64_t i = first; i < end; ++i) mean += w.score(i) / sum * d_weight(i);
        for (std::int64_t i = first; i < end; ++i) d_scores.reals()[w.places[i]] += (d_weight(i) - mean) / sum;
    }
}

// How many rows an expert has differs from step to step, and oneDNN makes code for each number of them: so rows are worked on in powers of
// two, of which there are few, up to `most`.
template <class Work>
void in_powers_of_two(std::int64_t rows, std::int64_t most, const Work& work) {
    for (std::int64_t first = 0; first < rows;) {
        const auto count = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::min(most, rows - first))));
        work(first, count);
        first += count;
    }
}

// Code of products in fp32 is for any number of them.
template <class Work>
void for_each_product(const OperatorCall& c, const Work& work) {
    for_each_run(*c.routing, [&](std::int64_t expert, std::int64_t first, std::int64_t rows) {
        if (!is_half(c.weights[0].element)) return work(expert, first, rows);
        in_powers_of_two(rows, rows, [&](std::int64_t some, std::int64_t count) { work(expert, first + some, count); });
    });
}

// The biases of experts. Behind the activation one counts as much as its row does.
struct Biases {
    const Array* biases;   // [experts, width]; null: there are none
    const float* weights;  // of the rows; null: each counts one
    std::int64_t width;

    Biases(const Gemm& g, const OperatorCall& c, std::span<const Array> from)
        : biases(from.size() > 1 ? &from[1] : nullptr), weights(c.inputs.size() > 1 ? c.inputs[1].reals() : nullptr), width(g.n) {}

    [[nodiscard]] float weight(std::int64_t row) const { return weights != nullptr ? weights[row] : 1; }
    void put(std::int64_t expert, const Array& to, std::int64_t first, std::int64_t rows) const {
        with_type(to.element, [&]<class Value>() {
            const Value* bias = biases->as<Value>() + expert * width;
            for (std::int64_t r = first; r < first + rows; ++r) {
                Value* row = to.as<Value>() + r * width;
                const float factor = weight(r);
                for (std::int64_t i = 0; i < width; ++i) row[i] = factor * static_cast<float>(bias[i]);
            }
        });
    }
    // `biases` are their gradients.
    void add_gradient(std::int64_t expert, const Array& dy, std::int64_t first, std::int64_t rows) const {
        float* sums = biases->reals() + expert * width;
        with_type(dy.element, [&]<class Value>() {
            for (std::int64_t r = first; r < first + rows; ++r) {
                const float factor = weight(r);
                const Value* row = dy.as<Value>() + r * width;
                for (std::int64_t i = 0; i < width; ++i) sums[i] += factor * static_cast<float>(row[i]);
            }
        });
    }
    void put_gradient_of_weights(std::int64_t expert, const Array& dy, const Array& to, std::int64_t first, std::int64_t rows) const {
        with_type(dy.element, [&]<class Value>() {
            const Value* bias = biases->as<Value>() + expert * width;
            for (std::int64_t r = first; r < first + rows; ++r) {
                const Value* row = dy.as<Value>() + r * width;
                float sum = 0;
                for (std::int64_t i = 0; i < width; ++i) sum += static_cast<float>(row[i]) * static_cast<float>(bias[i]);
                to.reals()[r] = sum;
            }
        });
    }
};

// Rows as they arrived become rows by expert, or the other way.
void sort_rows(const Routing& routing, bool by_expert, const Array& from, const Array& to) {
    const std::int64_t rows = routing.order.elements, width = rows > 0 ? from.elements / rows : 0;
    const std::int64_t* order = routing.order.indices();
    for (std::int64_t sorted = 0; sorted < rows; ++sorted) {
        const std::int64_t source = by_expert ? order[sorted] : sorted, target = by_expert ? sorted : order[sorted];
        std::copy_n(from.reals() + source * width, width, to.reals() + target * width);
    }
}

void sort_all(const OperatorCall& c, bool by_expert, std::span<const Array> from, std::span<const Array> to) {
    for (std::size_t i = 0; i < from.size(); ++i)
        if (from[i] && to[i]) sort_rows(*c.routing, by_expert, from[i], to[i]);
}

// An activation whose rows are multiplied by their weights, on some rows of it.
struct SomeRows {
    OperatorCall call;  // of the activation alone
    std::vector<Array> inputs, outputs, input_gradients, output_gradients;
    std::int64_t rows;

    SomeRows(const OperatorCall& c, std::int64_t all, std::int64_t first, std::int64_t count)
        : call(c),
          inputs(part(c.inputs, all, first, count)),
          outputs(part(c.outputs, all, first, count)),
          input_gradients(part(c.input_gradients, all, first, count)),
          output_gradients(part(c.output_gradients, all, first, count)),
          rows(count) {
        call.routing = nullptr;
        call.inputs = inputs;
        call.outputs = outputs;
        call.input_gradients = input_gradients;
        call.output_gradients = output_gradients;
    }
    SomeRows(const SomeRows&) = delete;
    SomeRows& operator=(const SomeRows&) = delete;
    void multiply_by_weights(const Array& a) const {
        const std::int64_t width = a.elements / rows;
        for (std::int64_t r = 0; r < rows; ++r) {
            const float weight = inputs[1].reals()[r];
            for (std::int64_t i = r * width; i < (r + 1) * width; ++i) a.reals()[i] *= weight;
        }
    }

private:
    static std::vector<Array> part(std::span<const Array> arrays, std::int64_t all, std::int64_t first, std::int64_t count) {
        std::vector<Array> parts;
        for (const Array& a : arrays) parts.push_back(a ? a.part(a.elements / all * first, a.elements / all * count) : a);
        return parts;
    }
};

template <class Work>
void for_some_routed_rows(Engine& engine, const OperatorCall& c, const Work& work) {
    const std::int64_t rows = rows_at(RoutedRows::worked, *c.routing);
    if (rows == 0) return;
    in_powers_of_two(rows, rows_at_once(c.inputs[0].elements / rows), [&](std::int64_t first, std::int64_t count) {
        const Scratch::Part scratch(engine.scratch);
        work(SomeRows(c, rows, first, count));
    });
}

}  // namespace

void forward(Engine&, const TokenPermute& p, const OperatorCall& c) {
    if (!c.to_experts) return rows_to_tokens(p, *c.routing, c.inputs[0].reals(), c.outputs[0]);
    tokens_to_rows(p, *c.routing, c.inputs[0].reals(), c.outputs[0]);
    forward_weights(p, c);
}

void backward(Engine&, const TokenPermute& p, const OperatorCall& c) {
    const Array &dy = c.output_gradients[0], &dx = c.input_gradients[0];
    if (!c.to_experts) return tokens_to_rows(p, *c.routing, dy.reals(), dx);
    if (dx) rows_to_tokens(p, *c.routing, dy.reals(), dx);
    if (c.input_gradients[1]) backward_weights(p, c, c.output_gradients[1].reals(), c.input_gradients[1]);
}

void forward_experts(Engine& e, const Gemm& g, const OperatorCall& c) {
    const Array &in = c.inputs[0], &out = c.outputs[0];
    const Biases bias(g, c, c.weights);
    const bool adds = bias.biases != nullptr && c.adds_bias;
    for_each_product(c, [&](std::int64_t expert, std::int64_t first, std::int64_t rows) {
        if (adds) bias.put(expert, out, first, rows);
        e.multiply(Matrix(in, rows, g.k, first * g.k), Matrix(c.weights[0], g.n, g.k, expert * g.n * g.k).transpose(),
                   Matrix(out, rows, g.n, first * g.n), 1, adds ? 1 : 0);
    });
}

void backward_experts(Engine& e, const Gemm& g, const OperatorCall& c) {
    const Array &in = c.inputs[0], &dx = c.input_gradients[0], &gradient = c.output_gradients[0];
    const Array d_weights = c.input_gradients.size() > 1 ? c.input_gradients[1] : Array{};
    const Biases bias(g, c, c.weights), d_bias(g, c, c.weight_gradients);
    if (d_weights) std::fill_n(d_weights.reals(), d_weights.elements, 0.0F);
    for_each_product(c, [&](std::int64_t expert, std::int64_t first, std::int64_t rows) {
        const std::int64_t weight = expert * g.n * g.k;
        const Matrix dy(gradient, rows, g.n, first * g.n);
        if (dx) e.multiply(dy, Matrix(c.weights[0], g.n, g.k, weight), Matrix(dx, rows, g.k, first * g.k));
        if (!c.weight_gradients.empty())
            e.multiply(dy.transpose(), Matrix(in, rows, g.k, first * g.k), Matrix(c.weight_gradients[0], g.n, g.k, weight), 1, 1);
        if (d_bias.biases != nullptr) d_bias.add_gradient(expert, gradient, first, rows);
        if (d_weights && c.adds_bias) bias.put_gradient_of_weights(expert, gradient, d_weights, first, rows);
    });
}

void forward_routed(Engine& engine, const Pointwise& p, const OperatorCall& c) {
    if (p.kind == PointwiseKind::copy) return sort_all(c, c.to_experts, c.inputs, c.outputs);
    for_some_routed_rows(engine, c, [&](const SomeRows& some) {
        forward(engine, p, some.call);
        some.multiply_by_weights(some.outputs[0]);
    });
}

// y = w f(x): dw is the product of dy and f(x), summed over a row.
void backward_routed(Engine& engine, const Pointwise& p, const OperatorCall& c) {
    if (p.kind == PointwiseKind::copy) return sort_all(c, !c.to_experts, c.output_gradients, c.input_gradients);
    for_some_routed_rows(engine, c, [&](SomeRows some) {
        const Array dy = some.output_gradients[0];
        const std::int64_t width = dy.elements / some.rows;
        if (some.input_gradients[1]) {
            some.outputs = {engine.scratch.array(dy.elements)};
            some.call.outputs = some.outputs;
            forward(engine, p, some.call);
            for (std::int64_t r = 0; r < some.rows; ++r)
                some.input_gradients[1].reals()[r] = dot_of(dy.reals() + r * width, some.outputs[0].reals() + r * width, width);
        }
        const Array weighted = engine.scratch.array(dy.elements);
        std::copy_n(dy.reals(), dy.elements, weighted.reals());
        some.multiply_by_weights(weighted);
        some.output_gradients = {weighted};
        some.call.output_gradients = some.output_gradients;
        backward(engine, p, some.call);
    });
}

}  // namespace sextant::cpu
