#include "tests/simulate/reference/collective_flows.hpp"
#include "tests/hardware/machines.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sextant {
namespace {

using namespace units;

constexpr Wire port{1 * GB / s, 1 * us};

// The same ranks on other places of a network.
RankNetwork placed(const RankNetwork& network, std::vector<int> place) {
    return {network.capacities,
            [route = network.route, place = std::move(place)](int from, int to) { return route(place[from], place[to]); }};
}

// Folded, it is what its flows one by one say.
void expect_folds(const RankNetwork& network, const CollectiveSchedule& schedule) {
    const auto folded = fold(network, schedule);
    const auto played = play(network, schedule);
    ASSERT_TRUE(folded);
    EXPECT_NEAR(folded->end / played.end, 1, 1e-9);
    EXPECT_EQ(folded->flows, played.flows);
}

TEST(CollectiveFlows, ARingOnAStarTakesItsStepsOneAfterAnother) {
    // 4 ranks, 8 MB: 6 steps of 2 MB, each 2 hops of 1 us and 2 ms. 24 flows; an event when its latency is over and one at its end.
    const auto played = play(star(4, port), ring_all_reduce(4, 8 * MB));
    EXPECT_NEAR(played.end / ms, 12.012, 1e-9);
    EXPECT_EQ(played.flows, 24u);
    EXPECT_EQ(played.events, 48u);
    EXPECT_NEAR(play(star(4, port), ring_all_gather(4, 8 * MB)).end / ms, 6.006, 1e-9);
    EXPECT_NEAR(play(star(4, port), ring_reduce_scatter(4, 8 * MB)).end / ms, 6.006, 1e-9);
}

TEST(CollectiveFlows, OneRankAloneSendsNothing) {
    for (const auto& schedule :
         {ring_all_reduce(1, 1 * GB), two_level_all_reduce(1, 1, 1 * GB), pairwise_all_to_all(1, 1 * GB), tree_broadcast(1, 1 * GB)}) {
        const auto played = simulate_collective(star(1, port), schedule);
        EXPECT_EQ(played.end / s, 0);
        EXPECT_EQ(played.flows, 0u);
    }
}

TEST(CollectiveFlows, TheSlowestHopOfARingSetsThePace) {
    // Two leaves of two: hops 1 -> 2 and 3 -> 0 cross the spine, 2 x (1 + 3) us; 6 x (2 ms + 8 us). The other hops wait for them.
    const auto tree = fat_tree({.leaves = 2, .ranks_per_leaf = 2, .spines = 1, .port = port, .uplink = {1 * GB / s, 3 * us}});
    EXPECT_NEAR(play(tree, ring_all_reduce(4, 8 * MB)).end / ms, 12.048, 1e-9);
    expect_folds(tree, ring_all_reduce(4, 8 * MB));
}

TEST(CollectiveFlows, HopsThatShareAnUplinkHalveIt) {
    // In the order 0 2 1 3 every hop crosses the spine, two on each uplink: 6 x (4 ms + 8 us).
    const auto tree = fat_tree({.leaves = 2, .ranks_per_leaf = 2, .spines = 1, .port = port, .uplink = {1 * GB / s, 3 * us}});
    const auto crossed = placed(tree, {0, 2, 1, 3});
    EXPECT_NEAR(play(crossed, ring_all_reduce(4, 8 * MB)).end / ms, 24.048, 1e-9);
    expect_folds(crossed, ring_all_reduce(4, 8 * MB));
}

TEST(CollectiveFlows, TwoLevelsScatterInsideReduceAcrossAndGatherInside) {
    // 3 groups of 2, 12 MB, each group on a leaf with an uplink of 1 GB/s. Inside: 1 step of 6 MB, 6 ms + 2 us, twice. Across: 2 x 2 steps
    // of 2 MB, both ranks of a leaf on one uplink: 4 ms + 8 us. 12.004 + 16.032.
    const auto tree = fat_tree({.leaves = 3, .ranks_per_leaf = 2, .spines = 1, .port = port, .uplink = {1 * GB / s, 3 * us}});
    const auto played = play(tree, two_level_all_reduce(3, 2, 12 * MB));
    EXPECT_NEAR(played.end / ms, 28.036, 1e-9);
    EXPECT_EQ(played.flows, 6u * (1 + 4 + 1));
    expect_folds(tree, two_level_all_reduce(3, 2, 12 * MB));
    // One level of one is a plain ring.
    EXPECT_EQ(play(tree, two_level_all_reduce(1, 6, 12 * MB)).end, play(tree, ring_all_reduce(6, 12 * MB)).end);
    EXPECT_EQ(play(tree, two_level_all_reduce(6, 1, 12 * MB)).end, play(tree, ring_all_reduce(6, 12 * MB)).end);
}

TEST(CollectiveFlows, AllToAllSendsToOneRankAfterAnother) {
    // 4 ranks, 8 MB of each: 3 rounds of 2 MB, 2 ms + 2 us.
    const auto played = play(star(4, port), pairwise_all_to_all(4, 8 * MB));
    EXPECT_NEAR(played.end / ms, 6.006, 1e-9);
    EXPECT_EQ(played.flows, 12u);
    expect_folds(star(4, port), pairwise_all_to_all(4, 8 * MB));
}

TEST(CollectiveFlows, ATreePassesTheWholeMessageFromLevelToLevel) {
    // 7 ranks, 1 MB: T = 1 ms + 2 us. 0 sends to 1 until T, to 2 until 2 T; 1 to 3 until 2 T, to 4 until 3 T; 2 to 5 until 3 T, to 6 until
    // 4 T.
    const auto played = play(star(7, port), tree_broadcast(7, 1 * MB));
    EXPECT_NEAR(played.end / ms, 4 * 1.002, 1e-9);
    EXPECT_EQ(played.flows, 6u);
    // Ranks that have nothing to do in a round go on: nothing of this is a round of all.
    EXPECT_FALSE(fold(star(7, port), tree_broadcast(7, 1 * MB)));
    EXPECT_EQ(simulate_collective(star(7, port), tree_broadcast(7, 1 * MB)).end, played.end);
    // 4 ranks: the lowest level has a first child only. 0 to 1, 1 to 3 while 0 to 2.
    EXPECT_NEAR(play(star(4, port), tree_broadcast(4, 1 * MB)).end / ms, 2 * 1.002, 1e-9);
}

TEST(CollectiveFlows, DevicesOfATopologyUseItsPaths) {
    const auto node = Topology::build(machines::dgx_cluster(), 2);
    const std::vector<DeviceIndex> inside{0, 1, 2, 3, 4, 5, 6, 7};
    // 270 GB/s of a port and 2 us from device to device: 14 x (1 GB / 270 GB/s + 2 us).
    EXPECT_NEAR(play(network_of(node, inside), ring_all_reduce(8, 8 * GB)).end / ms, 14 * (1000.0 / 270 + 0.002), 1e-6);
    expect_folds(network_of(node, inside), ring_all_reduce(8, 8 * GB));
    // Over two nodes the hop between them sets the pace.
    const auto hop = node.path(7, 8);
    ASSERT_TRUE(hop.crosses_network);
    const std::vector<DeviceIndex> both{6, 7, 8, 9};
    EXPECT_NEAR(play(network_of(node, both), ring_all_reduce(4, 4 * GB)).end / (1 * GB / hop.bottleneck + hop.latency), 6, 1e-9);
    expect_folds(network_of(node, both), ring_all_reduce(4, 4 * GB));
}

// --- folding

TEST(CollectiveFolding, IsRefusedWhereHopsShareALinkAndAreNotAlike) {
    // Order 0 1 4 2 5 3 on leaves {0 1 2} {3 4 5}: 1 -> 4, 2 -> 5 leave the first leaf together and 4 -> 2, 3 -> 0 the other; 0 -> 1, 5 ->
    // 3 do not. After the first round the inner hops run ahead and the sharing changes.
    const auto tree = fat_tree({.leaves = 2, .ranks_per_leaf = 3, .spines = 1, .port = port, .uplink = {1 * GB / s, 3 * us}});
    const auto network = placed(tree, {0, 1, 4, 2, 5, 3});
    const auto schedule = ring_all_reduce(6, 6 * MB);
    EXPECT_FALSE(fold(network, schedule));
    const auto simulated = simulate_collective(network, schedule);
    EXPECT_EQ(simulated.end, play(network, schedule).end);
    EXPECT_GT(simulated.events, 0u);
}

TEST(CollectiveFolding, IsRefusedWhereRaggedRoundsAreNotTheLast) {
    // One slow port: groups of a two-level all-reduce do not come out of the first rounds together.
    auto network = star(4, port);
    network.capacities[0] = 0.5 * GB / s;
    EXPECT_FALSE(fold(network, two_level_all_reduce(2, 2, 8 * MB)));
    // A plain ring folds: 6 x (2 MB / 0.5 GB/s + 2 us).
    expect_folds(network, ring_all_reduce(4, 8 * MB));
    EXPECT_NEAR(fold(network, ring_all_reduce(4, 8 * MB))->end / ms, 24.012, 1e-9);
}

// Any network: either refused or right, and both happen.
TEST(CollectiveFolding, IsRightOrRefusedOnAnyNetwork) {
    std::mt19937 random(11);
    const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    int folded = 0, refused = 0;
    for (int i = 0; i < 400; ++i) {
        const FatTree tree{.leaves = 1 + pick(4),
                           .ranks_per_leaf = 1 + pick(4),
                           .spines = 1 + pick(2),
                           .port = {(1 + pick(2)) * GB / s, pick(3) * us},
                           .uplink = {(1 + pick(4)) * GB / s, pick(2) * us}};
        const int ranks = tree.leaves * tree.ranks_per_leaf;
        std::vector<int> place(ranks);
        for (int r = 0; r < ranks; ++r) place[r] = r;
        if (pick(2) == 0) std::shuffle(place.begin(), place.end(), random);
        RankNetwork network = placed(fat_tree(tree), place);
        if (pick(3) == 0) network.capacities[pick(static_cast<int>(network.capacities.size()))] = 0.3 * GB / s;
        const Bytes bytes = pick(8) * MB;
        for (const auto& schedule : {ring_all_reduce(ranks, bytes), ring_all_gather(ranks, bytes), pairwise_all_to_all(ranks, bytes),
                                     two_level_all_reduce(tree.leaves, tree.ranks_per_leaf, bytes), tree_broadcast(ranks, bytes)}) {
            const auto once = fold(network, schedule);
            const auto played = play(network, schedule);
            ++(once ? folded : refused);
            if (once) {
                ASSERT_NEAR(once->end / us, played.end / us, 1e-9 * (played.end / us)) << "network " << i;
                ASSERT_EQ(once->flows, played.flows);
            }
        }
    }
    EXPECT_GT(folded, 300);
    EXPECT_GT(refused, 300);
}

}  // namespace
}  // namespace sextant
