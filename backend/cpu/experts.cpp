// Mixtures of experts: tokens become rows in the order of their experts and sums of rows again, products have a weight for each expert.
#include "backend/cpu/operators.hpp"
#include "backend/cpu/reductions.hpp"

#include <algorithm>
#include <bit>

namespace sextant::cpu {
namespace {

void add_row(const float* from, float* to, std::int64_t width) {
    for (std::int64_t i = 0; i < width; ++i) to[i] += from[i];
}

// Row j is of token tokens[j].
void tokens_to_rows(const Routing& routing, const float* tokens, float* rows, std::int64_t width) {
    const std::int64_t* token = routing.tokens.indices();
    for (std::int64_t j = 0; j < routing.tokens.elements; ++j) std::copy_n(tokens + token[j] * width, width, rows + j * width);
}

// In the order of the experts: on whichever ranks they are, sums are the same.
void rows_to_tokens(const Routing& routing, const float* rows, const Array& tokens, std::int64_t width) {
    const std::int64_t* token = routing.tokens.indices();
    std::fill_n(tokens.reals(), tokens.elements, 0.0F);
    for (std::int64_t j = 0; j < routing.tokens.elements; ++j) add_row(rows + j * width, tokens.reals() + token[j] * width, width);
}

// The weight of row j is its score; of several experts of a token, in their sum.
struct Weighting {
    const Routing& routing;
    const float* scores;
    std::int64_t experts, copies;
    std::vector<float> sums;  // by token

    Weighting(const TokenPermute& p, const OperatorCall& c)
        : routing(*c.routing), scores(c.inputs[1].reals()), experts(c.input(1).shape.back()), copies(p.copies) {
        sums.assign(static_cast<std::size_t>(p.tokens), copies > 1 ? 0.0F : 1.0F);
        if (copies == 1) return;
        for_each([&](std::int64_t, std::int64_t token, std::int64_t score) { sums[static_cast<std::size_t>(token)] += scores[score]; });
    }
    // Calls work(row, its token, the place of its score).
    template <class Work>
    void for_each(const Work& work) const {
        std::int64_t j = 0;
        for (std::int64_t e = 0; e < experts; ++e)
            for (const std::int64_t end = j + routing.sent[static_cast<std::size_t>(e)]; j < end; ++j) {
                const std::int64_t token = routing.tokens.indices()[j];
                work(j, token, token * experts + e);
            }
    }
    [[nodiscard]] float of(std::int64_t token, std::int64_t score) const { return scores[score] / sums[static_cast<std::size_t>(token)]; }
};

// w_i = s_i / sum s: ds_i = (dw_i - sum w dw) / sum s. With one expert w = s.
void backward_weights(const Weighting& w, const float* d_weights, const Array& d_scores) {
    std::vector<float> mean(w.sums.size(), 0.0F);
    if (w.copies > 1)
        w.for_each([&](std::int64_t j, std::int64_t token, std::int64_t score) {
            mean[static_cast<std::size_t>(token)] += w.of(token, score) * d_weights[j];
        });
    std::fill_n(d_scores.reals(), d_scores.elements, 0.0F);
    w.for_each([&](std::int64_t j, std::int64_t token, std::int64_t score) {
        const auto t = static_cast<std::size_t>(token);
        d_scores.reals()[score] = (d_weights[j] - mean[t]) / w.sums[t];
    });
}

// How many rows an expert has differs from step to step, and oneDNN makes code for each number of them: so rows are worked on in powers of
// two, of which there are few.
template <class Work>
void in_powers_of_two(std::int64_t rows, const Work& work) {
    for (std::int64_t first = 0; first < rows;) {
        const auto count = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(rows - first)));
        work(first, count);
        first += count;
    }
}

// Calls work(expert, first row, rows) for rows that lie together. Code of products in fp32 is for any number of them.
template <class Work>
void for_each_run(const OperatorCall& c, const Work& work) {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < c.routing->worked.size(); ++i) {
        const std::int64_t expert = static_cast<std::int64_t>(i) % c.routing->experts_here, rows = c.routing->worked[i];
        if (is_half(c.weights[0].element))
            in_powers_of_two(rows, [&](std::int64_t first, std::int64_t count) { work(expert, at + first, count); });
        else if (rows > 0)
            work(expert, at, rows);
        at += rows;
    }
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
    const std::int64_t rows = rows_at(RoutedRows::arrived, routing), width = rows > 0 ? from.elements / rows : 0;
    for_each_sorted_run(routing, [&](std::int64_t arrived, std::int64_t sorted, std::int64_t count) {
        const std::int64_t source = by_expert ? arrived : sorted, target = by_expert ? sorted : arrived;
        std::copy_n(from.reals() + source * width, count * width, to.reals() + target * width);
    });
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
void for_some_rows(const OperatorCall& c, const Work& work) {
    const std::int64_t rows = rows_at(RoutedRows::worked, *c.routing);
    in_powers_of_two(rows, [&](std::int64_t first, std::int64_t count) { work(SomeRows(c, rows, first, count)); });
}

}  // namespace

void forward(Engine&, const TokenPermute& p, const OperatorCall& c) {
    if (!c.to_experts) return rows_to_tokens(*c.routing, c.inputs[0].reals(), c.outputs[0], p.width);
    tokens_to_rows(*c.routing, c.inputs[0].reals(), c.outputs[0].reals(), p.width);
    const Weighting w(p, c);
    w.for_each([&](std::int64_t j, std::int64_t token, std::int64_t score) { c.outputs[1].reals()[j] = w.of(token, score); });
}

void backward(Engine&, const TokenPermute& p, const OperatorCall& c) {
    const Array &dy = c.output_gradients[0], &dx = c.input_gradients[0];
    if (!c.to_experts) return tokens_to_rows(*c.routing, dy.reals(), dx.reals(), p.width);
    if (dx) rows_to_tokens(*c.routing, dy.reals(), dx, p.width);
    if (c.input_gradients[1]) backward_weights(Weighting(p, c), c.output_gradients[1].reals(), c.input_gradients[1]);
}

void forward_experts(Engine& e, const Gemm& g, const OperatorCall& c) {
    const Array &in = c.inputs[0], &out = c.outputs[0];
    const Biases bias(g, c, c.weights);
    const bool adds = bias.biases != nullptr && c.adds_bias;
    for_each_run(c, [&](std::int64_t expert, std::int64_t first, std::int64_t rows) {
        if (adds) bias.put(expert, out, first, rows);
        e.multiply(Matrix(in, rows, g.k, first * g.k), Matrix(c.weights[0], g.n, g.k, expert * g.n * g.k).turned(),
                   Matrix(out, rows, g.n, first * g.n), 1, adds ? 1 : 0);
    });
}

void backward_experts(Engine& e, const Gemm& g, const OperatorCall& c) {
    const Array &in = c.inputs[0], &dx = c.input_gradients[0], &gradient = c.output_gradients[0];
    const Array d_weights = c.input_gradients.size() > 1 ? c.input_gradients[1] : Array{};
    const Biases bias(g, c, c.weights), d_bias(g, c, c.weight_gradients);
    if (d_weights) std::fill_n(d_weights.reals(), d_weights.elements, 0.0F);
    for_each_run(c, [&](std::int64_t expert, std::int64_t first, std::int64_t rows) {
        const std::int64_t weight = expert * g.n * g.k;
        const Matrix dy(gradient, rows, g.n, first * g.n);
        if (dx) e.multiply(dy, Matrix(c.weights[0], g.n, g.k, weight), Matrix(dx, rows, g.k, first * g.k));
        if (!c.weight_gradients.empty())
            e.multiply(dy.turned(), Matrix(in, rows, g.k, first * g.k), Matrix(c.weight_gradients[0], g.n, g.k, weight), 1, 1);
        if (d_bias.biases != nullptr) d_bias.add_gradient(expert, gradient, first, rows);
        if (d_weights && c.adds_bias) bias.put_gradient_of_weights(expert, gradient, d_weights, first, rows);
    });
}

void forward_routed(Engine& engine, const Pointwise& p, const OperatorCall& c) {
    if (p.kind == PointwiseKind::copy) return sort_all(c, c.to_experts, c.inputs, c.outputs);
    for_some_rows(c, [&](const SomeRows& some) {
        forward(engine, p, some.call);
        some.multiply_by_weights(some.outputs[0]);
    });
}

// y = w f(x): dw is the product of dy and f(x), summed over a row.
void backward_routed(Engine& engine, const Pointwise& p, const OperatorCall& c) {
    if (p.kind == PointwiseKind::copy) return sort_all(c, !c.to_experts, c.output_gradients, c.input_gradients);
    for_some_rows(c, [&](SomeRows some) {
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
