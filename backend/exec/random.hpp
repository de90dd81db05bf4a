// Random numbers by place rather than by turn: whoever asks for element 7 of a tensor gets the same number, whatever else it holds.
// So a rank draws its part of the serial weights, and its part of the serial dropout mask, without drawing the rest.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace sextant {

class RandomKey {
public:
    explicit constexpr RandomKey(std::uint64_t seed) : state_(mix(seed)) {}
    // A key of its own for each value.
    [[nodiscard]] constexpr RandomKey with(std::uint64_t value) const { return RandomKey(state_ ^ mix(value + 0x9e3779b97f4a7c15)); }

    // In [0, 1), a multiple of 2^-24.
    [[nodiscard]] constexpr float uniform(std::uint64_t element) const {
        return static_cast<float>(mix(state_ + element * 0x9e3779b97f4a7c15) >> 40) * 0x1p-24F;
    }
    // Of mean 0 and deviation 1 (Box and Muller).
    [[nodiscard]] float normal(std::uint64_t element) const {
        const float radius = std::sqrt(-2 * std::log(1 - uniform(2 * element)));
        return radius * std::cos(2 * std::numbers::pi_v<float> * uniform(2 * element + 1));
    }

private:
    // The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
    static constexpr std::uint64_t mix(std::uint64_t x) {
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
        x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
        return x ^ (x >> 31);
    }
    std::uint64_t state_;
};

}  // namespace sextant
