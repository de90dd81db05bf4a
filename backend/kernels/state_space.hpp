// Mamba-2's scan, chunk after chunk of the sequence; the formulas and their names are those of backend/cpu/state_space.cpp. A chunk has all
// its heads at once: those of a group, which share B and C, are a batch of matrices. What is multiplied is of the activations' type; states
// and sums are fp32.
#pragma once

#include "backend/kernels/state_space_parts.hpp"

#include <algorithm>

namespace sextant::kernels {

template <class T, class Machine>
class ChunkedScan {
public:
    ChunkedScan(Machine& machine, const StateSpaceScan& s, const OperatorCall& c)
        : m_(machine),
          s_(s),
          c_(c),
          chunk_(std::min(s.chunk, s.sequence)),
          chunks_(ceil_div(s.sequence, chunk_)),
          dt_(machine.scratch(s.batch * s.sequence * s.heads)),
          log_decay_(machine.scratch(dt_.elements)),
          scores_(machine.scratch(s.groups * chunk_ * chunk_)),
          mixed_(narrow_room(s.heads * chunk_ * chunk_)),
          weighed_(narrow_room(chunk_ * inner())),
          sums_(machine.scratch(chunk_ * inner())),
          narrow_state_(is_half(element()) ? narrow_room(states()) : Array{}) {
        m_.matrix(s.batch * chunks_, s.heads,
                  MeasureSteps<T>{c.inputs[3].as<T>(), c.weights[0].as<T>(), c.weights[1].as<T>(), dt_.reals(), log_decay_.reals(), s.heads,
                                  s.sequence, chunk_, chunks_});
    }

    void forward() {
        const Array state = m_.scratch(states());
        for_each_chunk([&](std::int64_t k, const Chunk& p) {
            mix(p);
            if (k == 0)
                m_.clear(state.reals(), state.elements);
            else
                multiply_by_state(p, narrow(state));
            for_each_group([&](std::int64_t g) {
                m_.multiply({square(mixed_, p, g), x_of(c_.inputs[0], p, g), in_chunk(sums_, p, g), sharing(), 1, k == 0 ? 0.0F : 1.0F});
            });
            add_skip(p, c_.inputs[0], c_.outputs[0]);
            if (k + 1 < chunks_) advance(p, state, state);
        });
    }

    void backward() {
        log_gradients_ = m_.scratch(dt_.elements);
        step_gradients_ = m_.scratch(dt_.elements);
        mixed_gradients_ = m_.scratch(s_.heads * chunk_ * chunk_);
        score_gradients_ = narrow_room(s_.groups * chunk_ * chunk_);
        came_ = m_.scratch(chunk_ * s_.heads * s_.state);
        leaves_ = m_.scratch(chunk_ * s_.heads * s_.state);
        const Array before = m_.scratch(chunks_ * states()), later = m_.scratch(states());
        const auto begins_with = [&](std::int64_t k) { return before.part(k * states(), states()); };
        for (std::int64_t sample = 0; sample < s_.batch; ++sample) {
            m_.clear(before.reals(), states());
            for (std::int64_t k = 0; k + 1 < chunks_; ++k) advance(chunk(sample, k), begins_with(k), begins_with(k + 1));
            m_.clear(later.reals(), states());
            for (std::int64_t k = chunks_; k-- > 0;) backward(chunk(sample, k), begins_with(k), later);
        }
        finish();
    }

private:
    // Its steps, and the first of its tokens among those of all samples.
    struct Chunk : ChunkSteps {
        std::int64_t first;
    };

    [[nodiscard]] std::int64_t sharing() const { return s_.heads / s_.groups; }
    [[nodiscard]] std::int64_t inner() const { return s_.heads * s_.head_dim; }
    [[nodiscard]] std::int64_t shared() const { return s_.groups * s_.state; }
    [[nodiscard]] std::int64_t states() const { return inner() * s_.state; }  // numbers in the states of all heads
    [[nodiscard]] Element element() const { return c_.inputs[0].element; }
    Array narrow_room(std::int64_t elements) { return m_.scratch(elements, element()); }

    [[nodiscard]] Chunk chunk(std::int64_t sample, std::int64_t k) const {
        const std::int64_t begin = k * chunk_, first = sample * s_.sequence + begin;
        return {{dt_.reals() + first * s_.heads, log_decay_.reals() + first * s_.heads, s_.heads, sharing(),
                 std::min(chunk_, s_.sequence - begin)},
                first};
    }
    template <class Work>
    void for_each_chunk(const Work& work) {
        for (std::int64_t sample = 0; sample < s_.batch; ++sample)
            for (std::int64_t k = 0; k < chunks_; ++k) work(k, chunk(sample, k));
    }
    template <class Work>
    void for_each_group(const Work& work) {
        for (std::int64_t g = 0; g < s_.groups; ++g) work(g);
    }

    // Matrices of the heads of a group: of arrays of all tokens, of a chunk's tokens, of its pairs of tokens, of states.
    [[nodiscard]] Matrices x_of(const Array& a, const Chunk& p, std::int64_t group) const {
        return {a, p.length, s_.head_dim, inner(), s_.head_dim, p.first * inner() + group * sharing() * s_.head_dim};
    }
    [[nodiscard]] Matrices shared_of(const Array& a, const Chunk& p, std::int64_t group) const {
        return {a, p.length, s_.state, shared(), 0, p.first * shared() + group * s_.state};
    }
    [[nodiscard]] Matrices in_chunk(const Array& a, const Chunk& p, std::int64_t group) const {
        return {a, p.length, s_.head_dim, inner(), s_.head_dim, group * sharing() * s_.head_dim};
    }
    [[nodiscard]] Matrices by_state(const Array& a, const Chunk& p, std::int64_t group) const {
        return {a, p.length, s_.state, s_.heads * s_.state, s_.state, group * sharing() * s_.state};
    }
    [[nodiscard]] Matrices square(const Array& a, const Chunk& p, std::int64_t group) const {
        const std::int64_t pairs = p.length * p.length;
        return {a, p.length, p.length, p.length, pairs, group * sharing() * pairs};
    }
    [[nodiscard]] Matrices state_of(const Array& a, std::int64_t group) const {
        const std::int64_t size = s_.head_dim * s_.state;
        return {a, s_.head_dim, s_.state, s_.state, size, group * sharing() * size};
    }

    Array narrow(const Array& state) {
        if (!is_half(element())) return state;
        m_.elements(states(), Convert<float, T>{{narrow_state_.as<T>()}, state.reals()});
        return narrow_state_;
    }
    // C B^T of each group, and of each head that times decay and steps.
    void mix(const Chunk& p) {
        const std::int64_t pairs = p.length * p.length;
        const auto of_groups = [&](const Array& a) { return Matrices(a, p.length, s_.state, shared(), s_.state, p.first * shared()); };
        m_.multiply(
            {of_groups(c_.inputs[2]), of_groups(c_.inputs[1]).transpose(), {scores_, p.length, p.length, p.length, pairs, 0}, s_.groups});
        m_.matrix(s_.heads * p.length, p.length, MixScores<T>{p, scores_.reals(), mixed_.as<T>()});
    }
    // exp(u) C S^T
    void multiply_by_state(const Chunk& p, const Array& state) {
        for_each_group([&](std::int64_t g) {
            m_.multiply({shared_of(c_.inputs[2], p, g), state_of(state, g).transpose(), in_chunk(sums_, p, g), sharing()});
        });
        m_.matrix(p.length, inner(), WeighTokens<float, float>{TokenFactor::fading, p, sums_.reals(), sums_.reals(), s_.head_dim});
    }
    // What was summed, and the part of each token that goes past the state.
    void add_skip(const Chunk& p, const Array& from, const Array& to) {
        const std::int64_t at = p.first * inner();
        m_.matrix(p.length, inner(),
                  AddSkip<T>{sums_.reals(), from.as<T>() + at, c_.weights[2].as<T>(), to.as<T>() + at, inner(), s_.head_dim});
    }
    // `after` may be `before`.
    void advance(const Chunk& p, const Array& before, const Array& after) {
        m_.matrix(s_.heads, s_.head_dim * s_.state, DecayStates{p, before.reals(), after.reals(), s_.head_dim * s_.state});
        m_.matrix(p.length, inner(),
                  WeighTokens<T, T>{TokenFactor::kept, p, c_.inputs[0].as<T>() + p.first * inner(), weighed_.as<T>(), s_.head_dim});
        for_each_group([&](std::int64_t g) {
            m_.multiply({in_chunk(weighed_, p, g).transpose(), shared_of(c_.inputs[1], p, g), state_of(after, g), sharing(), 1, 1});
        });
    }

    // What a chunk adds to the gradients of B and C.
    struct SharedGradients {
        WideSum<T, Machine> b, c;
    };

    // `later`: the gradient of the state that the chunk leaves, which becomes that of the one it begins with.
    void backward(const Chunk& p, const Array& before, const Array& later) {
        const std::int64_t at = p.first * s_.heads, shared_at = p.first * shared(), count = p.length * shared();
        SharedGradients d{{m_, c_.input_gradients[1].part(shared_at, count), true},
                          {m_, c_.input_gradients[2].part(shared_at, count), true}};
        const ChunkGradients steps{p, log_gradients_.reals() + at, step_gradients_.reals() + at};
        mix(p);
        backward_through_states(p, steps, before, later, d);
        backward_within(p, steps, d);
        d.b.finish();
        d.c.finish();
    }
    // Of what the chunk reads from the state that it begins with, and of what it puts into the one that it leaves.
    void backward_through_states(const Chunk& p, const ChunkGradients& steps, const Array& before, const Array& later,
                                 const SharedGradients& d) {
        const Array &x = c_.inputs[0], &b = c_.inputs[1], &c = c_.inputs[2], &dy = c_.output_gradients[0];
        const std::int64_t size = s_.head_dim * s_.state, shared_at = p.first * shared();
        m_.matrix(p.length, inner(),
                  WeighTokens<T, T>{TokenFactor::fading, p, dy.as<T>() + p.first * inner(), weighed_.as<T>(), s_.head_dim});
        const Array state = narrow(before);
        for_each_group([&](std::int64_t g) {
            m_.multiply({in_chunk(weighed_, p, g), state_of(state, g), by_state(came_, p, g), sharing()});
        });
        const Array d_state = narrow(later);
        for_each_group([&](std::int64_t g) {
            m_.multiply({x_of(x, p, g), state_of(d_state, g), by_state(leaves_, p, g), sharing()});
            m_.multiply({shared_of(b, p, g), state_of(d_state, g).transpose(), in_chunk(sums_, p, g), sharing()});
        });
        m_.rows(p.length * s_.heads, s_.state,
                StateGradients<T>{steps, came_.reals(), leaves_.reals(), b.as<T>() + shared_at, c.as<T>() + shared_at, s_.state});
        m_.rows(s_.heads, size, EndGradients{steps, before.reals(), later.reals(), size});
        m_.matrix(p.length, shared(), SumOverHeads{p, came_.reals(), leaves_.reals(), d.c.sum().reals(), d.b.sum().reals(), s_.state});
        m_.matrix(p.length, inner(), WeighTokens<float, float>{TokenFactor::kept, p, sums_.reals(), sums_.reals(), s_.head_dim});
        m_.matrix(s_.heads, size, DecayStates{p, later.reals(), later.reals(), size});
        for_each_group([&](std::int64_t g) {
            m_.multiply({in_chunk(weighed_, p, g).transpose(), shared_of(c, p, g), state_of(later, g), sharing(), 1, 1});
        });
    }
    // Of what the tokens of the chunk read from each other, and of the part of each that goes past the state.
    void backward_within(const Chunk& p, const ChunkGradients& steps, const SharedGradients& d) {
        const Array &x = c_.inputs[0], &b = c_.inputs[1], &c = c_.inputs[2], &dy = c_.output_gradients[0];
        for_each_group([&](std::int64_t g) {
            m_.multiply({square(mixed_, p, g).transpose(), x_of(dy, p, g), in_chunk(sums_, p, g), sharing(), 1, 1});
            m_.multiply({x_of(dy, p, g), x_of(x, p, g).transpose(), square(mixed_gradients_, p, g), sharing()});
        });
        add_skip(p, dy, c_.input_gradients[0]);
        m_.matrix(s_.heads * p.length, p.length, UnmixGradients{p, mixed_gradients_.reals()});
        m_.rows(s_.heads * p.length, p.length, RowLogGradients{steps, scores_.reals(), mixed_gradients_.reals()});
        m_.matrix(s_.heads, p.length, ColumnLogGradients{steps, scores_.reals(), mixed_gradients_.reals()});
        m_.matrix(s_.groups * p.length, p.length, SumScoreGradients<T>{p, mixed_gradients_.reals(), score_gradients_.as<T>()});
        for_each_group([&](std::int64_t g) {
            const Matrices scores(score_gradients_, p.length, p.length, g * p.length * p.length);
            const auto sum = [&](const Array& a) { return Matrices(a, p.length, s_.state, shared(), 0, g * s_.state); };
            m_.multiply({scores, shared_of(b, p, g), sum(d.c.sum()), 1, 1, 1});
            m_.multiply({scores.transpose(), shared_of(c, p, g), sum(d.b.sum()), 1, 1, 1});
        });
    }
    // From the gradients of u and of dt to those of the raw steps and of a and b; and those of d.
    void finish() {
        const std::int64_t rows = s_.batch * chunks_;
        const Array parts = m_.scratch(2 * rows * s_.heads);
        m_.matrix(rows, s_.heads,
                  FinishSteps<T>{c_.weights[0].as<T>(), dt_.reals(), log_gradients_.reals(), step_gradients_.reals(),
                                 c_.input_gradients[3].as<T>(), values_in<FloatPair>(parts), s_.heads, s_.sequence, chunk_, chunks_});
        const Array totals =
            column_totals<FloatPair>(m_, StoredTotals<FloatPair>{values_in<FloatPair>(parts), rows, s_.heads}, 1, rows, s_.heads);
        m_.elements(s_.heads, AddScanTotals{values_in<FloatPair>(totals), c_.weight_gradients[0].reals(), c_.weight_gradients[1].reals()});
        const SkipTerm<T> of_skip{c_.inputs[0].as<T>(), c_.output_gradients[0].as<T>(), s_.heads, s_.head_dim};
        const Array skips = column_totals<float>(m_, of_skip, 1, s_.batch * s_.sequence, s_.heads);
        m_.elements(s_.heads, AddElements{{c_.weight_gradients[2].reals()}, skips.reals()});
    }

    Machine& m_;
    const StateSpaceScan& s_;
    const OperatorCall& c_;
    std::int64_t chunk_, chunks_;
    Array dt_, log_decay_;  // [tokens, heads]
    Array scores_, mixed_;  // [groups, chunk, chunk], [heads, chunk, chunk]
    Array weighed_, sums_;  // [chunk, heads x head_dim]
    Array narrow_state_;    // [heads, head_dim, state]
    Array log_gradients_, step_gradients_, mixed_gradients_, score_gradients_;
    Array came_, leaves_;  // [chunk, heads x state]
};

// Bytes that a scan takes beside its arrays, but for sums by column.
inline std::int64_t scan_workspace(const StateSpaceScan& s, Element element, bool backward) {
    const std::int64_t chunk = std::min(s.chunk, s.sequence), chunks = ceil_div(s.sequence, chunk), pairs = chunk * chunk;
    const std::int64_t inner = s.heads * s.head_dim, states = inner * s.state, tokens = s.batch * s.sequence;
    std::int64_t reals = 2 * tokens * s.heads + s.groups * pairs + chunk * inner, narrow = s.heads * pairs + chunk * inner;
    if (is_half(element)) narrow += states;
    if (!backward) return (reals + states) * bytes_of(Element::real) + narrow * bytes_of(element);
    reals += 2 * tokens * s.heads + s.heads * pairs + 2 * chunk * s.heads * s.state + (chunks + 1) * states;
    if (is_half(element)) reals += 2 * chunk * s.groups * s.state;
    return reals * bytes_of(Element::real) + (narrow + s.groups * pairs) * bytes_of(element);
}

template <class T, class Machine>
void forward(Machine& m, const StateSpaceScan& s, const OperatorCall& c) {
    ChunkedScan<T, Machine>(m, s, c).forward();
}
template <class T, class Machine>
void backward(Machine& m, const StateSpaceScan& s, const OperatorCall& c) {
    ChunkedScan<T, Machine>(m, s, c).backward();
}

}  // namespace sextant::kernels
