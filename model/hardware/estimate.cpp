#include "model/hardware/estimate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

namespace sextant {
namespace {

using namespace units;

// What devices of one architecture have in common, where a profile does not say. Rates are fractions of the stated peaks.
//
// kernel_overhead: measured with gpu-benches gpu-small-kernels on the A100 (2.62 us), H200 (2.48), A40 (2.0), L40 (1.6) and MI210 (2.0);
// the others follow their neighbours. load_latency: from the first rows of its gpu-stream (16 bytes a thread, two warps on each
// multiprocessor) on the V100, A100, A40, L40, H100, H200, MI100 and MI210. tensor: MAMF of ml-engineering for Ampere, Hopper, Blackwell,
// CDNA3 and Gaudi; DeepBench for Volta and Turing. vector: NeuSight and DeepBench FP32. fp32: multiprocessors whose 128 lanes share what
// feeds 64 elsewhere reach 24 of 35.6 TFLOP/s on an RTX 3090 and 54.7 of 82.6 on an RTX 4090 (mli/transformers-benchmarks, issue 3);
// Blackwell's are taken to do as Ada's; Ampere's others state theirs. attention: FlashAttention-2 on an RTX A5000 (74 and 67 % with heads
// of 64), FlashAttention-4 on a B200 (73 and 54 %), as their benchmarks print them; FlashAttention-3 on Hopper as arXiv 2407.08608, figure
// 5, states.
struct ArchitectureClass {
    std::string_view name;
    double vector;  // sustained by a large GEMM
    double tensor;
    Seconds kernel_overhead;
    Seconds graph_kernel_overhead;
    Seconds load_latency;
    double attention_forward, attention_backward;  // of the 16-bit tensor peak
    std::optional<double> fp32 = {};               // on vector units, where that is less than other types reach
};

constexpr Seconds none;  // no threads that wait for what they load: copies are made ahead

constexpr std::array classes = {
    ArchitectureClass{"kepler", 0.75, 0.75, 5 * us, 5 * us, 600 * ns, 0.30, 0.25},
    ArchitectureClass{"maxwell", 0.80, 0.80, 4.5 * us, 4.5 * us, 600 * ns, 0.30, 0.25},
    ArchitectureClass{"pascal", 0.93, 0.93, 4 * us, 3 * us, 600 * ns, 0.30, 0.25},
    ArchitectureClass{"volta", 0.92, 0.85, 3.2 * us, 1.8 * us, 610 * ns, 0.40, 0.30},
    ArchitectureClass{"turing", 0.90, 0.80, 2.5 * us, 1.5 * us, 550 * ns, 0.60, 0.50},
    ArchitectureClass{"ampere", 0.92, 0.85, 2.3 * us, 1.2 * us, 540 * ns, 0.68, 0.58, 0.66},
    ArchitectureClass{"ada", 0.85, 0.85, 1.6 * us, 0.96 * us, 470 * ns, 0.65, 0.52, 0.66},
    ArchitectureClass{"hopper", 0.78, 0.78, 2.48 * us, 1.27 * us, 580 * ns, 0.62, 0.50},
    ArchitectureClass{"blackwell", 0.78, 0.76, 2.3 * us, 1.2 * us, 580 * ns, 0.68, 0.53, 0.66},
    ArchitectureClass{"cdna1", 0.85, 0.65, 2.5 * us, 2.3 * us, 790 * ns, 0.30, 0.25},
    ArchitectureClass{"cdna2", 0.85, 0.65, 2.03 * us, 2.0 * us, 730 * ns, 0.35, 0.25},
    ArchitectureClass{"cdna3", 0.85, 0.55, 2.0 * us, 2.0 * us, 730 * ns, 0.40, 0.30},
    ArchitectureClass{"gaudi", 0.80, 0.80, 5 * us, 3 * us, none, 0.50, 0.40},
    ArchitectureClass{"tpu", 0.80, 0.85, 3 * us, 3 * us, none, 0.50, 0.40},
    ArchitectureClass{"x86", 0.75, 0.45, 3 * us, 3 * us, none, 0.35, 0.30},
    ArchitectureClass{"arm", 0.75, 0.45, 3 * us, 3 * us, none, 0.35, 0.30},
};
constexpr ArchitectureClass typical_cpu{"CPUs", 0.75, 0.45, 3 * us, 3 * us, none, 0.35, 0.30};
constexpr ArchitectureClass typical_accelerator{"accelerators", 0.85, 0.75, 2.5 * us, 1.5 * us, 600 * ns, 0.50, 0.40};

const ArchitectureClass& class_of(const Device& d) {
    for (const ArchitectureClass& c : classes)
        if (c.name == d.architecture) return c;
    return d.kind == DeviceKind::cpu ? typical_cpu : typical_accelerator;
}

// A zero that somebody states has a source, and stays.
template <class T>
void fill(Sourced<T>& field, T value, std::string reason) {
    if (field.value == T{} && field.source.empty()) field = {value, SourceKind::estimated, std::move(reason)};
}

// Vector units beside tensor units: an A100 has 312 TFLOP/s of FP16 and 19.5 of FP32, an H100 989 and 67.
constexpr double tensor_over_vector = 16;

void add_fp32(Device& d) {
    if (d.peak(DataType::fp32, ComputeUnit::vector)) return;
    FlopRate most;
    for (const PeakRate& p : d.peaks) most = max(most, p.rate.value);
    for (const DataType t : {DataType::fp16, DataType::bf16})
        if (const PeakRate* p = d.peak(t, ComputeUnit::tensor)) most = p->rate.value;
    d.peaks.push_back({DataType::fp32,
                       DataType::fp32,
                       ComputeUnit::vector,
                       {most / tensor_over_vector, SourceKind::estimated, "1/16 of the FP16 tensor rate, as on an A100"},
                       {}});
}

void estimate_units(Device& d) {
    const FlopRate fp32 = d.peak(DataType::fp32, ComputeUnit::vector)->rate.value;
    const bool cpu = d.kind == DeviceKind::cpu;
    fill(d.clock, cpu ? 2.5 * GHz : 1.7 * GHz, "typical clock");
    if (d.multiprocessors == 0) {
        const double lanes = cpu ? 16 : 128;  // FP32 multiply-adds per clock of one core (two AVX2 units) or SM
        const double rate = fp32.si() / (2 * lanes * d.clock.value.si());
        d.multiprocessors = static_cast<int>(std::clamp(std::round(rate), 1.0, 100000.0));
    }
    // An A100 80GB has 40 MiB for 2 TB/s, an H100 50 MiB for 3.35 TB/s.
    const Bytes l2 = cpu ? d.multiprocessors * 1.5 * MiB : 16 * MiB * (d.memory_bandwidth.value / (TB / s));
    fill(d.l2, l2, cpu ? "1.5 MiB per core" : "16 MiB per TB/s of memory bandwidth");
}

Sourced<double> usual_clock_alone(DeviceKind kind) {
    if (kind != DeviceKind::gpu) return {1.0, SourceKind::estimated, "as beside others"};
    return {1.025, SourceKind::estimated, "training runs on H100, P100 and RTX PRO 6000 show 1.016 to 1.029"};
}

}  // namespace

void complete(Device& d) {
    const bool cpu = d.kind == DeviceKind::cpu;
    if (d.architecture.empty()) d.architecture = "unknown";
    const bool counted = d.kind == DeviceKind::gpu && d.multiprocessors > 0;
    add_fp32(d);
    estimate_units(d);
    const ArchitectureClass& c = class_of(d);
    const std::string relatives = "typical of " + std::string(c.name);
    for (PeakRate& p : d.peaks) {
        const double on_vector = p.input == DataType::fp32 ? c.fp32.value_or(c.vector) : c.vector;
        fill(p.achievable, p.unit == ComputeUnit::tensor ? c.tensor : on_vector, relatives);
    }
    fill(d.stream_fraction, cpu ? 0.8 : 0.87, cpu ? "typical of DDR memory" : "typical of device memory");
    if (d.clock_alone.source.empty()) d.clock_alone = usual_clock_alone(d.kind);
    fill(d.load_latency, counted ? c.load_latency : none, counted ? relatives : "nobody says how many multiprocessors wait for loads");
    fill(d.attention_forward, c.attention_forward, relatives);
    fill(d.attention_backward, c.attention_backward, relatives);
    fill(d.kernel_overhead, c.kernel_overhead, relatives);
    fill(d.graph_kernel_overhead, min(c.graph_kernel_overhead, d.kernel_overhead.value), relatives);
    fill(d.power, cpu ? d.multiprocessors * 4.0 * W : 300 * W, cpu ? "4 W per core" : "typical of a PCIe card");
    fill(d.idle_power, (cpu ? 0.35 : 0.13) * d.power.value, cpu ? "35 % of the power" : "13 % of the power: an A100 idles at 50 of 400 W");
    if (d.host_link.empty()) d.host_link = cpu ? "Host memory copy" : "PCIe gen4 x16";
}

void complete(LinkType& link) {
    struct Typical {
        LinkCategory category;
        double achievable;
        Seconds latency;
    };
    static constexpr std::array typical = {
        Typical{LinkCategory::pcie, 0.8, 1 * us},         Typical{LinkCategory::socket, 0.5, 0.1 * us},
        Typical{LinkCategory::nvlink, 0.8, 2 * us},       Typical{LinkCategory::infiniband, 0.92, 1.5 * us},
        Typical{LinkCategory::ethernet, 0.88, 20.0 * us}, Typical{LinkCategory::memory, 0.8, 1 * us}};
    for (const Typical& t : typical) {
        if (t.category != link.category) continue;
        fill(link.achievable, t.achievable, "typical of such links");
        fill(link.latency, t.latency, "typical of such links");
    }
}

}  // namespace sextant
