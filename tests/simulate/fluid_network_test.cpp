// Worked examples; any network: fluid_network_property_test.cpp.
#include "model/simulate/fluid_network.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>

namespace sextant {
namespace {

using namespace units;

constexpr Bandwidth unlimited = Bandwidth::from_si(std::numeric_limits<double>::infinity());

FlowIndex start(FluidNetwork& network, Seconds now, Bytes bytes, std::vector<LinkUse> uses, Bandwidth limit = unlimited) {
    return network.start(now, bytes, uses, limit);
}

// When each flow ends, in seconds, as settle tells it.
std::map<FlowIndex, double> settle(FluidNetwork& network, Seconds now) {
    std::map<FlowIndex, double> finishes;
    for (const auto& finish : network.settle(now)) finishes[finish.flow] = finish.at / s;
    return finishes;
}

double gb(Bandwidth b) { return b / (GB / s); }

TEST(FluidNetwork, AFlowAloneTakesItsNarrowestLink) {
    FluidNetwork network({8 * GB / s, 4 * GB / s});
    const auto f = start(network, 1 * s, 6 * GB, {{0}, {1}});
    // 6 GB at 4 GB/s are 1.5 s, from second 1 on.
    EXPECT_EQ(settle(network, 1 * s), (std::map<FlowIndex, double>{{f, 2.5}}));
    EXPECT_DOUBLE_EQ(gb(network.rate(f)), 4);
    EXPECT_DOUBLE_EQ(gb(network.used(0)), 4);
    EXPECT_DOUBLE_EQ(gb(network.used(1)), 4);
}

TEST(FluidNetwork, TwoFlowsHalveALinkAndTheOneThatStaysSpeedsUp) {
    FluidNetwork network({10 * GB / s});
    const auto a = start(network, 0 * s, 20 * GB, {{0}});
    const auto b = start(network, 0 * s, 10 * GB, {{0}});
    EXPECT_EQ(settle(network, 0 * s), (std::map<FlowIndex, double>{{a, 4}, {b, 2}}));  // 5 GB/s each
    // At 2 s b is through; a has 20 - 2 x 5 = 10 GB left, and 10 GB/s: 1 s more.
    EXPECT_DOUBLE_EQ(network.stop(2 * s, b) / GB, 0);
    EXPECT_EQ(settle(network, 2 * s), (std::map<FlowIndex, double>{{a, 3}}));
    EXPECT_DOUBLE_EQ(gb(network.used(0)), 10);
    // Taken away at 2.25 s, it leaves 10 - 2.5 GB.
    EXPECT_DOUBLE_EQ(network.stop(2.25 * s, a) / GB, 7.5);
    EXPECT_TRUE(settle(network, 2.25 * s).empty());
    EXPECT_DOUBLE_EQ(gb(network.used(0)), 0);
}

TEST(FluidNetwork, AStartInBetweenPutsOffAnEnd) {
    FluidNetwork network({10 * GB / s});
    const auto a = start(network, 0 * s, 20 * GB, {{0}});
    EXPECT_EQ(settle(network, 0 * s), (std::map<FlowIndex, double>{{a, 2}}));
    // After 1 s a has 10 GB left; at half the rate they take 2 s.
    const auto b = start(network, 1 * s, 30 * GB, {{0}});
    EXPECT_EQ(settle(network, 1 * s), (std::map<FlowIndex, double>{{a, 3}, {b, 7}}));
}

// The parking lot: one flow along all three links, one more on each.
TEST(FluidNetwork, ALongFlowGetsWhatItsNarrowestShareLeavesAndTheOthersTheRest) {
    FluidNetwork network({10 * GB / s, 20 * GB / s, 30 * GB / s});
    const auto along = start(network, 0 * s, 1 * GB, {{0}, {1}, {2}});
    const auto first = start(network, 0 * s, 1 * GB, {{0}});
    const auto second = start(network, 0 * s, 1 * GB, {{1}});
    const auto third = start(network, 0 * s, 1 * GB, {{2}});
    network.settle(0 * s);
    // Levels at which links fill: 10/2, 20/2, 30/2. The first does at 5: along and first have 5. Then 20 - 5 and 30 - 5.
    EXPECT_DOUBLE_EQ(gb(network.rate(along)), 5);
    EXPECT_DOUBLE_EQ(gb(network.rate(first)), 5);
    EXPECT_DOUBLE_EQ(gb(network.rate(second)), 15);
    EXPECT_DOUBLE_EQ(gb(network.rate(third)), 25);
    EXPECT_DOUBLE_EQ(gb(network.used(2)), 30);
}

TEST(FluidNetwork, ABundleProgressesAsFastAsTheOthersAndTakesItsWeightOfTheLink) {
    FluidNetwork network({12 * GB / s, 30 * GB / s});
    const auto bundle = start(network, 0 * s, 12 * GB, {{0, 3.0}, {1, 2.0}});
    const auto plain = start(network, 0 * s, 12 * GB, {{0, 1.0}});
    // Link 0: 3 r + r = 12, r = 3; the bundle puts 9 on link 0 and 6 on link 1.
    EXPECT_EQ(settle(network, 0 * s), (std::map<FlowIndex, double>{{bundle, 4}, {plain, 4}}));
    EXPECT_DOUBLE_EQ(gb(network.rate(bundle)), 3);
    EXPECT_DOUBLE_EQ(gb(network.rate(plain)), 3);
    EXPECT_DOUBLE_EQ(gb(network.used(0)), 12);
    EXPECT_DOUBLE_EQ(gb(network.used(1)), 6);
}

TEST(FluidNetwork, WhatALimitedFlowLeavesGoesToTheOthers) {
    FluidNetwork network({12 * GB / s});
    const auto slow = start(network, 0 * s, 12 * GB, {{0}}, 2 * GB / s);
    const auto a = start(network, 0 * s, 10 * GB, {{0}});
    const auto b = start(network, 0 * s, 10 * GB, {{0}});
    // 12 - 2 = 10 for two.
    EXPECT_EQ(settle(network, 0 * s), (std::map<FlowIndex, double>{{slow, 6}, {a, 2}, {b, 2}}));
}

TEST(FluidNetwork, ALimitMayStandForALinkAndMayBeNothingAtAll) {
    FluidNetwork network({});
    const auto f = start(network, 0 * s, 4 * GB, {}, 2 * GB / s);
    const auto never = start(network, 0 * s, 1 * B, {}, 0 * GB / s);
    const auto finishes = settle(network, 0 * s);
    EXPECT_EQ(finishes.at(f), 2);
    EXPECT_EQ(finishes.at(never), std::numeric_limits<double>::infinity());
}

TEST(FluidNetwork, NoBytesAreThroughAtOnce) {
    FluidNetwork network({1 * GB / s});
    const auto nothing = start(network, 3 * s, 0 * B, {{0}});
    const auto something = start(network, 3 * s, 1 * GB, {{0}});
    EXPECT_EQ(settle(network, 3 * s), (std::map<FlowIndex, double>{{nothing, 3}, {something, 5}}));
    EXPECT_DOUBLE_EQ(network.stop(3 * s, nothing) / B, 0);
    EXPECT_EQ(settle(network, 3 * s), (std::map<FlowIndex, double>{{something, 4}}));
}

TEST(FluidNetwork, FlowsThatShareNothingKeepTheirTimes) {
    FluidNetwork network({1 * GB / s, 1 * GB / s});
    const auto a = start(network, 0 * s, 4 * GB, {{0}});
    EXPECT_EQ(settle(network, 0 * s).size(), 1u);
    const auto b = start(network, 1 * s, 4 * GB, {{1}});
    EXPECT_EQ(settle(network, 1 * s), (std::map<FlowIndex, double>{{b, 5}}));
    network.stop(2 * s, b);
    EXPECT_TRUE(settle(network, 2 * s).empty());
    EXPECT_DOUBLE_EQ(gb(network.rate(a)), 1);
}

// Three ports of 10 behind an uplink of 30: it can never be what limits them, so nobody's time is new when another comes or goes.
TEST(FluidNetwork, ALinkThatItsFlowsCannotFillJoinsNobody) {
    FluidNetwork network({10 * GB / s, 10 * GB / s, 10 * GB / s, 30 * GB / s, 10 * GB / s});
    start(network, 0 * s, 10 * GB, {{0}, {3}});
    start(network, 0 * s, 10 * GB, {{1}, {3}});
    EXPECT_EQ(settle(network, 0 * s).size(), 2u);
    const auto c = start(network, 0.5 * s, 10 * GB, {{2}, {3}});
    EXPECT_EQ(settle(network, 0.5 * s), (std::map<FlowIndex, double>{{c, 1.5}}));
    // A fourth makes it 30 / 4 = 7.5 for each; when it goes all are back to 10.
    const auto d = start(network, 0.75 * s, 10 * GB, {{4}, {3}});
    EXPECT_EQ(settle(network, 0.75 * s).size(), 4u);
    EXPECT_DOUBLE_EQ(gb(network.rate(c)), 7.5);
    EXPECT_DOUBLE_EQ(gb(network.used(3)), 30);
    network.stop(0.75 * s, d);
    EXPECT_EQ(settle(network, 0.75 * s).size(), 3u);
    EXPECT_DOUBLE_EQ(gb(network.rate(c)), 10);
}

TEST(FluidNetwork, AFlowThatComesAndGoesAtOneInstantChangesNothing) {
    FluidNetwork network({10 * GB / s});
    const auto a = start(network, 0 * s, 10 * GB, {{0}});
    network.settle(0 * s);
    const auto b = start(network, 0.5 * s, 10 * GB, {{0}});
    EXPECT_DOUBLE_EQ(network.stop(0.5 * s, b) / GB, 10);
    EXPECT_TRUE(settle(network, 0.5 * s).empty());
    // The index given again within an instant: told once.
    const auto c = start(network, 0.6 * s, 10 * GB, {{0}});
    network.stop(0.6 * s, c);
    EXPECT_EQ(start(network, 0.6 * s, 5 * GB, {{0}}), c);
    EXPECT_EQ(settle(network, 0.6 * s), (std::map<FlowIndex, double>{{a, 1.4}, {c, 1.6}}));
}

// Eleven ports, a flow from each to the six after it: all alike. Were their rates apart by a rounding error, they would end at several
// instants instead of one, with new rates at each.
TEST(FluidNetwork, FlowsThatAreAlikeGetTheVerySameRate) {
    constexpr std::uint32_t ports = 11;
    FluidNetwork network(std::vector<Bandwidth>(2 * ports, 1 * GB / s));
    for (std::uint32_t from = 0; from < ports; ++from)
        for (std::uint32_t k = 1; k <= 6; ++k) start(network, 0 * s, 1 * GB, {{from}, {ports + (from + k) % ports}});
    const auto finishes = settle(network, 0 * s);
    ASSERT_EQ(finishes.size(), 66u);
    for (const auto& [flow, at] : finishes) EXPECT_EQ(at, finishes.begin()->second);
    EXPECT_NEAR(finishes.begin()->second, 6, 1e-12);  // a sixth of a port each
}

}  // namespace
}  // namespace sextant
