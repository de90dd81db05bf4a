#include "model/cost/convolution.hpp"

#include "model/base/ceil_divide.hpp"
#include "model/cost/compute.hpp"

namespace sextant {
namespace {

struct Rates {
    double forward, data, weight;
};
constexpr Rates on_tensor_units = {0.83, 0.72, 0.66};  // layouts apart
constexpr Rates of_pixels = {0.86, 0.83, 0.56};        // on vector units, as the others
constexpr Rates of_windows = {1.04, 0.87, 1.13};
constexpr Rates of_winograd = {1.67, 1.75, 1.28};  // with 256 channels on either side
constexpr double transform_work = 20;              // of images and outputs, in products with so many channels: docs/model/compute.md
constexpr double strided_gradient = 0.5;           // 0.44 to 0.66, whatever the window and the units
constexpr double in_tf32 = 0.65;                   // found on the fitted half of measurements/: docs/model/compute.md

double of_pass(const Kernel& k, const Rates& r) { return k.weight_gradient ? r.weight : k.backward ? r.data : r.forward; }

// What Winograd's domain saves, less its transforms: of the image once whatever is made of it, of the outputs once whatever they are
// made of.
double winograd_rate(const Kernel& k) {
    const auto work = [](double in, double out) { return 1 + transform_work * (1 / in + 1 / out); };
    return of_pass(k, of_winograd) * work(256, 256) / work(static_cast<double>(k.channels), static_cast<double>(k.n));
}

const Rates& rates_of(const Kernel& k, ComputeUnit unit) {
    if (unit == ComputeUnit::tensor) return on_tensor_units;
    return k.window == Window::pixel ? of_pixels : of_windows;
}

// The part of so many channels that is there, where they come by `together`.
double filled(std::int64_t channels, std::int64_t together) {
    return static_cast<double>(channels) / static_cast<double>(ceil_divide(channels, together) * together);
}

std::int64_t elements_of_a_register(DataType type) { return static_cast<std::int64_t>(Bytes::from_si(64) / size_of(type)); }

}  // namespace

Window window_of(const Convolution& c) {
    if (c.kernel_h == 1 && c.kernel_w == 1) return Window::pixel;
    return c.kernel_h == 3 && c.kernel_w == 3 && c.stride == 1 && c.dilation == 1 && c.groups == 1 ? Window::winograd : Window::other;
}

// cuDNN has Winograd's transforms for 16 and 32 bits (its table of forward algorithms), not for 64.
bool in_winograd_domain(const Kernel& k, ComputeUnit unit) {
    const bool has_transforms = unit == ComputeUnit::vector && k.window == Window::winograd && k.type != DataType::fp64;
    return has_transforms && winograd_rate(k) > of_pass(k, of_windows);
}

double convolution_rate(const Kernel& k, ComputeUnit unit) {
    if (in_winograd_domain(k, unit)) return winograd_rate(k);
    double rate = of_pass(k, rates_of(k, unit));
    if (k.strided && k.backward && !k.weight_gradient) rate *= strided_gradient;
    if (unit != ComputeUnit::tensor) return rate;
    if (k.channels > 0) rate *= filled(k.channels, elements_of_a_load(k.type));
    return k.type == DataType::fp32 ? rate * in_tf32 : rate;  // tensor units take FP32 as TF32
}

double filled_registers(const Kernel& k) { return filled(k.n, elements_of_a_register(k.type)); }

double registers_of(const Kernel& k) { return static_cast<double>(ceil_divide(k.n, elements_of_a_register(k.type))); }

}  // namespace sextant
