// Products of matrices: with a weight, and the two of plain attention; see backend/cpu/gemm.cpp.
#pragma once

#include "backend/exec/device.hpp"
#include "backend/kernels/column_totals.hpp"
#include "backend/kernels/rows.hpp"

namespace sextant::kernels {

// Matrices in row order, one for each entry of a batch; rows begin `pitch` elements apart, matrices `stride`.
struct Matrices {
    std::byte* data = nullptr;
    Element element = Element::real;
    std::int64_t rows = 0, columns = 0, pitch = 0, stride = 0;
    bool transposed = false;  // rows and columns are those of the matrix that is meant; memory holds it transposed

    // Of the elements of an array, from `first` on.
    Matrices(const Array& a, std::int64_t r, std::int64_t c, std::int64_t first = 0) : Matrices(a, r, c, c, 0, first) {}
    Matrices(const Array& a, std::int64_t r, std::int64_t c, std::int64_t between_rows, std::int64_t between_matrices, std::int64_t first)
        : data(a.as<std::byte>() + first * bytes_of(a.element)),
          element(a.element),
          rows(r),
          columns(c),
          pitch(between_rows),
          stride(between_matrices) {}
    [[nodiscard]] Matrices some_rows(std::int64_t first, std::int64_t count) const {
        Matrices some = *this;
        some.data += first * pitch * bytes_of(element);
        some.rows = count;
        return some;
    }
    [[nodiscard]] Matrices transpose() const {
        Matrices t = *this;
        t.rows = columns;
        t.columns = rows;
        t.transposed = !transposed;
        return t;
    }
};

// c = scale a b + keep c, and to each row of that the bias, if there is one: of c's type. c is not transposed. a and b are of one type;
// sums are made in fp32, and rounded where c is narrower.
struct Product {
    Matrices a, b, c;
    std::int64_t batch = 1;
    float scale = 1, keep = 0;
    const std::byte* bias = nullptr;
};

// Where several products are summed into an array of 16 bits: the sum is made in fp32, and rounded once.
template <class T, class Machine>
class WideSum {
public:
    WideSum(Machine& machine, const Array& result, bool several)
        : machine_(machine), result_(result), sum_(several && is_half(result.element) ? machine.scratch(result.elements) : result) {}
    [[nodiscard]] const Array& sum() const { return sum_; }
    void finish() {
        if (sum_.element != result_.element) machine_.elements(sum_.elements, Convert<float, T>{{result_.as<T>()}, sum_.reals()});
    }

private:
    Machine& machine_;
    Array result_, sum_;
};

// out [m, n] = in [m, k] weight^T, the weight being [n, k]; several outputs share out the rows of the weight.
template <class T, class Machine>
void weight_forward(Machine& machine, const Gemm& g, const OperatorCall& c) {
    const Matrices in(c.inputs[0], g.m, g.k);
    std::int64_t row = 0;
    for (const Array& out : c.outputs) {
        const std::int64_t n = out.elements / g.m;
        const T* bias = c.weights.size() > 1 && c.adds_bias ? c.weights[1].as<T>() + row : nullptr;
        machine.multiply(
            {in, Matrices(c.weights[0], n, g.k, row * g.k).transpose(), {out, g.m, n}, 1, 1, 0, reinterpret_cast<const std::byte*>(bias)});
        row += n;
    }
}

template <class T, class Machine>
void weight_backward(Machine& machine, const Gemm& g, const OperatorCall& c) {
    const Matrices in(c.inputs[0], g.m, g.k);
    WideSum<T, Machine> d_in(machine, c.input_gradients[0], c.outputs.size() > 1);
    std::int64_t row = 0;
    bool first = true;
    for (std::size_t i = 0; i < c.outputs.size(); ++i) {
        const std::int64_t n = static_cast<std::int64_t>(c.output(i).elements()) / g.m;
        if (const Array& gradient = c.output_gradients[i]) {
            const Matrices dy(gradient, g.m, n), weight(c.weights[0], n, g.k, row * g.k);
            if (c.input_gradients[0]) machine.multiply({dy, weight, {d_in.sum(), g.m, g.k}, 1, 1, first ? 0.0F : 1.0F});
            if (!c.weight_gradients.empty()) machine.multiply({dy.transpose(), in, {c.weight_gradients[0], n, g.k, row * g.k}, 1, 1, 1});
            if (c.weight_gradients.size() > 1) add_column_sums(machine, gradient.as<T>(), c.weight_gradients[1].reals() + row, g.m, n);
            first = false;
        }
        row += n;
    }
    if (c.input_gradients[0]) d_in.finish();
}

// A batch of matrices of heads, of which each reads another key-value head. Tokens lie [groups x length, heads x width], scores
// [groups x heads, queries, keys]; the tokens of a group attend to each other.
struct HeadBatch {
    std::int64_t groups, kv_heads, sharing;  // so many heads share a key-value head
    bool across;                             // of all groups one head each; else of one group the `first`-th head of each that share one
    std::int64_t group, first;

    [[nodiscard]] std::int64_t heads() const { return kv_heads * sharing; }
    [[nodiscard]] std::int64_t count() const { return across ? groups : kv_heads; }
    [[nodiscard]] std::int64_t first_head() const { return group * heads() + first; }  // of all groups
    [[nodiscard]] bool adds() const { return first % sharing > 0; }  // to the gradient of key-value heads that another batch had
    [[nodiscard]] Matrices of_queries(const Array& tokens, std::int64_t length, std::int64_t width) const {
        const std::int64_t pitch = heads() * width;
        return {tokens, length, width, pitch, across ? length * pitch : sharing * width, group * length * pitch + first * width};
    }
    [[nodiscard]] Matrices of_keys(const Array& tokens, std::int64_t length, std::int64_t width) const {
        const std::int64_t pitch = kv_heads * width;
        return {tokens, length, width, pitch, across ? length * pitch : width, group * length * pitch + first / sharing * width};
    }
    [[nodiscard]] Matrices of_scores(const Array& scores, std::int64_t queries, std::int64_t keys) const {
        const std::int64_t size = queries * keys;
        return {scores, queries, keys, keys, (across ? heads() : sharing) * size, first_head() * size};
    }
};

template <class Work>
void for_each_batch_of_a_group(std::int64_t groups, std::int64_t heads, std::int64_t kv_heads, const Work& work) {
    const std::int64_t sharing = heads / kv_heads;
    for (std::int64_t g = 0; g < groups; ++g)
        for (std::int64_t j = 0; j < sharing; ++j) work(HeadBatch{groups, kv_heads, sharing, false, g, j});
}

// As few batches as there can be: windows of an image are many, and have few heads.
template <class Work>
void for_each_batch(std::int64_t groups, std::int64_t heads, std::int64_t kv_heads, const Work& work) {
    const std::int64_t sharing = heads / kv_heads;
    if (heads >= groups * sharing) return for_each_batch_of_a_group(groups, heads, kv_heads, work);
    for (std::int64_t h = 0; h < heads; ++h) work(HeadBatch{groups, kv_heads, sharing, true, 0, h});
}

inline std::int64_t kv_heads_of(const Gemm& g, const OperatorCall& c) { return c.input(1).shape.back() / (makes_scores(c) ? g.k : g.n); }

template <class Machine>
void heads_forward(Machine& machine, const Gemm& g, const OperatorCall& c) {
    const std::int64_t groups = attending_groups(g, c);
    for_each_batch(groups, g.batch / groups, kv_heads_of(g, c), [&](const HeadBatch& h) {
        if (makes_scores(c))
            machine.multiply({h.of_queries(c.inputs[0], g.m, g.k), h.of_keys(c.inputs[1], g.n, g.k).transpose(),
                              h.of_scores(c.outputs[0], g.m, g.n), h.count()});
        else
            machine.multiply(
                {h.of_scores(c.inputs[0], g.m, g.k), h.of_keys(c.inputs[1], g.k, g.n), h.of_queries(c.outputs[0], g.m, g.n), h.count()});
    });
}

template <class T, class Machine>
void heads_backward(Machine& machine, const Gemm& g, const OperatorCall& c) {
    const Array &da = c.input_gradients[0], &dy = c.output_gradients[0];
    const std::int64_t groups = attending_groups(g, c), kv_heads = kv_heads_of(g, c), heads = g.batch / groups;
    WideSum<T, Machine> sum(machine, c.input_gradients[1], heads > kv_heads);
    const Array& db = sum.sum();
    for_each_batch(groups, heads, kv_heads, [&](const HeadBatch& h) {
        const float keep = h.adds() ? 1 : 0;
        if (makes_scores(c)) {
            const Matrices d = h.of_scores(dy, g.m, g.n);
            if (da) machine.multiply({d, h.of_keys(c.inputs[1], g.n, g.k), h.of_queries(da, g.m, g.k), h.count()});
            if (db) machine.multiply({d.transpose(), h.of_queries(c.inputs[0], g.m, g.k), h.of_keys(db, g.n, g.k), h.count(), 1, keep});
        } else {
            const Matrices d = h.of_queries(dy, g.m, g.n);
            if (da) machine.multiply({d, h.of_keys(c.inputs[1], g.k, g.n).transpose(), h.of_scores(da, g.m, g.k), h.count()});
            if (db) machine.multiply({h.of_scores(c.inputs[0], g.m, g.k).transpose(), d, h.of_keys(db, g.k, g.n), h.count(), 1, keep});
        }
    });
    if (db) sum.finish();
}

template <class T, class Machine>
void forward(Machine& m, const Gemm& g, const OperatorCall& c) {
    g.weight ? weight_forward<T>(m, g, c) : heads_forward(m, g, c);
}
template <class T, class Machine>
void backward(Machine& m, const Gemm& g, const OperatorCall& c) {
    g.weight ? weight_backward<T>(m, g, c) : heads_backward<T>(m, g, c);
}

}  // namespace sextant::kernels
