// Attention, where the device has no operation of its own for it: holds a block of scores at a time, see backend/cpu/attention.cpp. Queries
// and results lie [samples x queries, heads x width], keys and values [samples x keys, kv_heads x width].
#pragma once

#include "backend/kernels/alibi.hpp"
#include "backend/kernels/attention_parts.hpp"
#include "backend/kernels/product.hpp"
#include "backend/kernels/rows.hpp"

#include <algorithm>

namespace sextant::kernels {

// The scores [kv_heads, queries, keys] of a block: of one query head for each key-value head (a HeadBatch), some neighbouring queries, and
// the keys that any of them sees. Row r is that of head r / queries and query r % queries.
struct ScoreRows {
    float* scores;
    std::int64_t queries, keys, first_query, first_key;  // of the block
    std::int64_t query_len, key_len, window;
    bool causal;
    ContextCut context;
    float* lse;                // logs of the sums of exponentials, by query, of the batch's first head
    std::int64_t head_stride;  // from there to those of its next head

    [[nodiscard]] SEXTANT_KERNEL KeyRange range(std::int64_t row) const {
        const KeyRange r = visible_keys(first_query + row % queries, query_len, key_len, causal, window, context);
        return {r.begin - first_key, r.end - first_key};
    }
    [[nodiscard]] SEXTANT_KERNEL float& log_sum(std::int64_t row) const {
        return lse[row / queries * head_stride + first_query + row % queries];
    }
};

struct AddAlibi {
    ScoreRows s;
    AlibiBias bias;
    std::int64_t shared, sharing;  // as in HeadBatch
    SEXTANT_KERNEL void operator()(std::int64_t row, std::int64_t key) const {
        const std::int64_t beside = key_beside(s.first_query + row % s.queries, s.query_len, s.key_len, s.context);
        s.scores[row * s.keys + key] -= bias.penalty(row / s.queries * sharing + shared, beside, s.first_key + key);
    }
};

// Scores become probabilities, and the log of each row's sum of exponentials is kept. In fp32 they stay where they are.
template <class T>
struct AttentionSoftmax {
    ScoreRows s;
    T* probabilities;

    template <class Lanes>
    SEXTANT_KERNEL void operator()(const Lanes& lanes, std::int64_t row) const {
        const KeyRange r = s.range(row);
        const float* scores = s.scores + row * s.keys;
        float largest = lowest, sum = 0;
        for (std::int64_t j = r.begin + lanes.first(); j < r.end; j += lanes.step()) largest = scores[j] > largest ? scores[j] : largest;
        largest = lanes.max(largest);
        for (std::int64_t j = r.begin + lanes.first(); j < r.end; j += lanes.step()) sum += expf(scores[j] - largest);
        sum = lanes.sum(sum);
        const float factor = 1 / sum;
        put_row(lanes, s.keys, probabilities + row * s.keys,
                [&](std::int64_t j) { return j >= r.begin && j < r.end ? expf(scores[j] - largest) * factor : 0; });
        if (lanes.first() == 0) s.log_sum(row) = largest + logf(sum);
    }
};

// Scores become probabilities by the sums that forward kept, and the gradients of probabilities those of scores:
// ds = p (dp - sum over keys of p dp), where that sum is out . d_out of the row. In fp32 both stay where they are.
template <class T>
struct AttentionGradient {
    ScoreRows s;
    const float* gradients;
    T *probabilities, *score_gradients;
    const T *out, *d_out;  // the results of the batch's first query, and their gradients
    std::int64_t width, pitch, between_heads;

    template <class Lanes>
    SEXTANT_KERNEL void operator()(const Lanes& lanes, std::int64_t row) const {
        const KeyRange r = s.range(row);
        const std::int64_t at = row / s.queries * between_heads + (s.first_query + row % s.queries) * pitch;
        const float *scores = s.scores + row * s.keys, *gradient = gradients + row * s.keys;
        float dot = 0;
        for (std::int64_t i = lanes.first(); i < width; i += lanes.step()) dot += out[at + i] * d_out[at + i];
        dot = lanes.sum(dot);
        const float log_sum = s.log_sum(row);
        T *p = probabilities + row * s.keys, *ds = score_gradients + row * s.keys;
        for_row(
            lanes, s.keys,
            [&](std::int64_t j) {
                const float probability = j >= r.begin && j < r.end ? expf(scores[j] - log_sum) : 0;
                return FloatPair{probability, probability * (gradient[j] - dot)};
            },
            [&](std::int64_t j, const FloatPair& made) {
                p[j] = made.first;
                ds[j] = made.second;
            });
    }
};

// Runs attention block by block, as ScoreRows says.
template <class T, class Machine>
class AttentionBlocks {
public:
    AttentionBlocks(Machine& machine, const Attention& a, const OperatorCall& c)
        : machine_(machine),
          a_(a),
          c_(c),
          slice_(a.query_len / c.place.context.slices()),
          scale_(1 / std::sqrt(static_cast<float>(a.head_dim))) {}

    void forward() {
        const Array scores = machine_.scratch(most_scores()), rounded = room_beside(scores);
        for_each_block(scores, [&](const HeadBatch& h, const ScoreRows& s) {
            multiply_scores(h, scores, s);
            machine_.rows(a_.kv_heads * s.queries, s.keys, AttentionSoftmax<T>{s, rounded.as<T>()});
            machine_.multiply({by_keys(rounded, s), values(h, c_.inputs[2], s), results(h, c_.outputs[0], s), a_.kv_heads});
        });
    }

    void backward() {
        WideSum<T, Machine> d_keys(machine_, c_.input_gradients[1], true), d_values(machine_, c_.input_gradients[2], true);
        for (const auto* sum : {&d_keys, &d_values}) machine_.clear(sum->sum().reals(), sum->sum().elements);
        const Array scores = machine_.scratch(most_scores()), gradients = machine_.scratch(most_scores());
        const Array probabilities = room_beside(scores), score_gradients = room_beside(gradients);
        for_each_block(scores, [&](const HeadBatch& h, const ScoreRows& s) {
            const Matrices p = by_keys(probabilities, s), ds = by_keys(score_gradients, s), d_out = results(h, c_.output_gradients[0], s);
            const Matrices whole = h.of_queries(c_.outputs[0], a_.query_len, a_.value_dim);
            const Matrices d_whole = h.of_queries(c_.output_gradients[0], a_.query_len, a_.value_dim);
            multiply_scores(h, scores, s);
            machine_.multiply({d_out, values(h, c_.inputs[2], s).transpose(), by_keys(gradients, s), a_.kv_heads});
            machine_.rows(a_.kv_heads * s.queries, s.keys,
                          AttentionGradient<T>{s, gradients.reals(), probabilities.as<T>(), score_gradients.as<T>(),
                                               reinterpret_cast<const T*>(whole.data), reinterpret_cast<const T*>(d_whole.data),
                                               a_.value_dim, whole.pitch, whole.stride});
            machine_.multiply({ds, keys(h, c_.inputs[1], s), queries(h, c_.input_gradients[0], s), a_.kv_heads, scale_});
            machine_.multiply({ds.transpose(), queries(h, c_.inputs[0], s), keys(h, d_keys.sum(), s), a_.kv_heads, scale_, 1});
            machine_.multiply({p.transpose(), d_out, values(h, d_values.sum(), s), a_.kv_heads, 1, 1});
        });
        d_keys.finish();
        d_values.finish();
    }

private:
    // A block holds about so many scores, 64 MiB in fp32, but at least so many queries, however many keys these see.
    static constexpr std::int64_t scores_at_once = std::int64_t{1} << 24, least_queries = 64;

    [[nodiscard]] std::int64_t queries_at_once() const {
        return std::min(slice_, std::max(least_queries, scores_at_once / (a_.kv_heads * a_.key_len)));
    }
    [[nodiscard]] std::int64_t most_scores() const { return a_.kv_heads * queries_at_once() * a_.key_len; }

    template <class Work>
    void for_each_block(const Array& scores, const Work& work) {
        for_each_batch_of_a_group(a_.batch, a_.heads, a_.kv_heads, [&](const HeadBatch& h) {
            for (std::int64_t q = 0, count = 0; q < a_.query_len; q += count) {
                count = std::min(queries_at_once(), slice_ - q % slice_);
                const std::int64_t begin = visible(q).begin, end = visible(q + count - 1).end;
                float* lse = c_.outputs[1].reals() + h.first_head() * a_.query_len;
                work(h, ScoreRows{scores.reals(), count, end - begin, q, begin, a_.query_len, a_.key_len, a_.window, a_.causal,
                                  c_.place.context, lse, h.sharing * a_.query_len});
            }
        });
    }
    [[nodiscard]] KeyRange visible(std::int64_t query) const {
        return visible_keys(query, a_.query_len, a_.key_len, a_.causal, a_.window, c_.place.context);
    }
    void multiply_scores(const HeadBatch& h, const Array& scores, const ScoreRows& s) {
        machine_.multiply({queries(h, c_.inputs[0], s), keys(h, c_.inputs[1], s).transpose(), by_keys(scores, s), a_.kv_heads, scale_});
        if (!a_.alibi) return;
        const AlibiBias bias = alibi_bias(c_.place, a_.heads, a_.value_dim);
        machine_.matrix(a_.kv_heads * s.queries, s.keys, AddAlibi{s, bias, h.first, h.sharing});
    }
    // Room for what is made in fp32 and multiplied in 16 bits; in fp32 the same.
    Array room_beside(const Array& made) {
        const Element element = c_.inputs[0].element;
        return element == Element::real ? made : machine_.scratch(made.elements, element);
    }

    static Matrices by_keys(const Array& a, const ScoreRows& s) { return {a, s.queries, s.keys, s.keys, s.queries * s.keys, 0}; }
    Matrices queries(const HeadBatch& h, const Array& x, const ScoreRows& s) const {
        return h.of_queries(x, a_.query_len, a_.head_dim).some_rows(s.first_query, s.queries);
    }
    Matrices results(const HeadBatch& h, const Array& x, const ScoreRows& s) const {
        return h.of_queries(x, a_.query_len, a_.value_dim).some_rows(s.first_query, s.queries);
    }
    Matrices keys(const HeadBatch& h, const Array& x, const ScoreRows& s) const {
        return h.of_keys(x, a_.key_len, a_.head_dim).some_rows(s.first_key, s.keys);
    }
    Matrices values(const HeadBatch& h, const Array& x, const ScoreRows& s) const {
        return h.of_keys(x, a_.key_len, a_.value_dim).some_rows(s.first_key, s.keys);
    }

    Machine& machine_;
    const Attention& a_;
    const OperatorCall& c_;
    std::int64_t slice_;  // queries that are neighbours in the sequence
    float scale_;
};

// By an operation that the device has for it, part by part. False: it has none for one of the parts, and all is to be done in another way.
template <class Machine>
bool attend(Machine& m, const Attention& a, const OperatorCall& c) {
    return !a.alibi && std::ranges::all_of(parts_of(a, c.place.context), [&](const AttentionPart& p) { return m.attend(p, c); });
}

// The same backward. Each part has gradients of the keys and values that it sees; those of all parts are added.
template <class T, class Machine>
bool attend_back(Machine& m, const Attention& a, const OperatorCall& c) {
    if (a.alibi) return false;
    const std::span<const Array> sums = c.input_gradients.subspan(1);
    bool is_first = true;
    for (const AttentionPart& p : parts_of(a, c.place.context)) {
        std::vector<Array> mine(sums.begin(), sums.end());
        for (Array& x : mine) {
            if (!is_first) x = m.scratch(x.elements, x.element);
            if (p.keys < a.key_len) m.clear(x.template as<T>(), x.elements);
        }
        if (!m.attend_back(p, c, mine[0], mine[1])) return false;
        if (!is_first)
            for (std::size_t i = 0; i < mine.size(); ++i)
                m.elements(sums[i].elements, AddArrays<T>{{sums[i].as<T>()}, sums[i].as<T>(), mine[i].as<T>()});
        is_first = false;
    }
    return true;
}

template <class T, class Machine>
void forward(Machine& m, const Attention& a, const OperatorCall& c) {
    if (!attend(m, a, c)) AttentionBlocks<T, Machine>(m, a, c).forward();
}
template <class T, class Machine>
void backward(Machine& m, const Attention& a, const OperatorCall& c) {
    if (!attend_back<T>(m, a, c)) AttentionBlocks<T, Machine>(m, a, c).backward();
}

}  // namespace sextant::kernels
