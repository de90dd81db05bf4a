#include "model/report/memory_timeline.hpp"

#include "tests/report/hand_made_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::hand_made {
namespace {

using namespace units;
using testing::ElementsAre;
using enum Stream;
using enum SpanKind;

// Work 0, forward: keeps 10 MB. Work 1, backward: gives them back, and works in 4 MB while it runs. Work 2: nothing.
struct MemoryOverTime : testing::Test {
    MemoryOverTime() {
        prices.works.resize(3);
        prices.works[0].allocates = 10 * MB;
        prices.works[1].releases = 10 * MB;
        prices.works[1].working = 4 * MB;
    }
    // A span of a segment of its own that does `work`.
    void run(GraphRank rank, WorkIndex work, double start_ms, double end_ms) {
        t.add(rank, compute, work == 0 ? forward : backward, start_ms, end_ms);
        segments.push_back({.work = work, .rank = rank});
    }
    HandMadeTrace t{0, 1};
    std::vector<Segment> segments;
    CostTable prices;
    std::vector<StageMemory> base = std::vector<StageMemory>(2);
};

TEST_F(MemoryOverTime, RisesWithForwardAndFallsWithBackward) {
    // Two forwards, two backwards:   0: 10   1: 20   2: 24 (working)   4: 14 - 0 + 0 = 10 given back, then the next works: 14   6: 0
    run(0, 0, 0, 1);
    run(0, 0, 1, 2);
    run(0, 1, 2, 4);
    run(0, 1, 4, 6);
    base[0][MemoryKind::weights] = 100 * MB;
    base[0][MemoryKind::activations] = 77 * MB;  // of the closed form: the curve takes its place
    const std::vector<MemoryTimeline> timelines = memory_timelines(t.trace, segments, prices, base);
    ASSERT_EQ(timelines.size(), 2u);
    EXPECT_THAT(timelines[0].curve, ElementsAre(MemoryPoint{0 * ms, 10 * MB}, MemoryPoint{1 * ms, 20 * MB}, MemoryPoint{2 * ms, 24 * MB},
                                                MemoryPoint{4 * ms, 14 * MB}, MemoryPoint{6 * ms, 0 * MB}));
    EXPECT_EQ(timelines[0].highest, 24 * MB);
    EXPECT_EQ(timelines[0].highest_at, 2 * ms);
    EXPECT_EQ(timelines[0].peak(), 124 * MB);
}

TEST_F(MemoryOverTime, OfAStageIsThatOfItsFirstRank) {
    t.trace.ranks = {{.rank = 4, .stage = 1, .host = {}}, {.rank = 5, .stage = 1, .host = {}}, {.rank = 0, .stage = 0, .host = {}}};
    run(0, 0, 1, 2);
    run(1, 0, 0, 2);
    run(1, 0, 2, 3);
    const std::vector<MemoryTimeline> timelines = memory_timelines(t.trace, segments, prices, base);
    ASSERT_EQ(timelines.size(), 2u);
    EXPECT_EQ(timelines[0].stage, 0);
    EXPECT_EQ(timelines[0].rank, 2u);
    EXPECT_THAT(timelines[0].curve, ElementsAre(MemoryPoint{}));
    EXPECT_EQ(timelines[1].rank, 0u);
    EXPECT_THAT(timelines[1].curve, ElementsAre(MemoryPoint{}, MemoryPoint{1 * ms, 10 * MB}));
}

TEST_F(MemoryOverTime, ASegmentOfSeveralSpansHoldsFromTheFirstToTheLast) {
    run(0, 1, 2, 3);
    t.add(0, compute, tensor_exchange, 3, 5);
    t.trace.spans.back().segment = 0;
    prices.works[1].releases = {};
    EXPECT_THAT(memory_timelines(t.trace, segments, prices, base)[0].curve,
                ElementsAre(MemoryPoint{}, MemoryPoint{2 * ms, 4 * MB}, MemoryPoint{5 * ms, 0 * MB}));
}

TEST_F(MemoryOverTime, WhatAnExchangeStillDoesBehindTheNextKernelsHoldsNothing) {
    // Backward from 1 to 2, its exchange from 2 to 4, and from 2 on the next forward: 10, 14 at work, then 0 + 10.
    run(0, 0, 0, 1);
    run(0, 1, 1, 2);
    t.add(0, compute, tensor_exchange, 2, 4);
    t.trace.spans.back().segment = 1;
    t.add(0, compute, forward, 2, 3);
    t.trace.spans.back().segment = 2;
    segments.push_back({.work = 0, .rank = 0});
    EXPECT_THAT(memory_timelines(t.trace, segments, prices, base)[0].curve,
                ElementsAre(MemoryPoint{0 * ms, 10 * MB}, MemoryPoint{1 * ms, 14 * MB}, MemoryPoint{2 * ms, 10 * MB}));
}

TEST_F(MemoryOverTime, WorkThatTakesNoTimeStillNeedsItsMemory) {
    prices.works[1].releases = {};
    run(0, 1, 1, 1);
    EXPECT_EQ(memory_timelines(t.trace, segments, prices, base)[0].highest, 4 * MB);
}

TEST_F(MemoryOverTime, WhoHadNothingToRunGivesBackWhenTheSegmentBeforeItIsDone) {
    // Gathered from 0 to 1 for a pass that has nothing to do, which gives it back: 10 at 0, nothing from 1 on.
    run(0, 0, 0, 1);
    segments.push_back({.work = 1, .rank = 0});
    prices.works[1].working = {};
    EXPECT_THAT(memory_timelines(t.trace, segments, prices, base)[0].curve,
                ElementsAre(MemoryPoint{0 * ms, 10 * MB}, MemoryPoint{1 * ms, 0 * MB}));
}

TEST(HighestByInterval, IsTheMostThatIsHeldAnywhereWithin) {
    // 2 GB from 0, 5 from 3 to 4, 1 from 10 on; in intervals of 5: 5, 2, 1, and 1 held on.
    MemoryTimeline m;
    m.curve = {{0 * ms, 2 * GB}, {3 * ms, 5 * GB}, {4 * ms, 2 * GB}, {10 * ms, 1 * GB}};
    EXPECT_THAT(highest_by_interval(m, 20 * ms, 4), ElementsAre(5 * GB, 2 * GB, 1 * GB, 1 * GB));
    EXPECT_THAT(highest_by_interval(m, 10 * ms, 2), ElementsAre(5 * GB, 2 * GB));
    EXPECT_THAT(highest_by_interval(m, 0 * ms, 1), ElementsAre(0 * GB));
}

}  // namespace
}  // namespace sextant::hand_made
