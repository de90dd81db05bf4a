#include "model/base/grouped_digits.hpp"
#include "model/base/quantity_text.hpp"
#include "tests/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>
#include <limits>
#include <string>

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

// The unit that is meant is named, and not taken: a "b" may be a bit or a byte.
TEST(QuantityText, NamesTheUnitThatAnotherSpellingMeans) {
    const auto complaint = [](const char* text, const UnitTable& table) { return parse_quantity(text, table).error; };
    const UnitTable &bandwidth = unit_table<Bandwidth>(), &size = unit_table<Bytes>(), &rate = unit_table<FlopRate>();
    EXPECT_THAT(complaint("400Gbps", bandwidth),
                testing::HasSubstr("\"Gbps\" is not a unit of bandwidth; did you mean \"400 Gbit/s\"? known: PB/s"));
    for (const auto* text : {"400 Gb/s", "400 GBit/s", "400 Gbits/s", "400 gbps", "400 Gbit"})
        EXPECT_THAT(complaint(text, bandwidth), testing::HasSubstr("did you mean \"400 Gbit/s\"?")) << text;
    EXPECT_THAT(complaint("1.5e2 MBps", bandwidth), testing::HasSubstr("did you mean \"1.5e2 MB/s\"?"));
    EXPECT_THAT(complaint("25 gb/s", bandwidth), testing::HasSubstr("did you mean \"25 Gbit/s\" or \"25 GB/s\"?"));
    EXPECT_THAT(complaint("100 GiB", bandwidth), testing::HasSubstr("did you mean \"100 GiB/s\"?"));
    EXPECT_THAT(complaint("80 gib", size), testing::HasSubstr("did you mean \"80 GiB\"?"));
    EXPECT_THAT(complaint("312 TFLOPS", rate), testing::HasSubstr("did you mean \"312 TFLOP/s\"?"));
    EXPECT_THAT(complaint("2 TFLOPs", unit_table<Flops>()), testing::HasSubstr("did you mean \"2 TFLOP\"?"));
    EXPECT_THAT(complaint("20 \u00b5s", unit_table<Seconds>()), testing::HasSubstr("did you mean \"20 us\"?"));
    EXPECT_THAT(complaint("3 parsecs", bandwidth), testing::HasSubstr("\"parsecs\" is not a unit of bandwidth; known: "));
}

TEST(QuantityText, PrintsTheUnitThatLeavesOneToThreeDigits) {
    EXPECT_EQ(to_text(0.04 * s), "40.0 ms");
    EXPECT_EQ(to_text(3.35 * TB / s), "3.35 TB/s");
    EXPECT_EQ(to_text(312 * TFLOP / s), "312 TFLOP/s");
    EXPECT_EQ(to_text(0 * s), "0 ns");
    EXPECT_EQ(to_text(0.9999 * s), "1.00 s");
    EXPECT_EQ(to_text(29137 * W * s), "29.1 kJ");
    EXPECT_EQ(to_text(3.5 * 1e6 * W * s), "3.50 MJ");
    EXPECT_EQ(to_text(1 * kWh), "1.00 kWh");
}

TEST(QuantityText, WritesWhatIsNoNumberAsThat) {
    EXPECT_EQ(number_text(std::numeric_limits<double>::quiet_NaN()), "nan");
    EXPECT_EQ(number_text(-std::numeric_limits<double>::infinity()), "-inf");
}

// Qt sets the language of the user for C's functions, too. The machine need not know German: it is made here.
class QuantityTextOnAGermanDesktop : public TemporaryFolder {
protected:
    void SetUp() override {
        TemporaryFolder::SetUp();
        if (std::system(("localedef -i de_DE -f UTF-8 " + file("de_DE.UTF-8") + " >/dev/null 2>&1").c_str()) != 0)
            GTEST_SKIP() << "localedef has no description of German (Debian: locales)";
        setenv("LOCPATH", folder_.c_str(), 1);
        ASSERT_TRUE(std::setlocale(LC_NUMERIC, "de_DE.UTF-8"));
    }
    void TearDown() override {
        std::setlocale(LC_NUMERIC, "C");
        unsetenv("LOCPATH");
        TemporaryFolder::TearDown();
    }
};

TEST_F(QuantityTextOnAGermanDesktop, HasPoints) {
    EXPECT_EQ(to_text(3.35 * TB / s), "3.35 TB/s");
    EXPECT_EQ(number_text(2.5e-7), "2.5e-07");
    EXPECT_EQ(grouped_digits(450.31, 4), "450.3");
}

TEST(GroupedDigits, MarksEveryThirdOfAWholeNumber) {
    EXPECT_EQ(grouped_digits(0), "0");
    EXPECT_EQ(grouped_digits(999), "999");
    EXPECT_EQ(grouped_digits(std::size_t{1024}), "1,024");
    EXPECT_EQ(grouped_digits(-28'657'498), "-28,657,498");
    EXPECT_EQ(grouped_digits(103535.4, 4), "103,535");
    EXPECT_EQ(grouped_digits(450.31, 4), "450.3");
    EXPECT_EQ(grouped_digits(1e18), "1e+18");
}

TEST(QuantityText, SignsStandForUnitsAndArrowsAndNotForWords) {
    EXPECT_EQ(with_signs("3.5 us, n0.nic0 -> leaf0"), "3.5 \u00b5s, n0.nic0 \u2192 leaf0");
    EXPECT_EQ(with_signs("4 users in use: us"), "4 users in use: us");
}

}  // namespace
}  // namespace sextant
