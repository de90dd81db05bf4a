#include "model/report/critical_path.hpp"

#include "tests/report/hand_made_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::hand_made {
namespace {

using namespace units;
using testing::ElementsAre;
using enum Stream;
using enum SpanKind;

TEST(CriticalPath, FollowsCausesAcrossRanksAndLeavesOutWhatIsHidden) {
    // Stage 0: forward 0 .. 10, send 10 .. 13; stage 1: forward 13 .. 23. Another forward of stage 0, 10 .. 20, is not on the path.
    HandMadeTrace t({0, 1});
    const auto f = t.add(0, compute, forward, 0, 10);
    const auto x = t.add(0, send_next, pipeline_transfer, 10, 13, f);
    t.add(0, compute, forward, 10, 20, f);
    const auto g = t.add(1, compute, forward, 13, 23, x);
    const CriticalPath path = critical_path(t.trace);
    EXPECT_THAT(path.spans, ElementsAre(f, x, g));
    EXPECT_NEAR(path.by_kind[forward] / ms, 20, 1e-9);
    EXPECT_NEAR(path.by_kind[pipeline_transfer] / ms, 3, 1e-9);
    EXPECT_NEAR(path.by_rank[0] / ms, 13, 1e-9);
    EXPECT_NEAR(path.by_rank[1] / ms, 10, 1e-9);
    EXPECT_NEAR(path.seconds / ms, 23, 1e-9);
    EXPECT_NEAR(path.waiting / ms, 0, 1e-9);
}

TEST(CriticalPath, WhatNoSpanFillsIsWaiting) {
    // 1 before the first kernel, 2 between the two, and 4 from the end of the last until the step is declared over.
    HandMadeTrace t({0});
    const auto f = t.add(0, compute, forward, 1, 10);
    t.add(0, compute, backward, 12, 20, f);
    t.trace.end = 24 * ms;
    const CriticalPath path = critical_path(t.trace);
    EXPECT_NEAR(path.seconds / ms, 17, 1e-9);
    EXPECT_NEAR(path.waiting / ms, 7, 1e-9);
}

TEST(CriticalPath, AnInstantThatTwoOfItsSpansShareCountsOnceAndForTheLater) {
    // A kernel that begins at 12 inside the exchange 10 .. 16 that let it begin.
    HandMadeTrace t({0});
    const auto x = t.add(0, compute, expert_exchange, 10, 16);
    t.add(0, compute, forward, 12, 20, x);
    const CriticalPath path = critical_path(t.trace);
    EXPECT_NEAR(path.by_kind[expert_exchange] / ms, 2, 1e-9);
    EXPECT_NEAR(path.by_kind[forward] / ms, 8, 1e-9);
}

TEST(CriticalPath, OfNothingIsNothing) {
    const CriticalPath path = critical_path({});
    EXPECT_TRUE(path.spans.empty());
    EXPECT_EQ(path.seconds, Seconds{});
}

TEST(CriticalPath, EndsThoughCausesRunInACircle) {
    HandMadeTrace t({0});
    t.add(0, compute, forward, 0, 0, 1);
    t.add(0, compute, forward, 0, 0, 0);
    EXPECT_EQ(critical_path(t.trace).spans.size(), 2u);
}

}  // namespace
}  // namespace sextant::hand_made
