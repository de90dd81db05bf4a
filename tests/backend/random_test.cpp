#include "backend/exec/random.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant {
namespace {

constexpr int drawn = 1 << 18;

// Of n draws, n p are to be expected, give or take sqrt(n p (1 - p)).
void expect_about(double count, double fraction) { EXPECT_NEAR(count, drawn * fraction, 5 * std::sqrt(drawn * fraction * (1 - fraction))); }

TEST(RandomKey, DropsTheFractionThatItIsTold) {
    for (const float fraction : {0.1F, 0.5F, 0.9F})
        for (std::uint64_t seed = 0; seed < 8; ++seed) {
            const RandomKey key(seed);
            int dropped = 0;
            for (int i = 0; i < drawn; ++i) dropped += key.keeps(static_cast<std::uint64_t>(i), RandomKey::part(fraction)) ? 0 : 1;
            expect_about(dropped, fraction);
        }
    EXPECT_TRUE(RandomKey(1).keeps(7, RandomKey::part(0)));
    EXPECT_FALSE(RandomKey(1).keeps(7, RandomKey::part(1)));
}

// Of two that have nothing to do with each other, half are alike: neighbours, those far behind, and the same element of the next key.
TEST(RandomKey, DropsEachElementByItself) {
    constexpr std::int32_t half = RandomKey::part(0.5F);
    const RandomKey key = RandomKey(3).with(5), next = RandomKey(3).with(6);
    int neighbours = 0, distant = 0, keys = 0;
    for (std::uint64_t i = 0; i < drawn; ++i) {
        const bool keeps = key.keeps(i, half);
        neighbours += keeps == key.keeps(i + 1, half) ? 1 : 0;
        distant += keeps == key.keeps(i + (std::uint64_t{1} << 32), half) ? 1 : 0;
        keys += keeps == next.keeps(i, half) ? 1 : 0;
    }
    for (const int alike : {neighbours, distant, keys}) expect_about(alike, 0.5);
}

}  // namespace
}  // namespace sextant
