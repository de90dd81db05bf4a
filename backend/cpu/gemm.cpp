// Products with a weight, and the two products of plain attention.
#include "backend/cpu/operators.hpp"

#include <algorithm>

namespace sextant::cpu {
namespace {

// out [m, n] = in [m, k] weight^T, the weight being [n, k]; several outputs share out the rows of the weight.
void forward_weight(const Gemm& g, const OperatorCall& c) {
    const Matrix in(c.inputs[0].reals(), g.m, g.k);
    std::int64_t row = 0;
    for (const Array& out : c.outputs) {
        const std::int64_t n = out.elements / g.m;
        const bool bias = c.weights.size() > 1 && c.adds_bias;
        if (bias) broadcast(c.weights[1].reals() + row, out.reals(), g.m, n);
        multiply(in, Matrix(c.weights[0].reals() + row * g.k, n, g.k).turned(), Matrix(out.reals(), g.m, n), 1, bias ? 1 : 0);
        row += n;
    }
}

void backward_weight(const Gemm& g, const OperatorCall& c) {
    const Matrix in(c.inputs[0].reals(), g.m, g.k);
    std::int64_t row = 0;
    bool first = true;
    for (std::size_t i = 0; i < c.outputs.size(); ++i) {
        const std::int64_t n = static_cast<std::int64_t>(c.output(i).elements()) / g.m;
        const Array& gradient = c.output_gradients[i];
        if (gradient) {
            const Matrix dy(gradient.reals(), g.m, n);
            if (c.input_gradients[0])
                multiply(dy, Matrix(c.weights[0].reals() + row * g.k, n, g.k), Matrix(c.input_gradients[0].reals(), g.m, g.k), 1,
                         first ? 0 : 1);
            if (!c.weight_gradients.empty()) multiply(dy.turned(), in, Matrix(c.weight_gradients[0].reals() + row * g.k, n, g.k), 1, 1);
            if (c.weight_gradients.size() > 1) add_column_sums(gradient.reals(), c.weight_gradients[1].reals() + row, g.m, n);
            first = false;
        }
        row += n;
    }
}

// Plain attention: a batch of products without a weight, one for each sample and head. Tokens lie [samples x length, heads x width], scores
// [samples x heads, queries, keys]. Scores are made of two matrices of tokens; results, of scores and tokens.
struct Heads {
    std::int64_t samples, heads, sharing;  // so many query heads share a key-value head
    bool makes_scores;

    static Heads of(const Gemm& g, const OperatorCall& c) {
        const bool makes_scores = c.input(0).shape.size() == 2;
        const std::int64_t heads = g.batch / c.samples, kv_heads = c.input(1).shape.back() / (makes_scores ? g.k : g.n);
        return {c.samples, heads, heads / kv_heads, makes_scores};
    }
};

template <class Work>
void for_each_head(const Heads& h, const Work& work) {
    for (std::int64_t s = 0; s < h.samples; ++s)
        for (std::int64_t head = 0; head < h.heads; ++head) work(s, head, head / h.sharing);
}

void forward_heads(const Gemm& g, const OperatorCall& c) {
    const Heads h = Heads::of(g, c);
    const std::int64_t kv_heads = h.heads / h.sharing;
    float *a = c.inputs[0].reals(), *b = c.inputs[1].reals();
    float* out = c.outputs[0].reals();
    for_each_head(h, [&](std::int64_t s, std::int64_t head, std::int64_t kv) {
        const std::int64_t matrix = s * h.heads + head;
        if (h.makes_scores)
            multiply(head_of(a, s, head, g.m, g.k, h.heads), head_of(b, s, kv, g.n, g.k, kv_heads).turned(),
                     Matrix(out + matrix * g.m * g.n, g.m, g.n));
        else
            multiply(Matrix(a + matrix * g.m * g.k, g.m, g.k), head_of(b, s, kv, g.k, g.n, kv_heads),
                     head_of(out, s, head, g.m, g.n, h.heads));
    });
}

void backward_heads(const Gemm& g, const OperatorCall& c) {
    const Heads h = Heads::of(g, c);
    const std::int64_t kv_heads = h.heads / h.sharing;
    float *a = c.inputs[0].reals(), *b = c.inputs[1].reals(), *dy = c.output_gradients[0].reals();
    float *da = c.input_gradients[0].reals(), *db = c.input_gradients[1].reals();
    if (c.input_gradients[1]) std::fill_n(db, c.input_gradients[1].elements, 0.0F);
    for_each_head(h, [&](std::int64_t s, std::int64_t head, std::int64_t kv) {
        const std::int64_t matrix = s * h.heads + head;
        if (h.makes_scores) {
            const Matrix d(dy + matrix * g.m * g.n, g.m, g.n);
            if (da != nullptr) multiply(d, head_of(b, s, kv, g.n, g.k, kv_heads), head_of(da, s, head, g.m, g.k, h.heads));
            if (db != nullptr) multiply(d.turned(), head_of(a, s, head, g.m, g.k, h.heads), head_of(db, s, kv, g.n, g.k, kv_heads), 1, 1);
        } else {
            const Matrix d = head_of(dy, s, head, g.m, g.n, h.heads);
            const std::int64_t scores = matrix * g.m * g.k;
            if (da != nullptr) multiply(d, head_of(b, s, kv, g.k, g.n, kv_heads).turned(), Matrix(da + scores, g.m, g.k));
            if (db != nullptr) multiply(Matrix(a + scores, g.m, g.k).turned(), d, head_of(db, s, kv, g.k, g.n, kv_heads), 1, 1);
        }
    });
}

}  // namespace

void broadcast(const float* row, float* to, std::int64_t rows, std::int64_t columns) {
    for (std::int64_t r = 0; r < rows; ++r) std::copy_n(row, columns, to + r * columns);
}

void add_column_sums(const float* from, float* sums, std::int64_t rows, std::int64_t columns) {
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t i = 0; i < columns; ++i) sums[i] += from[r * columns + i];
}

void forward(Engine&, const Gemm& g, const OperatorCall& c) { g.weight ? forward_weight(g, c) : forward_heads(g, c); }
void backward(Engine&, const Gemm& g, const OperatorCall& c) { g.weight ? backward_weight(g, c) : backward_heads(g, c); }

}  // namespace sextant::cpu
