// Attention that never holds more than a block of scores (FlashAttention, arXiv 2205.14135): forward keeps the log of each row's sum of
// exponentials, from which backward makes the probabilities again.
#include "backend/cpu/operators.hpp"
#include "backend/cpu/reductions.hpp"
#include "backend/kernels/alibi.hpp"

#include <algorithm>
#include <cmath>

namespace sextant::cpu {
namespace {

constexpr std::int64_t block_queries = 64;
constexpr float hidden = -1e30F;  // the score of a key that a query does not see; its exponential is zero

// A block of queries of one head that are neighbours in the sequence, and the keys that any of them sees.
struct Block {
    std::int64_t sample, head, kv_head, first_query, queries, first_key, keys;
};

KeyRange visible(const Attention& a, ContextCut context, std::int64_t query) {
    return visible_keys(query, a.query_len, a.key_len, a.causal, a.window, context);
}

template <class Work>
void for_each_block(const Attention& a, ContextCut context, const Work& work) {
    const std::int64_t slice = a.query_len / context.slices();
    for (std::int64_t s = 0; s < a.batch; ++s)
        for (std::int64_t h = 0; h < a.heads; ++h)
            for (std::int64_t q = 0, queries = 0; q < a.query_len; q += queries) {
                queries = std::min(block_queries, slice - q % slice);
                const std::int64_t begin = visible(a, context, q).begin, end = visible(a, context, q + queries - 1).end;
                work(Block{s, h, h * a.kv_heads / a.heads, q, queries, begin, end - begin});
            }
}

// Rows of one head: [rows, width] of tokens [samples x length, heads x width].
Matrix rows_of(const Array& tokens, std::int64_t sample, std::int64_t head, std::int64_t length, std::int64_t width, std::int64_t heads,
               std::int64_t first, std::int64_t rows) {
    return head_of(tokens, sample, head, length, width, heads).some_rows(first, rows);
}

class Head {
public:
    Head(Engine& engine, const Attention& a, const OperatorCall& c)
        : engine_(engine), a_(a), c_(c), scale_(1 / std::sqrt(static_cast<float>(a.head_dim))) {
        const std::int64_t most = std::min(block_queries, a.query_len) * a.key_len;
        scores_ = engine.scratch.array(most);
        score_gradients_ = engine.scratch.array(most);
        const Element element = c.inputs[0].element;
        rounds_ = element != Element::real;
        if (!rounds_) return;
        probabilities_ = engine.scratch.array(most, element);
        rounded_gradients_ = engine.scratch.array(most, element);
    }

    void forward(const Block& b) {
        multiply_scores(b);
        float* p = scores_.reals();
        float* lse = statistics(b);
        for (std::int64_t i = 0; i < b.queries; ++i) {
            const KeyRange r = range(b, i);
            float* row = p + i * b.keys;
            lse[i] = largest_of(row + r.begin, r.end - r.begin);
            shift(row, b.keys, r, lse[i]);
        }
        engine_.apply(Curve::exp, p, p, b.queries * b.keys);
        for (std::int64_t i = 0; i < b.queries; ++i) {
            float* row = p + i * b.keys;
            const float sum = sum_of(row, b.keys), factor = 1 / sum;
            for (std::int64_t j = 0; j < b.keys; ++j) row[j] *= factor;
            lse[i] += std::log(sum);
        }
        engine_.multiply(operand(scores_, probabilities_, b), values(c_.inputs[2], b), results(c_.outputs[0], b));
    }

    // `d_keys`, `d_values`: sums over all queries that share them.
    void backward(const Block& b, const Array& d_keys, const Array& d_values) {
        multiply_scores(b);
        float *p = scores_.reals(), *dp = score_gradients_.reals();
        const float* lse = statistics(b);
        for (std::int64_t i = 0; i < b.queries; ++i) shift(p + i * b.keys, b.keys, range(b, i), lse[i]);
        engine_.apply(Curve::exp, p, p, b.queries * b.keys);
        const Matrix out = results(c_.outputs[0], b), d_out = results(c_.output_gradients[0], b);
        engine_.multiply(d_out, values(c_.inputs[2], b).transpose(), Matrix(score_gradients_, b.queries, b.keys));
        for (std::int64_t i = 0; i < b.queries; ++i) {
            const float sum =
                with_type(out.element, [&]<class Value>() { return dot_of(out.row<Value>(i), d_out.row<Value>(i), a_.value_dim); });
            float *gradient = dp + i * b.keys, *probability = p + i * b.keys;
            for (std::int64_t j = 0; j < b.keys; ++j) gradient[j] = probability[j] * (gradient[j] - sum);
        }
        if (rounds_) scale(score_gradients_, b);
        const Matrix gradients = operand(score_gradients_, rounded_gradients_, b);
        engine_.multiply(gradients, keys(c_.inputs[1], b), queries(c_.input_gradients[0], b), scale_of_products());
        engine_.multiply(gradients.transpose(), queries(c_.inputs[0], b), keys(d_keys, b), scale_of_products(), 1);
        engine_.multiply(operand(scores_, probabilities_, b).transpose(), d_out, values(d_values, b), 1, 1);
    }

private:
    Matrix queries(const Array& x, const Block& b) const {
        return rows_of(x, b.sample, b.head, a_.query_len, a_.head_dim, a_.heads, b.first_query, b.queries);
    }
    Matrix results(const Array& x, const Block& b) const {
        return rows_of(x, b.sample, b.head, a_.query_len, a_.value_dim, a_.heads, b.first_query, b.queries);
    }
    Matrix keys(const Array& x, const Block& b) const {
        return rows_of(x, b.sample, b.kv_head, a_.key_len, a_.head_dim, a_.kv_heads, b.first_key, b.keys);
    }
    Matrix values(const Array& x, const Block& b) const {
        return rows_of(x, b.sample, b.kv_head, a_.key_len, a_.value_dim, a_.kv_heads, b.first_key, b.keys);
    }
    void multiply_scores(const Block& b) {
        engine_.multiply(queries(c_.inputs[0], b), keys(c_.inputs[1], b).transpose(), Matrix(scores_, b.queries, b.keys),
                         scale_of_products());
        if (rounds_) scale(scores_, b);
        if (a_.alibi) add_alibi(b);
    }
    void add_alibi(const Block& b) {
        const float slope = kernels::alibi_bias(c_.place, a_.heads, a_.value_dim).slope(b.head);
        for (std::int64_t i = 0; i < b.queries; ++i) {
            const std::int64_t beside = key_beside(b.first_query + i, a_.query_len, a_.key_len, c_.place.context) - b.first_key;
            fall_with_distance(scores_.reals() + i * b.keys, b.keys, slope, beside);
        }
    }
    // Products of 16 bits have no factor of their own.
    [[nodiscard]] float scale_of_products() const { return rounds_ ? 1 : scale_; }
    void scale(const Array& made, const Block& b) const {
        for (std::int64_t i = 0; i < b.queries * b.keys; ++i) made.reals()[i] *= scale_;
    }
    // Made in fp32, rounded to what they are multiplied with.
    Matrix operand(const Array& made, const Array& rounded, const Block& b) {
        const std::int64_t count = b.queries * b.keys;
        if (!rounds_) return {made, b.queries, b.keys};
        engine_.convert(made.part(0, count), rounded.part(0, count));
        return {rounded, b.queries, b.keys};
    }
    [[nodiscard]] float* statistics(const Block& b) const {
        return c_.outputs[1].reals() + (b.sample * a_.heads + b.head) * a_.query_len + b.first_query;
    }
    // Of the block's keys.
    [[nodiscard]] KeyRange range(const Block& b, std::int64_t query) const {
        const KeyRange r = visible(a_, c_.place.context, b.first_query + query);
        return {r.begin - b.first_key, r.end - b.first_key};
    }
    static void shift(float* row, std::int64_t keys, KeyRange r, float by) {
        std::fill_n(row, r.begin, hidden);
        for (std::int64_t j = r.begin; j < r.end; ++j) row[j] -= by;
        std::fill(row + r.end, row + keys, hidden);
    }

    Engine& engine_;
    const Attention& a_;
    const OperatorCall& c_;
    float scale_;
    bool rounds_ = false;  // inputs are of 16 bits, and so what is multiplied with them must be
    Array scores_, score_gradients_, probabilities_, rounded_gradients_;
};

}  // namespace

Matrix head_of(const Array& tokens, std::int64_t sample, std::int64_t head, std::int64_t length, std::int64_t width, std::int64_t heads) {
    return {tokens, length, width, heads * width, (sample * length * heads + head) * width};
}

void forward(Engine& engine, const Attention& a, const OperatorCall& c) {
    Head head(engine, a, c);
    for_each_block(a, c.place.context, [&](const Block& b) { head.forward(b); });
}

void backward(Engine& engine, const Attention& a, const OperatorCall& c) {
    WideSum d_keys(engine, c.input_gradients[1], true), d_values(engine, c.input_gradients[2], true);
    for (const WideSum* s : {&d_keys, &d_values}) std::fill_n(s->sum().reals(), s->sum().elements, 0.0F);
    Head head(engine, a, c);
    for_each_block(a, c.place.context, [&](const Block& b) { head.backward(b, d_keys.sum(), d_values.sum()); });
    d_keys.finish();
    d_values.finish();
}

}  // namespace sextant::cpu
