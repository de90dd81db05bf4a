#include "tests/backend/host_machine.hpp"

#include <cmath>
#include <numeric>
#include <utility>

namespace sextant {
namespace {

// As BLAS defines it.
template <class In, class Out>
void multiply_columns(const kernels::ColumnMajor& p, std::int64_t matrix) {
    const auto at = [matrix]<class T>(const kernels::Operand& x, std::int64_t row, std::int64_t column, T) -> T& {
        return reinterpret_cast<T*>(x.data)[matrix * x.stride + (x.transpose ? column + row * x.leading : row + column * x.leading)];
    };
    for (std::int64_t i = 0; i < p.m; ++i)
        for (std::int64_t j = 0; j < p.n; ++j) {
            double sum = 0;
            for (std::int64_t k = 0; k < p.k; ++k) sum += static_cast<double>(at(p.a, i, k, In{})) * at(p.b, k, j, In{});
            Out& c = at(p.c, i, j, Out{});
            c = p.scale * static_cast<float>(sum) + (p.keep == 0 ? 0 : p.keep * c) +
                (p.bias == nullptr ? 0 : float{reinterpret_cast<const Out*>(p.bias)[i]});
        }
}

// Calls work(element of the image, of the filter, of the result) for every product of a convolution, padding as much behind as before.
template <class Work>
void for_each_product(const kernels::ConvolutionShape& s, const Work& work) {
    const std::int64_t channels = s.filter_channels(), filters = s.out_channels / s.groups;
    for (std::int64_t n = 0; n < s.batch; ++n)
        for (std::int64_t y = 0; y < s.out_h; ++y)
            for (std::int64_t x = 0; x < s.out_w; ++x)
                for (std::int64_t k = 0; k < s.out_channels; ++k)
                    for (std::int64_t r = 0; r < s.kernel_h; ++r)
                        for (std::int64_t q = 0; q < s.kernel_w; ++q) {
                            const std::int64_t row = y * s.stride - s.padding_h + r * s.dilation,
                                               column = x * s.stride - s.padding_w + q * s.dilation;
                            if (row < 0 || row >= s.in_h || column < 0 || column >= s.in_w) continue;
                            const std::int64_t from = ((n * s.in_h + row) * s.in_w + column) * s.in_channels + k / filters * channels;
                            const std::int64_t tap = ((k * s.kernel_h + r) * s.kernel_w + q) * channels;
                            for (std::int64_t c = 0; c < channels; ++c)
                                work(from + c, tap + c, ((n * s.out_h + y) * s.out_w + x) * s.out_channels + k);
                        }
}

// The rows of one head of a part: query and key are counted in the part.
struct HeadRows {
    const kernels::AttentionPart& part;
    std::int64_t sample, head;

    [[nodiscard]] const Attention& a() const { return part.whole; }
    [[nodiscard]] float* query(const Array& x, std::int64_t i, std::int64_t width) const {
        return x.reals() + ((sample * a().query_len + part.first_query + i) * a().heads + head) * width;
    }
    [[nodiscard]] float* key(const Array& x, std::int64_t j, std::int64_t width) const {
        return x.reals() + ((sample * a().key_len + j) * a().kv_heads + head / (a().heads / a().kv_heads)) * width;
    }
    [[nodiscard]] float& log_sum(const Array& x, std::int64_t i) const {
        return x.reals()[(sample * a().heads + head) * a().query_len + part.first_query + i];
    }
    // The last query stands beside the last key.
    [[nodiscard]] bool sees(std::int64_t i, std::int64_t j) const {
        const std::int64_t beside = i + part.keys - part.queries;
        return !a().causal || (j <= beside && (a().window == 0 || j > beside - a().window));
    }
    [[nodiscard]] double score(const OperatorCall& c, std::int64_t i, std::int64_t j) const {
        return dot(query(c.inputs[0], i, a().head_dim), key(c.inputs[1], j, a().head_dim), a().head_dim) * scale();
    }
    [[nodiscard]] double scale() const { return 1 / std::sqrt(static_cast<double>(a().head_dim)); }
    static double dot(const float* x, const float* y, std::int64_t count) { return std::inner_product(x, x + count, y, 0.0); }
};

template <class Work>
void for_each_row(const kernels::AttentionPart& part, const Work& work) {
    for (std::int64_t s = 0; s < part.whole.batch; ++s)
        for (std::int64_t h = 0; h < part.whole.heads; ++h)
            for (std::int64_t i = 0; i < part.queries; ++i) work(HeadRows{part, s, h}, i);
}

void add_scaled(float* to, double factor, const float* from, std::int64_t count) {
    for (std::int64_t e = 0; e < count; ++e) to[e] += static_cast<float>(factor * from[e]);
}

}  // namespace

bool HostMachine::attend(const kernels::AttentionPart& part, const OperatorCall& c) const {
    const Attention& a = part.whole;
    if (!fuses_ || (!a.causal && a.window > 0)) return false;
    for_each_row(part, [&](const HeadRows& rows, std::int64_t i) {
        double sum = 0;
        for (std::int64_t j = 0; j < part.keys; ++j) sum += rows.sees(i, j) ? std::exp(rows.score(c, i, j)) : 0;
        rows.log_sum(c.outputs[1], i) = static_cast<float>(std::log(sum));
        float* out = rows.query(c.outputs[0], i, a.value_dim);
        std::fill_n(out, a.value_dim, 0.0F);
        for (std::int64_t j = 0; j < part.keys; ++j)
            if (rows.sees(i, j)) add_scaled(out, std::exp(rows.score(c, i, j)) / sum, rows.key(c.inputs[2], j, a.value_dim), a.value_dim);
    });
    return true;
}

bool HostMachine::attend_back(const kernels::AttentionPart& part, const OperatorCall& c, const Array& d_keys, const Array& d_values) const {
    const Attention& a = part.whole;
    if (!fuses_ || (!a.causal && a.window > 0)) return false;
    for (std::int64_t s = 0; s < a.batch; ++s)  // those of the part's keys alone are written
        for (const auto& [x, width] : {std::pair(d_keys, a.kv_heads * a.head_dim), std::pair(d_values, a.kv_heads * a.value_dim)})
            std::fill_n(x.reals() + s * a.key_len * width, part.keys * width, 0.0F);
    for_each_row(part, [&](const HeadRows& rows, std::int64_t i) {
        const float *q = rows.query(c.inputs[0], i, a.head_dim), *d_out = rows.query(c.output_gradients[0], i, a.value_dim);
        float* d_q = rows.query(c.input_gradients[0], i, a.head_dim);
        const double mean = HeadRows::dot(rows.query(c.outputs[0], i, a.value_dim), d_out, a.value_dim);
        std::fill_n(d_q, a.head_dim, 0.0F);
        for (std::int64_t j = 0; j < part.keys; ++j) {
            if (!rows.sees(i, j)) continue;
            const double p = std::exp(rows.score(c, i, j) - rows.log_sum(c.outputs[1], i));
            const double ds = p * (HeadRows::dot(d_out, rows.key(c.inputs[2], j, a.value_dim), a.value_dim) - mean) * rows.scale();
            add_scaled(d_q, ds, rows.key(c.inputs[1], j, a.head_dim), a.head_dim);
            add_scaled(rows.key(d_keys, j, a.head_dim), ds, q, a.head_dim);
            add_scaled(rows.key(d_values, j, a.value_dim), p, d_out, a.value_dim);
        }
    });
    return true;
}

void HostMachine::multiply(const kernels::Product& p) {
    const kernels::ColumnMajor call = kernels::column_major(p);
    const auto run = [call] {
        with_type(call.a.element, [&]<class In>() {
            with_type(call.c.element, [&]<class Out>() {
                for (std::int64_t matrix = 0; matrix < call.batch; ++matrix) multiply_columns<In, Out>(call, matrix);
            });
        });
    };
    const auto words = [](const kernels::Operand& x) {
        return std::array{reinterpret_cast<std::int64_t>(x.data), static_cast<std::int64_t>(x.element), std::int64_t{x.transpose},
                          x.leading, x.stride};
    };
    launches_.call("multiply", run, std::array{call.m, call.n, call.k, call.batch}, words(call.a), words(call.b), words(call.c), call.scale,
                   call.keep, call.bias);
}

HostMachine::Reals HostMachine::convolved(const kernels::ConvolutionShape& s, const Reals& x, const Reals& filter) {
    Reals y(static_cast<std::size_t>(s.out_elements()));
    for_each_product(s, [&](std::int64_t in, std::int64_t tap, std::int64_t out) { y[out] += x[in] * filter[tap]; });
    return y;
}

HostMachine::Reals HostMachine::convolved_back(const kernels::ConvolutionShape& s, const Reals& filter, const Reals& dy) {
    Reals dx(static_cast<std::size_t>(s.in_elements()));
    for_each_product(s, [&](std::int64_t in, std::int64_t tap, std::int64_t out) { dx[in] += dy[out] * filter[tap]; });
    return dx;
}

HostMachine::Reals HostMachine::gradient_of_filter(const kernels::ConvolutionShape& s, const Reals& x, const Reals& dy) {
    Reals d_filter(static_cast<std::size_t>(s.filter_elements()));
    for_each_product(s, [&](std::int64_t in, std::int64_t tap, std::int64_t out) { d_filter[tap] += dy[out] * x[in]; });
    return d_filter;
}

}  // namespace sextant
