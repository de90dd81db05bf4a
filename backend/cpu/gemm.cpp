// Products with a weight, and the two products of plain attention.
#include "backend/cpu/operators.hpp"

#include <algorithm>

namespace sextant::cpu {
namespace {

void broadcast(const Array& row, const Array& to, std::int64_t rows, std::int64_t columns) {
    with_type(to.element, [&]<class Value>() {
        for (std::int64_t r = 0; r < rows; ++r) std::copy_n(row.as<Value>(), columns, to.as<Value>() + r * columns);
    });
}

// out [m, n] = in [m, k] weight^T, the weight being [n, k]; several outputs share out the rows of the weight.
void forward_weight(Engine& e, const Gemm& g, const OperatorCall& c) {
    const Matrix in(c.inputs[0], g.m, g.k);
    std::int64_t row = 0;
    for (const Array& out : c.outputs) {
        const std::int64_t n = out.elements / g.m;
        const bool bias = c.weights.size() > 1 && c.adds_bias;
        if (bias) broadcast(c.weights[1].part(row, n), out, g.m, n);
        e.multiply(in, Matrix(c.weights[0], n, g.k, row * g.k).transpose(), Matrix(out, g.m, n), 1, bias ? 1 : 0);
        row += n;
    }
}

void backward_weight(Engine& e, const Gemm& g, const OperatorCall& c) {
    const Matrix in(c.inputs[0], g.m, g.k);
    WideSum d_in(e, c.input_gradients[0], c.outputs.size() > 1);
    std::int64_t row = 0;
    bool first = true;
    for (std::size_t i = 0; i < c.outputs.size(); ++i) {
        const std::int64_t n = static_cast<std::int64_t>(c.output(i).elements()) / g.m;
        const Array& gradient = c.output_gradients[i];
        if (gradient) {
            const Matrix dy(gradient, g.m, n);
            if (c.input_gradients[0])
                e.multiply(dy, Matrix(c.weights[0], n, g.k, row * g.k), Matrix(d_in.sum(), g.m, g.k), 1, first ? 0 : 1);
            if (!c.weight_gradients.empty()) e.multiply(dy.transpose(), in, Matrix(c.weight_gradients[0], n, g.k, row * g.k), 1, 1);
            if (c.weight_gradients.size() > 1) add_column_sums(gradient, c.weight_gradients[1].reals() + row, g.m, n);
            first = false;
        }
        row += n;
    }
    if (c.input_gradients[0]) d_in.finish();
}

struct Heads {
    std::int64_t groups, heads, sharing;  // so many query heads share a key-value head
    bool makes_scores;

    static Heads of(const Gemm& g, const OperatorCall& c) {
        const bool scores = sextant::makes_scores(c);
        const std::int64_t groups = attending_groups(g, c), heads = g.batch / groups;
        return {groups, heads, heads / (c.input(1).shape.back() / (scores ? g.k : g.n)), scores};
    }
};

template <class Work>
void for_each_head(const Heads& h, const Work& work) {
    for (std::int64_t group = 0; group < h.groups; ++group)
        for (std::int64_t head = 0; head < h.heads; ++head) work(group, head, head / h.sharing);
}

void forward_heads(Engine& e, const Gemm& g, const OperatorCall& c) {
    const Heads h = Heads::of(g, c);
    const std::int64_t kv_heads = h.heads / h.sharing;
    const Array &a = c.inputs[0], &b = c.inputs[1], &out = c.outputs[0];
    for_each_head(h, [&](std::int64_t s, std::int64_t head, std::int64_t kv) {
        const std::int64_t matrix = s * h.heads + head;
        if (h.makes_scores)
            e.multiply(head_of(a, s, head, g.m, g.k, h.heads), head_of(b, s, kv, g.n, g.k, kv_heads).transpose(),
                       Matrix(out, g.m, g.n, matrix * g.m * g.n));
        else
            e.multiply(Matrix(a, g.m, g.k, matrix * g.m * g.k), head_of(b, s, kv, g.k, g.n, kv_heads),
                       head_of(out, s, head, g.m, g.n, h.heads));
    });
}

void backward_heads(Engine& e, const Gemm& g, const OperatorCall& c) {
    const Heads h = Heads::of(g, c);
    const std::int64_t kv_heads = h.heads / h.sharing;
    const Array &a = c.inputs[0], &b = c.inputs[1], &dy = c.output_gradients[0], &da = c.input_gradients[0];
    WideSum sum(e, c.input_gradients[1], true);
    const Array& db = sum.sum();
    if (db) std::fill_n(db.reals(), db.elements, 0.0F);
    for_each_head(h, [&](std::int64_t s, std::int64_t head, std::int64_t kv) {
        const std::int64_t matrix = s * h.heads + head;
        if (h.makes_scores) {
            const Matrix d(dy, g.m, g.n, matrix * g.m * g.n);
            if (da) e.multiply(d, head_of(b, s, kv, g.n, g.k, kv_heads), head_of(da, s, head, g.m, g.k, h.heads));
            if (db) e.multiply(d.transpose(), head_of(a, s, head, g.m, g.k, h.heads), head_of(db, s, kv, g.n, g.k, kv_heads), 1, 1);
        } else {
            const Matrix d = head_of(dy, s, head, g.m, g.n, h.heads);
            const std::int64_t scores = matrix * g.m * g.k;
            if (da) e.multiply(d, head_of(b, s, kv, g.k, g.n, kv_heads).transpose(), Matrix(da, g.m, g.k, scores));
            if (db) e.multiply(Matrix(a, g.m, g.k, scores).transpose(), d, head_of(db, s, kv, g.k, g.n, kv_heads), 1, 1);
        }
    });
    if (db) sum.finish();
}

}  // namespace

void add_column_sums(const Array& from, float* sums, std::int64_t rows, std::int64_t columns) {
    with_type(from.element, [&]<class Value>() { add_column_sums(from.as<Value>(), sums, rows, columns); });
}

void forward(Engine& e, const Gemm& g, const OperatorCall& c) {
    c.routing != nullptr ? forward_experts(e, g, c) : g.weight ? forward_weight(e, g, c) : forward_heads(e, g, c);
}
void backward(Engine& e, const Gemm& g, const OperatorCall& c) {
    c.routing != nullptr ? backward_experts(e, g, c) : g.weight ? backward_weight(e, g, c) : backward_heads(e, g, c);
}

}  // namespace sextant::cpu
