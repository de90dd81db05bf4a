// The kernels of a step against what the device can do: the FLOPs of each per byte, its rate, and what bounds it.
#pragma once

#include "model/base/enum_array.hpp"
#include "model/cost/kernel.hpp"
#include "model/predict/estimate.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

// The resource that would shorten a kernel most if there were twice as much of it.
enum class KernelBound { compute, memory, start };
inline constexpr int kernel_bound_count = static_cast<int>(KernelBound::start) + 1;
inline constexpr auto all_kernel_bounds = enumerators<KernelBound, kernel_bound_count>();
std::string_view to_text(KernelBound);
std::string_view to_text(KernelKind);

struct RooflineKernel {
    Kernel kernel;
    Term phase = Term::forward;  // forward, backward or recompute
    double runs = 0;             // in a step, on one rank
    Seconds time;                // of one run, alone on the device
    KernelBound bound = KernelBound::compute;

    [[nodiscard]] Seconds in_step() const { return runs * time; }
    // FLOPs per byte; none where there is no matrix work.
    [[nodiscard]] std::optional<double> intensity() const;
};

// The most that the device does with a data type, on its tensor or vector units.
struct Roof {
    DataType type = DataType::fp32;
    FlopRate peak;       // by the maker
    FlopRate sustained;  // that large products reach
    bool used = false;   // by some kernel
};

struct Roofline {
    int stage = 0;                        // the stage whose rank finishes last, which has these kernels
    Bandwidth memory, stream;             // by the maker, and what streaming kernels reach
    std::vector<Roof> roofs;              // highest first
    std::vector<RooflineKernel> kernels;  // the longest in a step first
    EnumArray<KernelBound, Seconds, kernel_bound_count> by_bound;
    [[nodiscard]] Seconds total() const {
        return by_bound[KernelBound::compute] + by_bound[KernelBound::memory] + by_bound[KernelBound::start];
    }
};
Roofline roofline(const Prepared&);

// A convolution in the Winograd domain multiplies less than is counted, and may stand above its roof.
bool passes_a_roof(const Roofline&);

// "GEMM m 2048, n 12288, k 3072"
std::string shape_text(const Kernel&);

}  // namespace sextant
