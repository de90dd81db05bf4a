// A device that computes: a GPU, an accelerator, or the CPUs of a host taken as one. Data only; costs are in model/cost.
#pragma once

#include "model/base/data_type.hpp"
#include "model/base/provenance.hpp"
#include "model/base/quantity.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sextant {

enum class DeviceKind { gpu, cpu, accelerator };

// Tensor units multiply small matrices in one instruction (tensor cores, matrix cores, AMX); vector units do the rest.
enum class ComputeUnit { vector, tensor };

// D = A x B + C with A, B in `input` and C, D in `accumulate`, dense, at the clock that the maker states.
struct PeakRate {
    DataType input = DataType::fp32;
    DataType accumulate = DataType::fp32;
    ComputeUnit unit = ComputeUnit::vector;
    Sourced<FlopRate> rate;
    // The largest fraction of `rate` that a large, well-shaped GEMM sustains: clocks under a power limit included. Where a profile does not
    // say, complete() takes what is typical of the architecture.
    Sourced<double> achievable;
};

// Measured times of GEMMs [m x k] x [k x n] that share n, k and the data type; ascending in m.
struct GemmCurve {
    DataType type = DataType::bf16;
    std::int64_t n = 0, k = 0;
    struct Point {
        std::int64_t m;
        Seconds time;
    };
    std::vector<Point> points;
    std::string source;
};

struct Device {
    std::string name;  // "A100 SXM4 80GB"
    std::vector<std::string> aliases;
    DeviceKind kind = DeviceKind::gpu;
    std::string vendor;              // "NVIDIA"
    std::string architecture;        // "ampere", lower case; "unknown" where not stated
    std::string compute_capability;  // "8.0"; empty where the notion does not exist

    int multiprocessors = 0;   // SMs, compute units or cores
    Sourced<Frequency> clock;  // boost clock
    // The fraction of the rates of short tests that is left in a training run of hours. Power and heat lower the clock of the arithmetic
    // units, not that of the memory.
    Sourced<double> sustained_clock{1.0, SourceKind::estimated, "as in short tests"};
    // How many times that it is while no other device of the node works: dies of a board share its power, cards heat each other.
    Sourced<double> clock_alone{1.0, SourceKind::estimated, ""};
    Sourced<Bytes> memory;                        // what the maker prints, in GiB
    std::optional<Sourced<Bytes>> usable_memory;  // what is left to programs (ECC, driver)
    Sourced<Bandwidth> memory_bandwidth;
    // Fraction of memory_bandwidth that a streaming kernel over a large array reaches.
    Sourced<double> stream_fraction;
    // How many times that a device streams while no other of its node works: cores share a memory that few of them fill. Absent: it has a
    // memory of its own, or nobody knows.
    std::optional<Sourced<double>> bandwidth_alone;
    // How long a load that goes to memory takes until its data are there. Zero where nobody knows: on CPUs, and on GPUs whose
    // multiprocessors are not stated.
    Sourced<Seconds> load_latency;
    Sourced<Bytes> l2;
    // How fast a core of a CPU reads what lies in `l2`. Where that is known, a product costs the passes over its operands beside its
    // arithmetic.
    std::optional<Sourced<Bandwidth>> cache_bandwidth;
    // The cache behind that one, which cores share: how much of it one core has while the others work, and how fast it is.
    std::optional<Sourced<Bytes>> shared_cache;
    std::optional<Sourced<Bandwidth>> shared_cache_bandwidth;
    // The time that a core takes for the exponential of one element of a long row. Other functions are priced as multiples of it
    // (model/cost/elementwise.hpp). Where it is not known, functions cost the bytes that they move and nothing else.
    std::optional<Sourced<Seconds>> exponential;
    // The rate of convolutions over that of products of the same size, where it was measured on this device.
    std::optional<Sourced<double>> convolution;
    // The fraction of the rate of TF32 products that is left where one operand does not lie along its depth, as in a gradient of data, and
    // where neither does, as in a gradient of weights. Absent: it does not matter how operands lie.
    std::optional<Sourced<double>> tf32_across_one, tf32_across_both;
    bool fp8_any_layout = false;  // products in FP8 take operands however they lie, not along their depth alone
    std::vector<PeakRate> peaks;

    // Fraction of the 16-bit tensor peak that the best fused attention kernel reaches: long sequences, heads of 128, no mask.
    Sourced<double> attention_forward, attention_backward;

    // Device time between two dependent kernels when the queue is full: start-up, drain, fetch.
    Sourced<Seconds> kernel_overhead;
    // The same for a node of a captured graph.
    Sourced<Seconds> graph_kernel_overhead;
    // How long a call of a collective takes to start on this device, and one of its steps over links inside a node, relative to what the
    // library's profile says, which is the mean of several devices. Absent: as long.
    std::optional<Sourced<double>> call_start, call_step;

    std::string host_link;  // name of a link type: "PCIe gen4 x16"
    Sourced<Watts> power;   // TDP
    Sourced<Watts> idle_power;
    std::optional<Sourced<MoneyRate>> price;  // rent of one device
    std::vector<GemmCurve> gemm_curves;
    std::string notes;

    // What to take for `cache_bandwidth` where nobody measured it.
    [[nodiscard]] Bandwidth usual_cache_bandwidth() const { return 4.0 * memory_bandwidth.value; }

    // The fastest way to multiply with inputs of this type on this unit; null when the device has none.
    [[nodiscard]] const PeakRate* peak(DataType input, ComputeUnit unit) const;
};

// Makes everything that the multiprocessors compute `by` times as fast, for a scenario or a report that asks what if. `multiply(number,
// by)` also notes where the number now comes from.
template <class Multiply>
void scale_compute(Device& d, double by, const Multiply& multiply) {
    multiply(d.clock, by);
    for (PeakRate& peak : d.peaks) multiply(peak.rate, by);
    for (GemmCurve& curve : d.gemm_curves)
        for (GemmCurve::Point& point : curve.points) point.time /= by;
}

// The part of the memory that programs can have.
inline Bytes memory_for_programs(const Device& d) { return d.usable_memory ? d.usable_memory->value : d.memory.value; }

// What a library does with a matrix product whose operands are of `type`: the unit and the type that it really multiplies in.
// Tensor cores do not take FP32: libraries cast to TF32 when `tf32_allowed` and the device has it, otherwise the vector units work.
// Sums of FP16 and narrower are kept in FP32, as training does, even where the device sums in FP16 faster (Device::peak does not mind).
// A type that the device cannot multiply, or multiplies slower than a wider one (FP16 on a GTX 1080 Ti), is expanded to the fastest
// wider type: FP8 to BF16, BF16 to FP32. `tensor_units`: whether the library uses them at all.
struct MatrixPath {
    const PeakRate* peak = nullptr;  // never null for a device that passed the reader
    bool native = true;              // false: emulated in a wider type
};
MatrixPath matrix_path(const Device&, DataType type, bool tf32_allowed, bool tensor_units = true);
MatrixPath matrix_path(Device&&, DataType, bool, bool = true) = delete;  // the path points into the device

}  // namespace sextant
