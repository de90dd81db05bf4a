#include "model/predict/link_sharing.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

Slowed slowed(const std::vector<SharedLink>& links) {
    std::vector<SharedLink> kept;
    for (const SharedLink& l : links) keep(kept, l);
    return side_by_side(kept);
}

TEST(SideBySide, TwoExchangesOfOneLinkTakeTwiceAsLongWhereTheyAreEquallyFast) {
    EXPECT_NEAR(slowed({{0.1, 0.1}}).one, 2, 1e-12);
    EXPECT_NEAR(slowed({{0.1, 0.1}}).other, 2, 1e-12);
}

TEST(SideBySide, GetEqualRatesSoThatTheFasterOneLosesMore) {
    // Alone 10 and 2.5 bytes a second; together 1 / (0.1 + 0.4) = 2 each.
    EXPECT_NEAR(slowed({{0.1, 0.4}}).one, 5, 1e-12);
    EXPECT_NEAR(slowed({{0.1, 0.4}}).other, 1.25, 1e-12);
}

TEST(SideBySide, OneThatIsHeldUpElsewhereLeavesTheRestToTheOther) {
    // The second gets no more than 2 over a link of its own, which leaves 1 - 0.02 x 2 of the link that they share: 9.6 for the first.
    EXPECT_NEAR(slowed({{0.1, 0.02}, {0, 0.5}}).one, 10 / 9.6, 1e-12);
    EXPECT_NEAR(slowed({{0.1, 0.02}, {0, 0.5}}).other, 1, 1e-12);
}

TEST(SideBySide, DoNotSlowEachOtherOnLinksOfTheirOwn) {
    EXPECT_EQ(slowed({{0.1, 0}, {0, 0.5}}).one, 1);
    EXPECT_EQ(slowed({{0.1, 0}, {0, 0.5}}).other, 1);
    EXPECT_EQ(slowed({}).one, 1);
}

TEST(SharedLinks, AreKeptOnlyWhereNoOtherTakesMoreOfBoth) {
    std::vector<SharedLink> links;
    for (const SharedLink& l : {SharedLink{1, 1}, {2, 1}, {1, 3}, {1, 2}}) keep(links, l);
    ASSERT_EQ(links.size(), 2);
    EXPECT_EQ(links[0].one, 2);
    EXPECT_EQ(links[1].other, 3);
}

}  // namespace
}  // namespace sextant
