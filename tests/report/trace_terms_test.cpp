#include "model/report/trace_terms.hpp"

#include "tests/report/hand_made_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

namespace sextant::hand_made {
namespace {

using namespace units;
using enum Stream;
using enum SpanKind;

using Milliseconds = std::map<Term, double>;

// Terms that are not zero, in whole microseconds.
Milliseconds in_ms(const Terms& terms) {
    Milliseconds found;
    for (const Term t : all_terms)
        if (terms[t] > Seconds{}) found[t] = std::round(terms[t] / us) / 1000;
    return found;
}

TEST(TraceTerms, AComputeStreamThatIsNeverIdleGivesItsKinds) {
    HandMadeTrace t({0});
    t.add(0, compute, forward, 0, 10);
    t.add(0, compute, tensor_exchange, 10, 12, 0);
    t.add(0, compute, launch, 12, 13, 1);
    t.add(0, compute, recompute, 13, 20, 2);
    t.add(0, compute, backward, 20, 40, 3);
    t.add(0, compute, optimizer, 40, 45, 4);
    t.add(0, compute, overhead, 45, 46, 5);
    EXPECT_EQ(in_ms(terms_of(t.trace, 0)), (Milliseconds{{Term::forward, 10},
                                                         {Term::tensor_communication, 2},
                                                         {Term::launch, 1},
                                                         {Term::recompute, 7},
                                                         {Term::backward, 20},
                                                         {Term::optimizer, 5},
                                                         {Term::overhead, 1}}));
    EXPECT_THAT(in_ms(overlapped_of(t.trace, 0)), testing::IsEmpty());
}

TEST(TraceTerms, AnAllReduceBehindBackwardIsOverlappedAndItsTailIsExposed) {
    // Backward 10 .. 30; buckets 20 .. 28 and 30 .. 36 behind it; the update waits for the second.
    //   data communication: 30 .. 36 = 6 exposed; 20 .. 28 = 8 overlapped
    HandMadeTrace t({0});
    const auto f = t.add(0, compute, forward, 0, 10);
    const auto b1 = t.add(0, compute, backward, 10, 20, f);
    const auto b2 = t.add(0, compute, backward, 20, 30, b1);
    t.add(0, communication, data_exchange, 20, 28, b1);
    const auto x2 = t.add(0, communication, data_exchange, 30, 36, b2);
    t.add(0, compute, optimizer, 36, 40, x2);
    EXPECT_EQ(in_ms(terms_of(t.trace, 0)),
              (Milliseconds{{Term::forward, 10}, {Term::backward, 20}, {Term::data_communication, 6}, {Term::optimizer, 4}}));
    EXPECT_EQ(in_ms(overlapped_of(t.trace, 0)), (Milliseconds{{Term::data_communication, 8}}));
}

TEST(TraceTerms, BucketsThatQueueBehindEachOtherAreExposedTogether) {
    // The second bucket cannot start before the first is through: the gap 30 .. 48 follows both, 18 exposed; 20 .. 30 is overlapped.
    HandMadeTrace t({0});
    const auto b1 = t.add(0, compute, backward, 0, 20);
    t.add(0, compute, backward, 20, 30, b1);
    const auto x1 = t.add(0, communication, data_exchange, 20, 38, b1);
    const auto x2 = t.add(0, communication, data_exchange, 38, 48, x1);
    t.add(0, compute, optimizer, 48, 50, x2);
    EXPECT_EQ(in_ms(terms_of(t.trace, 0)), (Milliseconds{{Term::backward, 30}, {Term::data_communication, 18}, {Term::optimizer, 2}}));
    EXPECT_EQ(in_ms(overlapped_of(t.trace, 0)), (Milliseconds{{Term::data_communication, 10}}));
}

TEST(TraceTerms, AGapBeforeATransferIsBubbleUntilItIsSent) {
    // Stage 0 computes until 10, sends until 13. Stage 1 waits 10 for stage 0 and 3 for the wire.
    HandMadeTrace t({0, 1});
    const auto f = t.add(0, compute, forward, 0, 10);
    const auto x = t.add(0, send_next, pipeline_transfer, 10, 13, f);
    t.add(1, compute, forward, 13, 23, x);
    EXPECT_EQ(last_rank(t.trace), 1u);
    EXPECT_EQ(in_ms(terms_of(t.trace, 1)), (Milliseconds{{Term::bubble, 10}, {Term::pipeline_communication, 3}, {Term::forward, 10}}));
    // Stage 0 sends while it has nothing else to do; that it is done before the other is its bubble.
    EXPECT_EQ(in_ms(terms_of(t.trace, 0)), (Milliseconds{{Term::forward, 10}, {Term::pipeline_communication, 3}, {Term::bubble, 10}}));
}

TEST(TraceTerms, OnlyThePartOfATransferThatFallsIntoTheGapIsExposed) {
    // The message for the second micro-batch is under way 12 .. 20; the receiver is busy until 17: 3 exposed.
    HandMadeTrace t({0, 1});
    const auto f1 = t.add(0, compute, forward, 0, 6);
    const auto f2 = t.add(0, compute, forward, 6, 12, f1);
    const auto x1 = t.add(0, send_next, pipeline_transfer, 6, 7, f1);
    const auto g1 = t.add(1, compute, forward, 7, 17, x1);
    const auto x2 = t.add(0, send_next, pipeline_transfer, 12, 20, f2);
    t.add(1, compute, forward, 20, 30, x2);
    EXPECT_EQ(in_ms(terms_of(t.trace, 1)), (Milliseconds{{Term::bubble, 6}, {Term::pipeline_communication, 1 + 3}, {Term::forward, 20}}));
    EXPECT_LT(g1, x2);
}

TEST(TraceTerms, AMessageThatWaitsForTheOneBeforeItOnTheWireIsCommunication) {
    // The wire is the limit: 2 .. 12 and 12 .. 22, though the second was ready at 4.
    HandMadeTrace t({0, 1});
    const auto f1 = t.add(0, compute, forward, 0, 2);
    t.add(0, compute, forward, 2, 4, f1);
    const auto x1 = t.add(0, send_next, pipeline_transfer, 2, 12, f1);
    t.add(1, compute, forward, 12, 14, x1);
    const auto x2 = t.add(0, send_next, pipeline_transfer, 12, 22, x1);
    t.add(1, compute, forward, 22, 24, x2);
    EXPECT_EQ(in_ms(terms_of(t.trace, 1)), (Milliseconds{{Term::bubble, 2}, {Term::pipeline_communication, 10 + 8}, {Term::forward, 4}}));
}

TEST(TraceTerms, WhatAnExchangeWaitsForItsOtherRanksIsStraggler) {
    // Two replicas; the second computes 4 longer. The exchange 14 .. 20 begins with the later one on both.
    HandMadeTrace t({0, 0});
    t.add(0, compute, backward, 0, 10);
    const auto slow = t.add(1, compute, backward, 0, 14);
    const auto x0 = t.add(0, communication, data_exchange, 14, 20, slow);
    const auto x1 = t.add(1, communication, data_exchange, 14, 20, slow);
    t.add(0, compute, optimizer, 20, 21, x0);
    t.add(1, compute, optimizer, 20, 21, x1);
    EXPECT_EQ(last_rank(t.trace), 0u);
    EXPECT_EQ(in_ms(terms_of(t.trace, 0)),
              (Milliseconds{{Term::backward, 10}, {Term::straggler, 4}, {Term::data_communication, 6}, {Term::optimizer, 1}}));
    EXPECT_EQ(in_ms(terms_of(t.trace, 1)), (Milliseconds{{Term::backward, 14}, {Term::data_communication, 6}, {Term::optimizer, 1}}));
}

TEST(TraceTerms, AnExchangeInTheComputeStreamThatWaitsForASlowerRankIsStragglerToo) {
    HandMadeTrace t({0, 0});
    t.add(0, compute, forward, 0, 10);
    const auto slow = t.add(1, compute, forward, 0, 11);
    t.add(0, compute, tensor_exchange, 11, 13, slow);
    EXPECT_EQ(in_ms(terms_of(t.trace, 0)), (Milliseconds{{Term::forward, 10}, {Term::straggler, 1}, {Term::tensor_communication, 2}}));
}

TEST(TraceTerms, AnExchangeThatWaitsForItsCycleIsCommunication) {
    // Ready at 10, but the background thread looks only at 12: nobody else is late.
    HandMadeTrace t({0});
    const auto b = t.add(0, compute, backward, 0, 10);
    const auto x = t.add(0, communication, data_exchange, 12, 15, b);
    t.add(0, compute, optimizer, 15, 16, x);
    EXPECT_EQ(in_ms(terms_of(t.trace, 0)), (Milliseconds{{Term::backward, 10}, {Term::data_communication, 5}, {Term::optimizer, 1}}));
}

TEST(TraceTerms, TheHiddenPartOfAnExchangeBelongsToTheKernelsThatHideIt) {
    // An all-to-all 10 .. 16 of which the next kernel hides 12 .. 15; nothing runs 15 .. 16.
    HandMadeTrace t({0});
    const auto f = t.add(0, compute, forward, 0, 10);
    const auto x = t.add(0, compute, expert_exchange, 10, 16, f);
    t.add(0, compute, forward, 12, 15, x);
    t.add(0, compute, forward, 16, 20, x);
    EXPECT_EQ(in_ms(terms_of(t.trace, 0)), (Milliseconds{{Term::forward, 17}, {Term::expert_communication, 3}}));
    EXPECT_EQ(in_ms(overlapped_of(t.trace, 0)), (Milliseconds{{Term::expert_communication, 3}}));
}

TEST(TraceTerms, AfterTheLastKernelTheOtherStreamsCountAndThenTheLastRank) {
    // Weights are gathered 10 .. 14 after the update; a replica ends at 15, another stage at 16.
    HandMadeTrace t({0, 0, 1});
    const auto u = t.add(0, compute, optimizer, 0, 10);
    t.add(1, compute, optimizer, 0, 15);
    t.add(0, communication, data_exchange, 10, 14, u);
    EXPECT_EQ(in_ms(terms_of(t.trace, 0)), (Milliseconds{{Term::optimizer, 10}, {Term::data_communication, 4}, {Term::straggler, 1}}));
    t.add(2, compute, optimizer, 0, 16);
    EXPECT_EQ(in_ms(terms_of(t.trace, 0)), (Milliseconds{{Term::optimizer, 10}, {Term::data_communication, 4}, {Term::bubble, 2}}));
}

TEST(TraceTerms, AKernelThatBeginsLaterThanItsCauseEndsWaitedForTheHost) {
    // As in a measured trace: gaps of 1 between kernels, and 2 before the first, which nothing explains.
    HandMadeTrace t({0});
    const auto f = t.add(0, compute, forward, 2, 10);
    t.add(0, compute, backward, 11, 20, f);
    EXPECT_EQ(in_ms(terms_of(t.trace, 0)), (Milliseconds{{Term::launch, 3}, {Term::forward, 8}, {Term::backward, 9}}));
}

TEST(TraceTerms, AnUpdateOnTheHostIsOffload) {
    HandMadeTrace t({0});
    const auto b = t.add(0, compute, backward, 0, 10);
    const auto o = t.add(0, copy, offload, 10, 17, b);
    t.add(0, compute, overhead, 17, 18, o);
    EXPECT_EQ(in_ms(terms_of(t.trace, 0)), (Milliseconds{{Term::backward, 10}, {Term::offload, 7}, {Term::overhead, 1}}));
}

TEST(TraceTerms, WhatAParameterServerDoesIsTheWorkersCommunication) {
    // Push 10 .. 13, the server adds it up 13 .. 15, weights come back 15 .. 18. The server ends last and is no worker.
    HandMadeTrace t({0, 0});
    t.trace.ranks[1].server = true;
    const auto b = t.add(0, compute, backward, 0, 10);
    const auto push = t.add(0, communication, data_exchange, 10, 13, b);
    const auto add = t.add(1, compute, serve, 13, 15, push);
    const auto pull = t.add(1, communication, data_exchange, 15, 18, add);
    t.add(0, compute, overhead, 18, 19, pull);
    t.add(1, compute, serve, 18, 20, pull);
    EXPECT_EQ(last_rank(t.trace), 0u);
    EXPECT_EQ(in_ms(terms_of(t.trace, 0)),
              (Milliseconds{{Term::backward, 10}, {Term::data_communication, 8}, {Term::overhead, 1}, {Term::straggler, 1}}));
}

TEST(TraceTerms, TheTimelineHasNoHolesAndNamesEachChangeOnce) {
    HandMadeTrace t({0, 1});
    const auto f = t.add(0, compute, forward, 0, 10);
    const auto x = t.add(0, send_next, pipeline_transfer, 10, 13, f);
    const auto g = t.add(1, compute, forward, 13, 23, x);
    t.add(1, compute, forward, 23, 30, g);
    const std::vector<TermStretch> line = term_timeline(t.trace, 1);
    ASSERT_EQ(line.size(), 3u);
    EXPECT_EQ(line[0].term, Term::bubble);
    EXPECT_EQ(line[1].term, Term::pipeline_communication);
    EXPECT_EQ(line[2].term, Term::forward);
    EXPECT_EQ(line[0].start, Seconds{});
    EXPECT_EQ(line[0].end, line[1].start);
    EXPECT_EQ(line[1].end, line[2].start);
    EXPECT_EQ(line[2].end, t.trace.end);
}

TEST(TraceTerms, SumToTheStepWhateverTheTraceSays) {
    // Random spans, overlapping as no real stream does, with causes that contradict each other: every instant still has one term.
    std::mt19937 random(7);
    const auto draw = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    for (int round = 0; round < 200; ++round) {
        HandMadeTrace t({0, 1, 1});
        const int spans = 1 + draw(60);
        double start = 0;
        for (int i = 0; i < spans; ++i) {
            start += draw(4);
            t.add(static_cast<GraphRank>(draw(3)), static_cast<Stream>(draw(stream_count)), static_cast<SpanKind>(draw(span_kind_count)),
                  start, start + draw(9), static_cast<SpanIndex>(draw(spans)));
        }
        for (GraphRank rank = 0; rank < 3; ++rank) {
            EXPECT_NEAR(terms_of(t.trace, rank).total() / ms, t.trace.end / ms, 1e-9);
            Seconds now;
            for (const TermStretch& s : term_timeline(t.trace, rank)) {
                EXPECT_EQ(s.start, now);
                now = s.end;
            }
            EXPECT_EQ(now, t.trace.end);
        }
    }
}

}  // namespace
}  // namespace sextant::hand_made
