#include "model/cost/compute.hpp"

#include <algorithm>

namespace sextant {
namespace {

// Whether it is a GPU whose multiprocessors are known; elsewhere nobody knows how long their loads take.
bool knows_multiprocessors(const Device& d) { return d.load_latency.value > Seconds{}; }

// What a multiprocessor later than Ampere's does in a clock with instructions of Ampere's, forward and backward: FlashAttention-2 on an
// H100, heads of 128 (docs/model/compute.md). Its products alone: what an A100's does.
constexpr double ampere_forward = 1530, ampere_backward = 1330, ampere_products = 2048;

// The peak rate of attention's products, where it is known how many multiprocessors share them.
const PeakRate* peak_of_multiprocessors(const Device& d) {
    return knows_multiprocessors(d) ? d.peak(DataType::bf16, ComputeUnit::tensor) : nullptr;
}

double attention_fraction(double best, double in_a_clock, const Device& d, const Framework& f) {
    const PeakRate* peak = peak_of_multiprocessors(d);
    if (!f.attention_for_ampere || !peak) return best;
    return std::min(best, in_a_clock * d.multiprocessors * d.clock.value.si() / peak->rate.value.si());
}

double attention_products(const Device& d, const Framework& f) {
    const PeakRate* peak = peak_of_multiprocessors(d);
    if (!peak) return ampere_products;
    const double best = peak->rate.value.si() / (d.multiprocessors * d.clock.value.si());
    return f.attention_for_ampere ? std::min(best, ampere_products) : best;
}

void set_products(DeviceRates& rates, const Device& device, const Framework& framework, const Plan& plan, double clock) {
    for (const DataType type : all_data_types) {
        const MatrixPath path = matrix_path(device, type, plan.precision.tf32, framework.tensor_units);
        const double sustained = path.peak->achievable.value * framework.native_build.value * clock;
        rates.matrix[type] = {path.peak->rate.value * sustained, path.peak->rate.value, path.peak->unit};
    }
    const MatrixRate& fp32 = rates.matrix[DataType::fp32];
    // Seen with the cuBLAS of CUDA 13, which our executor has. Trainings of BERT that Lambda published are 3 % off without and 6 with it.
    if (framework.plain_kernels && fp32.unit == ComputeUnit::tensor) {
        if (device.tf32_across_one) rates.tf32_across_one = device.tf32_across_one->value;
        if (device.tf32_across_both) rates.tf32_across_both = device.tf32_across_both->value;
    }
    const PeakRate* vector = device.peak(DataType::fp32, ComputeUnit::vector);
    rates.vector = fp32.unit == ComputeUnit::vector || !vector ? fp32.sustained : vector->rate.value * clock;
    if (vector)
        rates.fp32_on_vector = {vector->rate.value * (vector->achievable.value * rates.native_build), vector->rate.value, vector->unit};
    if (!device.gemm_curves.empty()) rates.measured = std::make_shared<const std::vector<GemmCurve>>(device.gemm_curves);
    rates.tiles = device.kind != DeviceKind::cpu;
}

void set_memory(DeviceRates& rates, const Device& device, const Framework& framework, const Plan& plan) {
    const double streaming = framework.streaming_efficiency.value;
    rates.memory = device.memory_bandwidth.value * (device.stream_fraction.value * streaming);
    if (framework.bytes_in_flight.value > Bytes{} && knows_multiprocessors(device)) {
        // What plain kernels count are elements: the number is of those of two bytes.
        const double width = framework.plain_kernels ? size_of(plan.precision.activation) / size_of(DataType::fp16) : 1;
        const Bytes in_flight = device.multiprocessors * width * framework.bytes_in_flight.value;
        rates.loads = streaming * in_flight / device.load_latency.value;
    }
    if (device.kind != DeviceKind::cpu || !device.cache_bandwidth) return;
    rates.cached = device.cache_bandwidth->value * streaming;
    rates.cache = device.l2.value;
    if (!device.shared_cache || !device.shared_cache_bandwidth) return;
    rates.shared = device.shared_cache_bandwidth->value * streaming;
    rates.shared_cache = device.shared_cache->value;
}

void set_attention(DeviceRates& rates, const Device& device, const Framework& framework, double clock) {
    const double reached = framework.attention_efficiency.value * framework.native_build.value * clock;
    rates.attention_forward = reached * attention_fraction(device.attention_forward.value, ampere_forward, device, framework);
    rates.attention_backward = reached * attention_fraction(device.attention_backward.value, ampere_backward, device, framework);
    rates.attention_products = attention_products(device, framework);
}

}  // namespace

DeviceRates device_rates(const Device& device, const Framework& framework, const Plan& plan, bool works_alone) {
    const double clock = device.sustained_clock.value * (works_alone ? device.clock_alone.value : 1);
    DeviceRates rates;
    rates.native_build = framework.native_build.value * clock;
    rates.multiprocessors = std::max(1, device.multiprocessors);
    rates.outputs = rates.multiprocessors * device.clock.value;
    rates.kernel_overhead =
        plan.cuda_graph || framework.dispatch_in_graph ? device.graph_kernel_overhead.value : device.kernel_overhead.value;
    rates.wait = device.load_latency.value;
    rates.convolution = framework.convolution_efficiency.value * (device.convolution ? device.convolution->value : 1);
    if (device.kind == DeviceKind::cpu && device.exponential) rates.exponential = device.exponential->value / framework.native_build.value;
    set_products(rates, device, framework, plan, clock);
    set_memory(rates, device, framework, plan);
    set_attention(rates, device, framework, clock);
    return rates;
}

}  // namespace sextant
