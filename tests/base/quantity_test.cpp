#include "model/base/quantity_text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace sextant {
namespace {

using namespace units;

TEST(Quantity, DividingLikeByLikeLeavesAPlainNumber) {
    const Bandwidth hbm = 2 * TB / s;
    const Seconds t = 80 * GB / hbm;  // 80e9 / 2e12 = 0.04 s
    EXPECT_DOUBLE_EQ(t / ms, 40);
}

TEST(Quantity, GigabytesAreDecimalAndGibibytesBinary) { EXPECT_DOUBLE_EQ(1 * GiB / GB, 1.073741824); }

TEST(QuantityText, ReadsAUnitAndRefusesANakedNumber) {
    EXPECT_DOUBLE_EQ(*parse_quantity("3.35 TB/s", unit_table<Bandwidth>()).si, 3.35e12);
    EXPECT_DOUBLE_EQ(*parse_quantity("100 Gbit/s", unit_table<Bandwidth>()).si, 12.5e9);
    EXPECT_FALSE(parse_quantity("3.35", unit_table<Bandwidth>()).si);
    EXPECT_NE(parse_quantity("3.35", unit_table<Bandwidth>()).error.find("unit missing"), std::string::npos);
    EXPECT_FALSE(parse_quantity("20 us", unit_table<Bandwidth>()).si);
    EXPECT_FALSE(parse_quantity("1e999 s", unit_table<Seconds>()).si);
    EXPECT_FALSE(parse_quantity("nan s", unit_table<Seconds>()).si);
}

TEST(QuantityText, PrintsTheUnitThatLeavesOneToThreeDigits) {
    EXPECT_EQ(to_text(0.04 * s), "40.0 ms");
    EXPECT_EQ(to_text(3.35 * TB / s), "3.35 TB/s");
    EXPECT_EQ(to_text(312 * TFLOP / s), "312 TFLOP/s");
    EXPECT_EQ(to_text(0 * s), "0 ns");
    EXPECT_EQ(to_text(0.9999 * s), "1.00 s");
}

TEST(QuantityText, WritesWhatIsNoNumberAsThat) {
    EXPECT_EQ(number_text(std::numeric_limits<double>::quiet_NaN()), "nan");
    EXPECT_EQ(number_text(-std::numeric_limits<double>::infinity()), "-inf");
}

}  // namespace
}  // namespace sextant
