// Charts of two axes: what stands where.
#include "model/io/format/chart.hpp"

#include "model/io/search/plan_axis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

namespace sextant {
namespace {

using namespace units;
using testing::HasSubstr;
using testing::Not;

// Where the baseline of a text is.
std::pair<double, double> place_of(const std::string& svg, const std::string& text) {
    std::smatch found;
    const std::regex pattern("<text x=\"([^\"]*)\" y=\"([^\"]*)\"[^>]*>" + text + "</text>");
    return std::regex_search(svg, found, pattern) ? std::pair(std::stod(found[1]), std::stod(found[2])) : std::pair(-1.0, -1.0);
}

TEST(Chart, NamesOfPointsAvoidPointsAndOneAnother) {
    svg::Chart chart("Plans", "", {"x", 0, 100}, {"y", 0, 100});
    // The second is covered by the first: its name finds the first one's at its right, and goes to the left of the point.
    chart.point({50, 50}, {}, 5, "", "first");
    chart.point({50, 50}, {}, 5, "", "second");
    const std::string svg = chart.document();
    const auto [x1, y1] = place_of(svg, "first");
    const auto [x2, y2] = place_of(svg, "second");
    EXPECT_EQ(y1, y2);
    EXPECT_NEAR(x1 - x2, 2 * (5 + 4) + svg::width_of("second", 11), 0.02);
}

TEST(Chart, WhatHasNoRoomIsLeftToTheTip) {
    svg::Chart chart("Plans", "", {"x", 0, 100}, {"y", 0, 100});
    for (const char* name : {"a", "b", "c", "d", "e"}) chart.point({50, 50}, {}, 5, std::string("tip of ") + name, name);
    const std::string svg = chart.document();
    EXPECT_GT(place_of(svg, "d").first, 0);  // there are four places around a point
    EXPECT_LT(place_of(svg, "e").first, 0);
    EXPECT_THAT(svg, HasSubstr("tip of e"));
}

TEST(Chart, TheLegendStandsAboveTheGround) {
    svg::Chart chart("Plans", "", {"x", 0, 100}, {"y", 0, 100});
    for (int i = 0; i < 12; ++i) chart.legend("a name that is rather long " + std::to_string(i), {});
    chart.point({0, 100}, {}, 5, "");
    const std::string svg = chart.document();
    std::smatch circle;
    ASSERT_TRUE(std::regex_search(svg, circle, std::regex("cy=\"([^\"]*)\"")));
    EXPECT_LT(place_of(svg, "a name that is rather long 11").second + 5, std::stod(circle[1]));
}

TEST(Chart, BeyondABreakNothingIsToScale) {
    svg::Axis x{"x", 0, 100};
    x.broken_at = 70;
    const std::string svg = svg::Chart("Plans", "", x, {"y", 0, 1}).document();
    EXPECT_THAT(svg, HasSubstr(">60</text>"));
    EXPECT_THAT(svg, Not(HasSubstr(">80</text>")));
}

TEST(PlanMemoryAxis, PutsWhatIsTooLargeByFarBehindABreak) {
    const PlanMemoryAxis axis{40 * GB};
    EXPECT_FALSE(axis.is_beyond(44 * GB));  // a tenth more than there is
    EXPECT_TRUE(axis.is_beyond(45 * GB));
    EXPECT_EQ(axis.place_of(44 * GB), 44 * GB);
    EXPECT_DOUBLE_EQ(axis.place_of(113 * GB) / GB, 52);  // 1.3 times 40
    EXPECT_LT(axis.broken_at(), axis.place_of(113 * GB));
    EXPECT_TRUE(axis.shows_device(11 * GB));
    EXPECT_FALSE(axis.shows_device(10 * GB));  // a quarter of what there is: all would stand at the left edge
}

TEST(Svg, WritesTheSignsThatPeopleWrite) {
    EXPECT_EQ(svg::escaped("3.5 us, n0.nic0 -> leaf0"), "3.5 \u00b5s, n0.nic0 \u2192 leaf0");
    EXPECT_EQ(svg::escaped("3 users let us go"), "3 users let us go");
}

}  // namespace
}  // namespace sextant
