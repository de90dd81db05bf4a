// Enums whose enumerators count from 0 without gaps: all of them, in order, and an array with one element for each.
//
//     enum class Phase { forward, backward };
//     inline constexpr int phase_count = static_cast<int>(Phase::backward) + 1;
//     inline constexpr auto all_phases = enumerators<Phase, phase_count>();
//     EnumArray<Phase, Seconds, phase_count> times;
//     for (const Phase p : all_phases) times[p] += 1 * s;
#pragma once

#include <cstddef>  // before the others: Qt's moc cannot read <concepts>, which they begin with, on its own

#include <array>
#include <compare>

namespace sextant {

template <class Enum, std::size_t count>
constexpr std::array<Enum, count> enumerators() {
    std::array<Enum, count> all{};
    for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<Enum>(i);
    return all;
}

template <class Enum, class T, std::size_t count>
struct EnumArray {
    std::array<T, count> of{};

    [[nodiscard]] constexpr T& operator[](Enum e) { return of[static_cast<std::size_t>(e)]; }
    [[nodiscard]] constexpr const T& operator[](Enum e) const { return of[static_cast<std::size_t>(e)]; }
    [[nodiscard]] constexpr auto begin() { return of.begin(); }
    [[nodiscard]] constexpr auto begin() const { return of.begin(); }
    [[nodiscard]] constexpr auto end() { return of.end(); }
    [[nodiscard]] constexpr auto end() const { return of.end(); }
    // Whose element is largest: the first of several.
    [[nodiscard]] constexpr Enum largest() const {
        std::size_t most = 0;
        for (std::size_t i = 1; i < count; ++i)
            if (of[most] < of[i]) most = i;
        return static_cast<Enum>(most);
    }

    friend constexpr auto operator<=>(const EnumArray&, const EnumArray&) = default;
    friend constexpr bool operator==(const EnumArray&, const EnumArray&) = default;
};

}  // namespace sextant
