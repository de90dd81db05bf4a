#include "model/hardware/ring_packing.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using Matrix = std::vector<std::vector<int>>;

Matrix joined_all_to_all(int members, int links) {
    Matrix count(members, std::vector<int>(members, links));
    for (int a = 0; a < members; ++a) count[a][a] = 0;
    return count;
}

TEST(RingPacking, TwoMembersExchangeOverAllTheirLinks) { EXPECT_EQ(pack_rings({{0, 3}, {3, 0}})->links, 3); }

TEST(RingPacking, EqualLinksBetweenAllPairsAreAllUsed) { EXPECT_EQ(pack_rings(joined_all_to_all(6, 2))->links, 10); }

TEST(RingPacking, APathIsNoRing) { EXPECT_FALSE(pack_rings({{0, 1, 0}, {1, 0, 1}, {0, 1, 0}})); }

TEST(RingPacking, ASquareCarriesOneRingEachWay) {
    // 0-1-2-3-0 and no diagonals: one cycle, weight 1, both directions: 2. It sends half to either neighbour.
    const auto bundle = pack_rings({{0, 1, 0, 1}, {1, 0, 1, 0}, {0, 1, 0, 1}, {1, 0, 1, 0}});
    EXPECT_EQ(bundle->links, 2);
    EXPECT_EQ(bundle->order, (std::vector<int>{0, 1, 2, 3}));
    EXPECT_EQ(bundle->use, (std::vector<double>{0, .5, 0, .5, .5, 0, .5, 0, 0, .5, 0, .5, .5, 0, .5, 0}));
}

TEST(RingPacking, FractionsOfRingsBeatWholeOnes) {
    // Four members, every pair one link but 0-1 with three. Cycles A = 0123, B = 0132, C = 0213; pairs 0-2: B + C <= 1, 0-3: A + C <= 1,
    // 1-2: A + C <= 1, 1-3: B + C <= 1, 2-3: A + B <= 1. So 2 (A + B + C) <= 3, reached by one half each: 1.5, both directions 3.
    Matrix count = joined_all_to_all(4, 1);
    count[0][1] = count[1][0] = 3;
    EXPECT_NEAR(pack_rings(count)->links, 3, 1e-9);
}

TEST(RingPacking, TheWeakestMemberLimitsTheBundle) {
    // Member 3 has three links in all; a bundle enters and leaves every member with its whole bandwidth.
    Matrix count = joined_all_to_all(4, 5);
    for (int a = 0; a < 3; ++a) count[a][3] = count[3][a] = 1;
    EXPECT_NEAR(pack_rings(count)->links, 3, 1e-9);
}

TEST(RingPacking, WhatAMemberSendsSumsToOne) {
    Matrix count = joined_all_to_all(8, 1);
    for (int a = 0; a < 8; ++a) count[a][(a + 3) % 8] = count[(a + 3) % 8][a] = 2 + a % 2;
    const auto bundle = pack_rings(count);
    ASSERT_TRUE(bundle);
    for (int a = 0; a < 8; ++a) {
        double sent = 0, received = 0;
        for (int b = 0; b < 8; ++b) {
            sent += bundle->use[a * 8 + b];
            received += bundle->use[b * 8 + a];
            EXPECT_LE(bundle->use[a * 8 + b] * bundle->links, count[a][b] + 1e-9);
        }
        EXPECT_NEAR(sent, 1, 1e-9);
        EXPECT_NEAR(received, 1, 1e-9);
    }
}

TEST(RingPacking, LargeBoardsTakeRingsOneByOne) {
    // A ring of twelve with two links between neighbours: two cycles, both directions: 4.
    Matrix count(12, std::vector<int>(12));
    for (int a = 0; a < 12; ++a) count[a][(a + 1) % 12] = count[(a + 1) % 12][a] = 2;
    EXPECT_EQ(pack_rings(count)->links, 4);
}

}  // namespace
}  // namespace sextant
