#include "model/hardware/device.hpp"

#include <array>
#include <span>

namespace sextant {
namespace {

const PeakRate* faster(const PeakRate* a, const PeakRate* b) {
    if (!a || !b) return a ? a : b;
    return b->rate.value > a->rate.value ? b : a;
}

// Training sums products of narrow floating-point types in FP32: what cuBLAS does when a framework calls it, and why GeForce
// cards, which run FP32 accumulation at half rate, train at half the rate on their box.
bool accumulates_for_training(const PeakRate& p) {
    switch (p.input) {
        case DataType::fp16:
        case DataType::bf16:
        case DataType::fp8:
        case DataType::mxfp8:
        case DataType::nvfp4: return p.accumulate == DataType::fp32;
        default: return true;
    }
}

const PeakRate* fastest_for_training(const Device& device, DataType input, bool tensor_units) {
    const PeakRate* best = nullptr;
    for (const PeakRate& p : device.peaks)
        if (p.input == input && accumulates_for_training(p) && (tensor_units || p.unit == ComputeUnit::vector)) best = faster(best, &p);
    return best;
}

// Types that hold every value of `type`, or that libraries expand it to.
std::span<const DataType> wider_types(DataType type) {
    static constexpr std::array narrow_float = {DataType::fp8, DataType::bf16, DataType::fp16, DataType::fp32};
    static constexpr std::array integer = {DataType::int4, DataType::int8, DataType::fp32};
    switch (type) {
        case DataType::nvfp4:
        case DataType::mxfp8: return narrow_float;
        case DataType::fp8: return std::span(narrow_float).subspan(1);
        case DataType::int1: return integer;
        case DataType::int4: return std::span(integer).subspan(1);
        case DataType::fp64: return {};
        default: return std::span(narrow_float).last(1);
    }
}

}  // namespace

const PeakRate* Device::peak(DataType input, ComputeUnit unit) const {
    const PeakRate* best = nullptr;
    for (const PeakRate& p : peaks)
        if (p.input == input && p.unit == unit) best = faster(best, &p);
    return best;
}

MatrixPath matrix_path(const Device& device, DataType type, bool tf32_allowed, bool tensor_units) {
    const auto fastest = [&](DataType t) { return fastest_for_training(device, t, tensor_units); };
    const PeakRate* native = fastest(type);
    // Libraries that may take tensor units do, unless these are slower by more than what data sheets round.
    constexpr double rounding = 0.95;
    const PeakRate* tf32 = type == DataType::fp32 && tf32_allowed ? fastest(DataType::tf32) : nullptr;
    if (tf32 && !(native && tf32->rate.value < rounding * native->rate.value)) native = tf32;
    const PeakRate* wider = nullptr;
    for (const DataType t : wider_types(type))
        if (t != type) wider = faster(wider, fastest(t));
    if (native && faster(native, wider) == native) return {native, true};
    if (wider) return {wider, false};
    return {native ? native : &device.peaks.front(), native != nullptr};
}

}  // namespace sextant
