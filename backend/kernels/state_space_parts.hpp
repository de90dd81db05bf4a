// The parts of Mamba-2's scan that are no products of matrices; see state_space.hpp. Of rows of scores, one for each head
// and token of a chunk with all tokens of it, row r is that of head r / length and token r % length.
#pragma once

#include "backend/kernels/product.hpp"

namespace sextant::kernels {

// Of the tokens of a chunk, from its first one on.
struct ChunkSteps {
    const float *dt, *log_decay;          // [tokens, heads]; log_decay: u, of the state that came in
    std::int64_t heads, sharing, length;  // sharing: heads of a group

    [[nodiscard]] SEXTANT_KERNEL float step(std::int64_t i, std::int64_t head) const { return dt[i * heads + head]; }
    [[nodiscard]] SEXTANT_KERNEL float log(std::int64_t i, std::int64_t head) const { return log_decay[i * heads + head]; }
    [[nodiscard]] SEXTANT_KERNEL float fading(std::int64_t i, std::int64_t head) const { return expf(log(i, head)); }
    [[nodiscard]] SEXTANT_KERNEL float kept_of_step(std::int64_t i, std::int64_t head) const {
        return expf(log(length - 1, head) - log(i, head));
    }
    [[nodiscard]] SEXTANT_KERNEL float kept(std::int64_t i, std::int64_t head) const { return kept_of_step(i, head) * step(i, head); }
    // What a score of token i with token j is multiplied by.
    [[nodiscard]] SEXTANT_KERNEL float factor(std::int64_t i, std::int64_t j, std::int64_t head) const {
        return j <= i ? expf(log(i, head) - log(j, head)) * step(j, head) : 0;
    }
    // Of a score [groups, tokens, tokens] of the head's group.
    [[nodiscard]] SEXTANT_KERNEL std::int64_t score(std::int64_t head, std::int64_t i, std::int64_t j) const {
        return (head / sharing * length + i) * length + j;
    }
};

template <class T>
struct MeasureSteps {
    const T *raw, *rate, *bias;
    float *dt, *log_decay;
    std::int64_t heads, sequence, chunk, chunks;

    SEXTANT_KERNEL void operator()(std::int64_t at, std::int64_t head) const {
        constexpr float shortest = 1e-30F;  // that what is divided by it stays a number
        const std::int64_t begin = at % chunks * chunk, end = begin + chunk < sequence ? begin + chunk : sequence;
        const float a = expf(rate[head]);
        float sum = 0;
        for (std::int64_t t = begin; t < end; ++t) {
            const std::int64_t i = (at / chunks * sequence + t) * heads + head;
            const float x = raw[i] + bias[head], step = x > 20 ? x : fmaxf(shortest, log1pf(expf(x)));
            dt[i] = step;
            sum -= a * step;
            log_decay[i] = sum;
        }
    }
};

template <class T>
struct MixScores {
    ChunkSteps s;
    const float* scores;
    T* mixed;
    SEXTANT_KERNEL void operator()(std::int64_t row, std::int64_t j) const {
        const std::int64_t head = row / s.length, i = row % s.length;
        mixed[row * s.length + j] = s.factor(i, j, head) * scores[s.score(head, i, j)];
    }
};

enum class TokenFactor : std::uint8_t { fading, kept };

// Tokens of [tokens, heads x head_dim], each times a factor of its head.
template <class From, class To>
struct WeighTokens {
    TokenFactor factor;
    ChunkSteps s;
    const From* from;
    To* to;
    std::int64_t head_dim;
    SEXTANT_KERNEL void operator()(std::int64_t i, std::int64_t e) const {
        const std::int64_t at = i * s.heads * head_dim + e;
        to[at] = (factor == TokenFactor::kept ? s.kept(i, e / head_dim) : s.fading(i, e / head_dim)) * from[at];
    }
};

template <class T>
struct AddSkip {
    const float* sums;
    const T *from, *skip;
    T* to;
    std::int64_t width, head_dim;
    SEXTANT_KERNEL void operator()(std::int64_t i, std::int64_t e) const {
        to[i * width + e] = sums[i * width + e] + skip[e / head_dim] * from[i * width + e];
    }
};

// States of `size` numbers, over the whole chunk.
struct DecayStates {
    ChunkSteps s;
    const float* before;
    float* after;
    std::int64_t size;
    SEXTANT_KERNEL void operator()(std::int64_t head, std::int64_t i) const {
        after[head * size + i] = s.fading(s.length - 1, head) * before[head * size + i];
    }
};

// Of u and of dt, [tokens, heads].
struct ChunkGradients {
    ChunkSteps s;
    float *log, *step;
};

// The first to be found. came: [tokens, heads, state], exp(u) dy S, whose product with C is dy y; leaves: x dS'.
template <class T>
struct StateGradients {
    ChunkGradients d;
    const float *came, *leaves;
    const T *b, *c;
    std::int64_t state;

    template <class Lanes>
    SEXTANT_KERNEL void operator()(const Lanes& lanes, std::int64_t row) const {
        const std::int64_t i = row / d.s.heads, head = row % d.s.heads, group = head / d.s.sharing;
        const std::int64_t shared = (i * (d.s.heads / d.s.sharing) + group) * state;
        float in = 0, out = 0;
        for (std::int64_t n = lanes.first(); n < state; n += lanes.step()) {
            in += came[row * state + n] * c[shared + n];
            out += leaves[row * state + n] * b[shared + n];
        }
        in = lanes.sum(in);
        out = lanes.sum(out);
        if (lanes.first() != 0) return;
        d.log[row] = in - out * d.s.kept(i, head);
        d.step[row] = out * d.s.kept_of_step(i, head);
    }
};

// What leaves a chunk has decayed to its end. Reads what StateGradients made of the steps.
struct EndGradients {
    ChunkGradients d;
    const float *before, *later;  // states, and the gradients of those that leave
    std::int64_t size;

    template <class Lanes>
    SEXTANT_KERNEL void operator()(const Lanes& lanes, std::int64_t head) const {
        float of_state = 0, of_tokens = 0;
        for (std::int64_t i = lanes.first(); i < size; i += lanes.step()) of_state += later[head * size + i] * before[head * size + i];
        for (std::int64_t j = lanes.first(); j < d.s.length; j += lanes.step())
            of_tokens += d.step[j * d.s.heads + head] * d.s.step(j, head);
        const std::int64_t last = d.s.length - 1;
        const float sum = lanes.sum(d.s.fading(last, head) * of_state + of_tokens);
        if (lanes.first() == 0) d.log[last * d.s.heads + head] += sum;
    }
};

// To the gradients of C and B, [tokens, groups x state].
struct SumOverHeads {
    ChunkSteps s;
    const float *came, *leaves;
    float *dc, *db;
    std::int64_t state;
    SEXTANT_KERNEL void operator()(std::int64_t i, std::int64_t at) const {
        const std::int64_t first = at / state * s.sharing, groups = s.heads / s.sharing;
        float in = 0, out = 0;
        for (std::int64_t head = first; head < first + s.sharing; ++head) {
            const std::int64_t from = (i * s.heads + head) * state + at % state;
            in += came[from];
            out += s.kept(i, head) * leaves[from];
        }
        dc[i * groups * state + at] = in;
        db[i * groups * state + at] = out;
    }
};

// From the gradients of mixed scores to those of the scores, by head.
struct UnmixGradients {
    ChunkSteps s;
    float* gradients;
    SEXTANT_KERNEL void operator()(std::int64_t row, std::int64_t j) const {
        gradients[row * s.length + j] *= s.factor(row % s.length, j, row / s.length);
    }
};

// A mixed score is a score times exp(u_i - u_j) dt_j: its gradient by u_i, by -u_j, and, over dt_j, by dt_j is that of the score times it.
struct RowLogGradients {
    ChunkGradients d;
    const float *scores, *of_scores;

    template <class Lanes>
    SEXTANT_KERNEL void operator()(const Lanes& lanes, std::int64_t row) const {
        const std::int64_t length = d.s.length, head = row / length, i = row % length;
        float sum = 0;
        for (std::int64_t j = lanes.first(); j <= i; j += lanes.step()) sum += of_scores[row * length + j] * scores[d.s.score(head, i, j)];
        sum = lanes.sum(sum);
        if (lanes.first() == 0) d.log[i * d.s.heads + head] += sum;
    }
};
struct ColumnLogGradients {
    ChunkGradients d;
    const float *scores, *of_scores;
    SEXTANT_KERNEL void operator()(std::int64_t head, std::int64_t j) const {
        const std::int64_t length = d.s.length;
        float sum = 0;
        for (std::int64_t i = j; i < length; ++i) sum += of_scores[(head * length + i) * length + j] * scores[d.s.score(head, i, j)];
        d.log[j * d.s.heads + head] -= sum;
        d.step[j * d.s.heads + head] += sum / d.s.step(j, head);
    }
};

// Over the heads of each group.
template <class T>
struct SumScoreGradients {
    ChunkSteps s;
    const float* of_heads;
    T* to;
    SEXTANT_KERNEL void operator()(std::int64_t row, std::int64_t j) const {
        const std::int64_t group = row / s.length, i = row % s.length;
        float sum = 0;
        for (std::int64_t head = group * s.sharing; head < (group + 1) * s.sharing; ++head)
            sum += of_heads[(head * s.length + i) * s.length + j];
        to[row * s.length + j] = sum;
    }
};

// u_j is in every later one of its chunk, so its gradients add up from the last to the first. Of each chunk its parts of the gradients of a
// and b.
template <class T>
struct FinishSteps {
    const T* rate;
    const float *dt, *log_gradients, *step_gradients;
    T* raw_gradients;
    FloatPair* parts;  // [samples x chunks, heads]
    std::int64_t heads, sequence, chunk, chunks;

    SEXTANT_KERNEL void operator()(std::int64_t at, std::int64_t head) const {
        const std::int64_t begin = at % chunks * chunk, end = begin + chunk < sequence ? begin + chunk : sequence;
        const float a = expf(rate[head]);
        float later = 0;
        FloatPair part;
        for (std::int64_t t = end; t-- > begin;) {
            const std::int64_t i = (at / chunks * sequence + t) * heads + head;
            later += log_gradients[i];
            part.first -= a * dt[i] * later;
            const float raw = (step_gradients[i] - a * later) * (1 - expf(-dt[i]));  // softplus' is 1 - exp(-softplus)
            part.second += raw;
            raw_gradients[i] = raw;
        }
        parts[at * heads + head] = part;
    }
};

struct AddScanTotals {
    const FloatPair* totals;
    float *rate, *bias;
    SEXTANT_KERNEL void operator()(std::int64_t head) const {
        rate[head] += totals[head].first;
        bias[head] += totals[head].second;
    }
};

template <class T>
struct SkipTerm {
    const T *x, *dy;
    std::int64_t heads, head_dim;
    SEXTANT_KERNEL float operator()(std::int64_t, std::int64_t token, std::int64_t head) const {
        const std::int64_t at = (token * heads + head) * head_dim;
        float sum = 0;
        for (std::int64_t e = 0; e < head_dim; ++e) sum += x[at + e] * dy[at + e];
        return sum;
    }
};

}  // namespace sextant::kernels
