#include "model/base/parse_number.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace sextant {
namespace {

TEST(ParseNumber, TakesAWholeTextOrNothing) {
    EXPECT_EQ(parse_number<int>("42"), 42);
    EXPECT_EQ(parse_number<int>("-7"), -7);
    EXPECT_EQ(parse_number<double>("2.5e3"), 2500);
    for (const char* text : {"", " 42", "42 ", "+42", "4x", "four"}) EXPECT_EQ(parse_number<int>(text), std::nullopt) << text;
}

TEST(ParseNumber, IsFiniteAndFitsItsType) {
    EXPECT_EQ(parse_number<int>("2147483648"), std::nullopt);  // 2^31
    EXPECT_EQ(parse_number<std::int64_t>("2147483648"), 2147483648);
    EXPECT_EQ(parse_number<std::uint64_t>("-1"), std::nullopt);
    for (const char* text : {"nan", "inf", "-inf", "1e400"}) EXPECT_EQ(parse_number<double>(text), std::nullopt) << text;
}

}  // namespace
}  // namespace sextant
