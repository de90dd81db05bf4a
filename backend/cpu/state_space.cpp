// Mamba-2's scan, by chunks of the sequence (arXiv 2405.21060, section 6): from chunk to chunk a state goes on, within one everything is
// products of matrices.
//
// In a chunk of L tokens let u_i be the sum of -exp(a) dt_j over j <= i, the logarithm of what the state that came in has decayed to.
//     Y = (C B^T * decay * dt) X + exp(u) C S^T + d X,  decay_ij = exp(u_i - u_j) for j <= i
//     S' = exp(u_L) S + (w X)^T B,                      w_j = exp(u_L - u_j) dt_j
#include "backend/cpu/operators.hpp"
#include "backend/cpu/reductions.hpp"
#include "model/base/ceil_divide.hpp"

#include <algorithm>
#include <cmath>

namespace sextant::cpu {
namespace {

constexpr float never = -1e30F;     // its exponential is zero
constexpr float shortest = 1e-30F;  // step, that what is divided by it stays a number

// The part of a chunk that one head has.
struct Part {
    std::int64_t sample, group, head, first, length;
};

class Scan {
public:
    Scan(Engine& engine, const StateSpaceScan& s, const OperatorCall& c)
        : engine_(engine), s_(s), c_(c), chunk_(std::min(s.chunk, s.sequence)), chunks_(ceil_divide(s.sequence, chunk_)) {
        scores_ = engine.scratch.array(chunk_ * chunk_);
        decay_ = engine.scratch.array(chunk_ * chunk_);
        mixed_ = engine.scratch.array(chunk_ * chunk_);
        weighed_ = engine.scratch.array(chunk_ * s.head_dim);
        dt_ = engine.scratch.reals(chunk_);
        log_decay_ = engine.scratch.reals(chunk_);
        kept_ = engine.scratch.reals(chunk_);
    }

    void forward() {
        states_ = engine_.scratch.array(heads_of_group() * state_size());
        for_each_group([&](std::int64_t sample, std::int64_t group) {
            for (std::int64_t k = 0; k < chunks_; ++k) {
                multiply_scores(part(sample, group, 0, k));
                for (std::int64_t h = 0; h < heads_of_group(); ++h) {
                    const Part p = part(sample, group, h, k);
                    measure_decay(p);
                    mix(p);
                    const Matrix y = rows(c_.outputs[0], p, s_.head_dim, s_.heads, p.head), x = x_of(c_.inputs[0], p);
                    from_state(p, state(h, 0), y);
                    engine_.multiply(square(mixed_, p), x, y, 1, 1);
                    const float skip = c_.weights[2].reals()[p.head];
                    for_each_row(p, [&](std::int64_t i) { add(skip, x.row<float>(i), y.row<float>(i), s_.head_dim); });
                    if (k + 1 < chunks_) advance(p, state(h, 0), state(h, 0));
                }
            }
        });
    }

    void backward() {
        for (std::size_t i = 0; i < 4; ++i) std::fill_n(gradient(i).reals(), gradient(i).elements, 0.0F);
        states_ = engine_.scratch.array(chunks_ * heads_of_group() * state_size());
        state_gradients_ = engine_.scratch.array(heads_of_group() * state_size());
        score_gradients_ = engine_.scratch.array(chunk_ * chunk_);
        by_state_ = engine_.scratch.array(chunk_ * s_.state);
        log_gradients_ = engine_.scratch.reals(chunk_);
        of_logs_ = engine_.scratch.reals(chunk_);
        later_logs_ = engine_.scratch.reals(chunk_);
        for_each_group([&](std::int64_t sample, std::int64_t group) {
            for (std::int64_t k = 0; k + 1 < chunks_; ++k)  // the states that chunks begin with are made again
                for (std::int64_t h = 0; h < heads_of_group(); ++h) {
                    const Part p = part(sample, group, h, k);
                    measure_decay(p);
                    advance(p, state(h, k), state(h, k + 1));
                }
            std::fill_n(state_gradients_.reals(), state_gradients_.elements, 0.0F);
            for (std::int64_t k = chunks_; k-- > 0;) {
                multiply_scores(part(sample, group, 0, k));
                for (std::int64_t h = 0; h < heads_of_group(); ++h)
                    backward(part(sample, group, h, k), state(h, k), state_gradients_.part(h * state_size(), state_size()));
            }
        });
    }

private:
    [[nodiscard]] std::int64_t heads_of_group() const { return s_.heads / s_.groups; }
    [[nodiscard]] std::int64_t state_size() const { return s_.head_dim * s_.state; }
    [[nodiscard]] Part part(std::int64_t sample, std::int64_t group, std::int64_t head, std::int64_t chunk) const {
        const std::int64_t first = chunk * chunk_;
        return {sample, group, group * heads_of_group() + head, first, std::min(chunk_, s_.sequence - first)};
    }
    template <class Work>
    void for_each_group(const Work& work) {
        for (std::int64_t sample = 0; sample < s_.batch; ++sample)
            for (std::int64_t group = 0; group < s_.groups; ++group) {
                std::fill_n(states_.reals(), heads_of_group() * state_size(), 0.0F);
                work(sample, group);
            }
    }
    template <class Work>
    static void for_each_row(const Part& p, const Work& work) {
        for (std::int64_t i = 0; i < p.length; ++i) work(i);
    }
    static void add(float factor, const float* from, float* to, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) to[i] += factor * from[i];
    }

    // Where they are.
    [[nodiscard]] Matrix rows(const Array& a, const Part& p, std::int64_t width, std::int64_t heads, std::int64_t head) const {
        return head_of(a, p.sample, head, s_.sequence, width, heads).some_rows(p.first, p.length);
    }
    [[nodiscard]] Matrix x_of(const Array& a, const Part& p) const { return rows(a, p, s_.head_dim, s_.heads, p.head); }
    [[nodiscard]] Matrix shared_of(const Array& a, const Part& p) const { return rows(a, p, s_.state, s_.groups, p.group); }
    [[nodiscard]] std::int64_t step_at(const Part& p, std::int64_t i) const {
        return (p.sample * s_.sequence + p.first + i) * s_.heads + p.head;
    }
    [[nodiscard]] static Matrix square(const Array& a, const Part& p) { return {a, p.length, p.length}; }
    [[nodiscard]] Array state(std::int64_t head, std::int64_t chunk) const {
        return states_.part((chunk * heads_of_group() + head) * state_size(), state_size());
    }
    [[nodiscard]] Matrix matrix(const Array& state) const { return {state, s_.head_dim, s_.state}; }
    [[nodiscard]] const Array& gradient(std::size_t input) const { return c_.input_gradients[input]; }

    // C B^T, of all heads of a group.
    void multiply_scores(const Part& p) {
        engine_.multiply(shared_of(c_.inputs[2], p), shared_of(c_.inputs[1], p).transpose(), square(scores_, p));
    }
    // Steps, their sums, and what the state and each token keep until the chunk ends.
    void measure_decay(const Part& p) {
        const float rate = std::exp(c_.weights[0].reals()[p.head]), bias = c_.weights[1].reals()[p.head];
        float sum = 0;
        for_each_row(p, [&](std::int64_t i) {
            const float raw = c_.inputs[3].reals()[step_at(p, i)] + bias;
            dt_[i] = raw > 20 ? raw : std::max(shortest, std::log1p(std::exp(raw)));
            sum -= rate * dt_[i];
            log_decay_[i] = sum;
        });
        for_each_row(p, [&](std::int64_t i) { kept_[i] = std::exp(sum - log_decay_[i]) * dt_[i]; });
    }
    [[nodiscard]] float end_decay(const Part& p) const { return std::exp(log_decay_[p.length - 1]); }

    // decay, and scores * decay * dt.
    void mix(const Part& p) {
        float* decay = decay_.reals();
        for_each_row(p, [&](std::int64_t i) {
            float* row = decay + i * p.length;
            for (std::int64_t j = 0; j <= i; ++j) row[j] = log_decay_[i] - log_decay_[j];
            std::fill(row + i + 1, row + p.length, never);
        });
        engine_.apply(Curve::exp, decay, decay, p.length * p.length);
        for_each_row(p, [&](std::int64_t i) {
            const float *row = decay + i * p.length, *score = scores_.reals() + i * p.length;
            float* to = mixed_.reals() + i * p.length;
            for (std::int64_t j = 0; j < p.length; ++j) to[j] = score[j] * row[j] * dt_[j];
        });
    }
    // exp(u) C S^T
    void from_state(const Part& p, const Array& state, const Matrix& y) {
        engine_.multiply(shared_of(c_.inputs[2], p), matrix(state).transpose(), y);
        for_each_row(p, [&](std::int64_t i) {
            const float factor = std::exp(log_decay_[i]);
            float* row = y.row<float>(i);
            for (std::int64_t e = 0; e < s_.head_dim; ++e) row[e] *= factor;
        });
    }
    // Rows of x, each times its factor.
    template <class Factor>
    Matrix weigh(const Part& p, const Matrix& x, const Factor& factor) {
        const Matrix to(weighed_, p.length, s_.head_dim);
        for_each_row(p, [&](std::int64_t i) {
            const float f = factor(i), *from = x.row<float>(i);
            float* row = to.row<float>(i);
            for (std::int64_t e = 0; e < s_.head_dim; ++e) row[e] = f * from[e];
        });
        return to;
    }
    // `after` may be `before`.
    void advance(const Part& p, const Array& before, const Array& after) {
        const float decay = end_decay(p);
        for (std::int64_t i = 0; i < state_size(); ++i) after.reals()[i] = decay * before.reals()[i];
        const Matrix x = weigh(p, x_of(c_.inputs[0], p), [&](std::int64_t i) { return kept_[i]; });
        engine_.multiply(x.transpose(), shared_of(c_.inputs[1], p), matrix(after), 1, 1);
    }

    // `later`: the gradient of the state that the chunk leaves, which becomes that of the one it begins with.
    void backward(const Part& p, const Array& before, const Array& later) {
        measure_decay(p);
        mix(p);
        std::fill_n(log_gradients_, p.length, 0.0F);
        const Matrix fading = weigh(p, dy_of(p), [&](std::int64_t i) { return std::exp(log_decay_[i]); });
        backward_from_state(p, before, fading);
        backward_to_state(p, before, later, fading);
        backward_within(p);
        backward_skip(p);
        finish_steps(p);
    }
    [[nodiscard]] Matrix dy_of(const Part& p) const { return x_of(c_.output_gradients[0], p); }
    [[nodiscard]] Matrix dx_of(const Part& p) const { return x_of(gradient(0), p); }
    [[nodiscard]] Matrix by_state(const Part& p) const { return {by_state_, p.length, s_.state}; }

    // Of what the chunk reads from the state that it begins with: y = exp(u) S c.
    void backward_from_state(const Part& p, const Array& before, const Matrix& fading) {
        const Matrix c = shared_of(c_.inputs[2], p), dc = shared_of(gradient(2), p), read = by_state(p);
        engine_.multiply(fading, matrix(before), read);
        for_each_row(p, [&](std::int64_t i) {
            log_gradients_[i] += dot_of(read.row<float>(i), c.row<float>(i), s_.state);
            add(1, read.row<float>(i), dc.row<float>(i), s_.state);
        });
    }
    // Of the state that the chunk leaves, which has decayed and has taken in w x b^T.
    void backward_to_state(const Part& p, const Array& before, const Array& later, const Matrix& fading) {
        const Matrix x = x_of(c_.inputs[0], p), dx = dx_of(p), b = shared_of(c_.inputs[1], p), db = shared_of(gradient(1), p);
        const Matrix taken = by_state(p);
        float* d_steps = gradient(3).reals();
        const std::int64_t last = p.length - 1;
        const float decay = end_decay(p);
        log_gradients_[last] += decay * dot_of(later.reals(), before.reals(), state_size());
        engine_.multiply(b, matrix(later).transpose(), dx);
        engine_.multiply(x, matrix(later), taken);
        for_each_row(p, [&](std::int64_t j) {
            const float whole = dot_of(taken.row<float>(j), b.row<float>(j), s_.state);
            d_steps[step_at(p, j)] += whole * (kept_[j] / dt_[j]);
            log_gradients_[last] += whole * kept_[j];
            log_gradients_[j] -= whole * kept_[j];
            add(kept_[j], taken.row<float>(j), db.row<float>(j), s_.state);
            float* row = dx.row<float>(j);
            for (std::int64_t e = 0; e < s_.head_dim; ++e) row[e] *= kept_[j];
        });
        for (std::int64_t i = 0; i < state_size(); ++i) later.reals()[i] *= decay;
        engine_.multiply(fading.transpose(), shared_of(c_.inputs[2], p), matrix(later), 1, 1);
    }
    // Of what the tokens of the chunk read from each other.
    void backward_within(const Part& p) {
        const Matrix x = x_of(c_.inputs[0], p), dy = dy_of(p), scores = square(score_gradients_, p);
        float* d_steps = gradient(3).reals();
        std::fill_n(later_logs_, p.length, 0.0F);
        engine_.multiply(square(mixed_, p).transpose(), dy, dx_of(p), 1, 1);
        engine_.multiply(dy, x.transpose(), scores);
        for_each_row(p, [&](std::int64_t i) {
            float* of_score = score_gradients_.reals() + i * p.length;
            const float *mixed = mixed_.reals() + i * p.length, *fades = decay_.reals() + i * p.length;
            for (std::int64_t j = 0; j <= i; ++j) {
                of_logs_[j] = of_score[j] * mixed[j];
                later_logs_[j] += of_logs_[j];
                of_score[j] *= fades[j] * dt_[j];
            }
            std::fill(of_score + i + 1, of_score + p.length, 0.0F);
            log_gradients_[i] += sum_of(of_logs_, i + 1);
        });
        for_each_row(p, [&](std::int64_t j) {
            log_gradients_[j] -= later_logs_[j];
            d_steps[step_at(p, j)] += later_logs_[j] / dt_[j];
        });
        engine_.multiply(scores, shared_of(c_.inputs[1], p), shared_of(gradient(2), p), 1, 1);
        engine_.multiply(scores.transpose(), shared_of(c_.inputs[2], p), shared_of(gradient(1), p), 1, 1);
    }
    // Of the part of each token that goes past the state: d x.
    void backward_skip(const Part& p) {
        const Matrix x = x_of(c_.inputs[0], p), dy = dy_of(p), dx = dx_of(p);
        const float skip = c_.weights[2].reals()[p.head];
        float of_skip = 0;
        for_each_row(p, [&](std::int64_t i) {
            of_skip += dot_of(dy.row<float>(i), x.row<float>(i), s_.head_dim);
            add(skip, dy.row<float>(i), dx.row<float>(i), s_.head_dim);
        });
        c_.weight_gradients[2].reals()[p.head] += of_skip;
    }
    // From the gradients of u and of dt to those of the raw steps and of a and b.
    void finish_steps(const Part& p) {
        const float rate = std::exp(c_.weights[0].reals()[p.head]);
        float* d_steps = gradient(3).reals();
        float later = 0, of_rate = 0, of_bias = 0;
        for (std::int64_t j = p.length; j-- > 0;) {
            later += log_gradients_[j];
            of_rate -= dt_[j] * later;
            float& d = d_steps[step_at(p, j)];
            d = (d - rate * later) * (1 - std::exp(-dt_[j]));  // softplus' of raw is 1 - exp(-softplus(raw))
            of_bias += d;
        }
        c_.weight_gradients[0].reals()[p.head] += rate * of_rate;
        c_.weight_gradients[1].reals()[p.head] += of_bias;
    }

    Engine& engine_;
    const StateSpaceScan& s_;
    const OperatorCall& c_;
    std::int64_t chunk_, chunks_;
    Array scores_, decay_, mixed_, weighed_, states_;
    Array state_gradients_, score_gradients_, by_state_;
    float *dt_ = nullptr, *log_decay_ = nullptr, *kept_ = nullptr, *log_gradients_ = nullptr;
    float* __restrict of_logs_ = nullptr, * __restrict later_logs_ = nullptr;  // of the pairs of a token, and of those behind one
};

}  // namespace

void forward(Engine& engine, const StateSpaceScan& s, const OperatorCall& c) { Scan(engine, s, c).forward(); }
void backward(Engine& engine, const StateSpaceScan& s, const OperatorCall& c) { Scan(engine, s, c).backward(); }

}  // namespace sextant::cpu
