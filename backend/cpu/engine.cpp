#include "backend/cpu/engine.hpp"

#include <algorithm>
#include <utility>

namespace sextant::cpu {
namespace {

dnnl::algorithm forward_algorithm(Curve c) {
    switch (c) {
        case Curve::gelu:
            return dnnl::algorithm::eltwise_gelu_erf;
        case Curve::silu:
            return dnnl::algorithm::eltwise_swish;
        case Curve::sigmoid:
            return dnnl::algorithm::eltwise_logistic;
        case Curve::tanh:
            return dnnl::algorithm::eltwise_tanh;
        case Curve::exp:
            break;
    }
    return dnnl::algorithm::eltwise_exp;
}

dnnl::algorithm backward_algorithm(Curve c) {
    if (c == Curve::sigmoid) return dnnl::algorithm::eltwise_logistic_use_dst_for_bwd;
    if (c == Curve::tanh) return dnnl::algorithm::eltwise_tanh_use_dst_for_bwd;
    return forward_algorithm(c);
}

constexpr float swish_beta = 1;  // silu; the other functions have no parameter

dnnl::eltwise_forward::primitive_desc describe(const dnnl::engine& engine, dnnl::algorithm a, const dnnl::memory::desc& d) {
    return {{dnnl::prop_kind::forward_training, a, d, swish_beta, 0}, engine};
}

dnnl::memory::desc vector_of(std::int64_t count) { return {{count}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a}; }

}  // namespace

Matrix Matrix::turned() const {
    Matrix t = *this;
    std::swap(t.rows, t.columns);
    t.transposed = !transposed;
    return t;
}

// Rows of a turned matrix that are a multiple of 2 KiB apart fall into a few sets of a core's caches, and where the result is narrow oneDNN
// does not pack them first: no more rows are summed over at a time than the sets hold. So weight gradients of 1024 x 256 take 0.7 times as
// long (Xeon with AVX-512, oneDNN 2.6).
void multiply(const Matrix& a, const Matrix& b, const Matrix& c, float scale, float keep) {
    constexpr std::int64_t few_sets = 2048 / sizeof(float), packed_width = 1024, rows_at_a_time = 192;
    const bool crowded = a.transposed && a.pitch % few_sets == 0 && c.columns < packed_width;
    const std::int64_t step = crowded ? rows_at_a_time : a.columns;
    for (std::int64_t k = 0; k < a.columns; k += step) {
        const float *first = a.data + (a.transposed ? k * a.pitch : k), *second = b.data + (b.transposed ? k : k * b.pitch);
        const auto status =
            dnnl::sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', c.rows, c.columns, std::min(step, a.columns - k), scale, first,
                        a.pitch, second, b.pitch, k == 0 ? keep : 1, c.data, c.pitch);
        dnnl::error::wrap_c_api(static_cast<dnnl_status_t>(status), "refused a product of matrices");
    }
}

float* Scratch::reals(std::int64_t count) {
    if (used_ == blocks_.size()) blocks_.emplace_back();
    std::vector<float>& block = blocks_[used_++];
    if (block.size() < static_cast<std::size_t>(count)) block.resize(static_cast<std::size_t>(count));
    return block.data();
}

Engine::Engine() : engine(dnnl::engine::kind::cpu, 0), stream(engine) {}

dnnl::memory Engine::wrap(const dnnl::memory::desc& d, const float* data) const {
    return {d, engine, const_cast<float*>(data)};  // oneDNN does not say which of its arguments it only reads
}

void Engine::apply(Curve curve, const float* x, float* y, std::int64_t count) {
    const dnnl::memory::desc d = vector_of(count);
    auto& primitive = cached<dnnl::eltwise_forward>("curve", {static_cast<std::int64_t>(curve), count},
                                                    [&] { return dnnl::eltwise_forward(describe(engine, forward_algorithm(curve), d)); });
    primitive.execute(stream, {{DNNL_ARG_SRC, wrap(d, x)}, {DNNL_ARG_DST, wrap(d, y)}});
}

void Engine::differentiate(Curve curve, const float* kept, const float* dy, float* dx, std::int64_t count) {
    const dnnl::memory::desc d = vector_of(count);
    const bool of_output = curve == Curve::sigmoid || curve == Curve::tanh;
    auto& primitive = cached<dnnl::eltwise_backward>("curve gradient", {static_cast<std::int64_t>(curve), count}, [&] {
        const auto forward = describe(engine, backward_algorithm(curve), d);
        return dnnl::eltwise_backward({{backward_algorithm(curve), d, d, swish_beta, 0}, engine, forward});
    });
    primitive.execute(
        stream,
        {{of_output ? DNNL_ARG_DST : DNNL_ARG_SRC, wrap(d, kept)}, {DNNL_ARG_DIFF_DST, wrap(d, dy)}, {DNNL_ARG_DIFF_SRC, wrap(d, dx)}});
}

}  // namespace sextant::cpu
