#include "tests/backend/host_machine.hpp"

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
            c = p.scale * static_cast<float>(sum) + (p.keep == 0 ? 0 : p.keep * c);
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
                            const std::int64_t row = y * s.stride - s.padding_h + r, column = x * s.stride - s.padding_w + q;
                            if (row < 0 || row >= s.in_h || column < 0 || column >= s.in_w) continue;
                            const std::int64_t from = ((n * s.in_h + row) * s.in_w + column) * s.in_channels + k / filters * channels;
                            const std::int64_t tap = ((k * s.kernel_h + r) * s.kernel_w + q) * channels;
                            for (std::int64_t c = 0; c < channels; ++c)
                                work(from + c, tap + c, ((n * s.out_h + y) * s.out_w + x) * s.out_channels + k);
                        }
}

}  // namespace

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
                   call.keep);
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
