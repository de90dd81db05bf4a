#include "backend/exec/sixteen_bits.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace sextant {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

template <class Half>
float rounded(float value) {
    return Half(value);
}

// Seven bits behind the point: from 1, in steps of 2^-7.
TEST(Bf16, IsTheNearestAndBetweenTwoTheEvenOne) {
    EXPECT_EQ(rounded<Bf16>(-1.5F), -1.5F);
    EXPECT_EQ(rounded<Bf16>(1 + 0x1p-8F), 1) << "half way between 1, which is even, and 1 + 2^-7";
    EXPECT_EQ(rounded<Bf16>(1 + 3 * 0x1p-8F), 1 + 0x1p-6F) << "half way between 1 + 2^-7 and 1 + 2^-6, which is even";
    EXPECT_EQ(rounded<Bf16>(1 + 0x1p-8F + 0x1p-20F), 1 + 0x1p-7F);
    EXPECT_EQ(rounded<Bf16>(3.4e38F), infinity) << "nearer to 2^128 than to the largest";
    EXPECT_EQ(rounded<Bf16>(-infinity), -infinity);
    EXPECT_TRUE(std::isnan(rounded<Bf16>(std::numeric_limits<float>::quiet_NaN())));
    EXPECT_EQ(rounded<Bf16>(5 * 0x1p-135F), 0x1p-133F) << "the smallest are in steps of 2^-133";
}

// Ten bits behind the point, from 2^-14 to 65504; below in steps of 2^-24.
TEST(Fp16, IsTheNearestAndBetweenTwoTheEvenOne) {
    EXPECT_EQ(rounded<Fp16>(-1.5F), -1.5F);
    EXPECT_EQ(rounded<Fp16>(1 + 0x1p-11F), 1);
    EXPECT_EQ(rounded<Fp16>(1 + 3 * 0x1p-11F), 1 + 0x1p-9F);
    EXPECT_EQ(rounded<Fp16>(65519), 65504);
    EXPECT_EQ(rounded<Fp16>(65520), infinity) << "half way to 2^16";
    EXPECT_EQ(rounded<Fp16>(-1e30F), -infinity);
    EXPECT_EQ(rounded<Fp16>(-infinity), -infinity);
    EXPECT_TRUE(std::isnan(rounded<Fp16>(std::numeric_limits<float>::quiet_NaN())));
    EXPECT_EQ(rounded<Fp16>(0x1p-24F), 0x1p-24F);
    EXPECT_EQ(rounded<Fp16>(0x1p-25F), 0);
    EXPECT_EQ(rounded<Fp16>(3 * 0x1p-25F), 0x1p-23F);
    EXPECT_EQ(rounded<Fp16>(0x1p-14F - 0x1p-26F), 0x1p-14F) << "from the small ones up to the first of the others";
}

// Each of the 65536 words comes back as it was; what is no number stays so.
template <class Half>
int changed() {
    int count = 0;
    for (std::uint32_t i = 0; i < 0x10000; ++i) {
        const auto word = static_cast<std::uint16_t>(i);
        const float value = std::bit_cast<Half>(word);
        const Half back = value;
        if (std::isnan(value) ? !std::isnan(float{back}) : std::bit_cast<std::uint16_t>(back) != word) ++count;
    }
    return count;
}

TEST(SixteenBits, ComeBackAsTheyWere) {
    EXPECT_EQ(changed<Bf16>(), 0);
    EXPECT_EQ(changed<Fp16>(), 0);
}

}  // namespace
}  // namespace sextant
