// Numbers of 16 bits in memory. All arithmetic on them is in fp32: they become floats when they are read, and are rounded to the nearest
// (ties to even) when they are written. GPUs have instructions for both, which compilers do not recognize in the arithmetic below. Without
// them, some twenty integer operations for each fp16 number would take longer than the memory traffic of elementwise kernels.
#pragma once

#include <bit>
#include <cstdint>

namespace sextant {

// The upper half of an fp32 number: 8 bits of exponent, 7 of mantissa.
class Bf16 {
public:
    Bf16() = default;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    __device__ Bf16(float value) { asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits_) : "f"(value)); }
#else
    constexpr Bf16(float value) : bits_(rounded(std::bit_cast<std::uint32_t>(value))) {}
#endif
    constexpr operator float() const { return std::bit_cast<float>(std::uint32_t{bits_} << 16); }

private:
    static constexpr std::uint16_t rounded(std::uint32_t word) {
        const std::uint32_t nearest = (word + 0x7fff + (word >> 16 & 1)) >> 16;
        const bool is_nan = (word & 0x7fffffff) > 0x7f800000;
        return static_cast<std::uint16_t>(is_nan ? word >> 16 | 0x40 : nearest);
    }
    std::uint16_t bits_;
};

// IEEE 754 half precision: 5 bits of exponent, 10 of mantissa; up to 65504, and in steps of 2^-24 below 2^-14.
class Fp16 {
public:
    Fp16() = default;
#ifdef __CUDA_ARCH__
    __device__ Fp16(float value) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits_) : "f"(value)); }
    __device__ operator float() const {
        float value;
        asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits_));
        return value;
    }
#else
    constexpr Fp16(float value) : bits_(rounded(std::bit_cast<std::uint32_t>(value))) {}
    constexpr operator float() const {
        const std::int32_t magnitude = bits_ & 0x7fff;
        const std::uint32_t sign = (bits_ & 0x8000U) << 16, shifted = static_cast<std::uint32_t>(magnitude) << 13;
        const std::uint32_t small = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24F);
        const std::uint32_t finite = magnitude < 0x400 ? small : shifted + exponent_difference;
        return std::bit_cast<float>(sign | (magnitude < 0x7c00 ? finite : shifted | infinity));
    }
#endif

private:
    static constexpr std::uint32_t infinity = 0x7f800000, first_infinite = 0x477ff000, first_normal = 0x38800000;
    static constexpr std::uint32_t exponent_difference = std::uint32_t{127 - 15} << 23;

    static constexpr std::uint16_t rounded(std::uint32_t word) {
        const std::uint32_t sign = word >> 16 & 0x8000, magnitude = word & 0x7fffffff;
        // Behind 0.5, fp32 has steps of 2^-24 itself: the sum is rounded as it must be.
        const std::uint32_t small =
            std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - std::bit_cast<std::uint32_t>(0.5F);
        const std::uint32_t normal = (magnitude + 0xfff + (magnitude >> 13 & 1) - exponent_difference) >> 13;
        const std::uint32_t finite = magnitude < first_normal ? small : normal;
        const std::uint32_t large = magnitude > infinity ? 0x7e00 : 0x7c00;
        return static_cast<std::uint16_t>(sign | (magnitude < first_infinite ? finite : large));
    }
    std::uint16_t bits_;
};

}  // namespace sextant
