// Counter-based random numbers: element 7 of a tensor gets the same number whoever draws it, and whatever was drawn before. So a rank draws
// its part of the serial weights, and of the serial dropout mask, without drawing the rest.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace sextant {

class RandomKey {
public:
    explicit constexpr RandomKey(std::uint64_t seed) : state_(mix(seed)) {}
    // Another key for each value.
    [[nodiscard]] constexpr RandomKey with(std::uint64_t value) const { return RandomKey(state_ ^ mix(value + 0x9e3779b97f4a7c15)); }

    // In [0, 1), a multiple of 2^-24.
    [[nodiscard]] constexpr float uniform(std::uint64_t element) const {
        return static_cast<float>(mix(state_ + element * 0x9e3779b97f4a7c15) >> 40) * 0x1p-24F;
    }
    // Whether dropout with this rate keeps the element. `dropped`: the rate, see part(). It draws another number than uniform() does, in
    // words of 32 bits, of which a vector instruction takes many: masks are drawn for every element of an activation.
    [[nodiscard]] constexpr bool keeps(std::uint64_t element, std::int32_t dropped) const {
        const auto low = static_cast<std::uint32_t>(element), high = static_cast<std::uint32_t>(element >> 32);
        const std::uint32_t half = mix_word(low ^ static_cast<std::uint32_t>(state_));
        const std::uint32_t drawn = mix_word(half ^ static_cast<std::uint32_t>(state_ >> 32) ^ high * 0x9e3779b9U);
        return static_cast<std::int32_t>(drawn >> 8) >= dropped;
    }
    // A fraction in units of 2^-24, for keeps().
    static constexpr std::int32_t part(float fraction) { return static_cast<std::int32_t>(fraction * 0x1p24F); }
    // Of mean 0 and standard deviation 1 (Box and Muller).
    [[nodiscard]] float normal(std::uint64_t element) const {
        const float radius = std::sqrt(-2 * std::log(1 - uniform(2 * element)));
        return radius * std::cos(2 * std::numbers::pi_v<float> * uniform(2 * element + 1));
    }

private:
    // One of the two rounds of multiplication that hash-prospector found to have least bias (github.com/skeeto/hash-prospector).
    static constexpr std::uint32_t mix_word(std::uint32_t x) {
        x = (x ^ (x >> 16)) * 0x21f0aaadU;
        x = (x ^ (x >> 15)) * 0x735a2d97U;
        return x ^ (x >> 15);
    }
    // The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
    static constexpr std::uint64_t mix(std::uint64_t x) {
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
        x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
        return x ^ (x >> 31);
    }
    std::uint64_t state_;
};

}  // namespace sextant
