#include "backend/exec/trace_assembly.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;

// Two ranks: each computes (segment 0, 2), then reduces (1, 3).
TaskGraph two_ranks_that_reduce() {
    TaskGraphBuilder builder(Network{}, {});
    for (int r = 0; r < 2; ++r) builder.add(RankInfo{r, 0, 1, false, {}});
    const CommunicatorIndex data = builder.add(Communicator{ParallelGroup::data, {0, 1}, {{0, 1}}});
    const WorkIndex compute = builder.work(ComputeWork{Phase::backward, 0, 1}), reduce = builder.work(CollectiveWork{});
    for (GraphRank r = 0; r < 2; ++r) {
        const SegmentIndex before = builder.add(Segment{compute, r});
        builder.wait(builder.add(Segment{reduce, r, data, 0, 0, Stream::communication}), before);
    }
    return std::move(builder).build();
}

RecordedSpan span(SegmentIndex segment, double start_ms, double end_ms) {
    RecordedSpan s;
    s.start = start_ms * ms;
    s.end = end_ms * ms;
    s.segment = segment;
    s.kind = SpanKind::backward;
    return s;
}

RecordedSpan reduction(SegmentIndex segment, double start_ms, double end_ms) {
    RecordedSpan s = span(segment, start_ms, end_ms);
    s.kind = SpanKind::data_exchange;
    s.stream = Stream::communication;
    s.collective = true;
    return s;
}

// Rank 0 computes from 100 to 104 and comes to the reduction at once; rank 1 computes from 101 to 109 and comes at 109. The reduction
// begins with the last, at 9 after the start, for both, and what kept it is rank 1's computation. It ends at 12 for rank 0, at 13 for
// rank 1.
TEST(TraceAssembly, StartsACollectiveWhenItsLastRankHasCome) {
    const TaskGraph graph = two_ranks_that_reduce();
    const Trace trace = assemble_trace(graph, {{{span(0, 100, 104), reduction(1, 104, 112)}, {}, 100 * ms, 112 * ms, "a"},
                                               {{span(2, 101, 109), reduction(3, 109, 113)}, {}, 101 * ms, 113 * ms, "b"}});
    ASSERT_EQ(trace.spans.size(), 4U);
    EXPECT_NEAR(trace.end / ms, 13, 1e-9);
    EXPECT_EQ(trace.ranks[1].host, "b");
    const Span &first = trace.spans[0], &second = trace.spans[1];
    EXPECT_NEAR(first.start / ms, 0, 1e-9);
    EXPECT_EQ(first.cause, 0U) << "nothing let it begin";
    EXPECT_NEAR(second.start / ms, 1, 1e-9);
    for (const std::size_t i : {2U, 3U}) {
        EXPECT_EQ(trace.spans[i].kind, SpanKind::data_exchange);
        EXPECT_NEAR(trace.spans[i].start / ms, 9, 1e-9);
        EXPECT_EQ(trace.spans[i].cause, 1U) << "rank 1 came last, from its computation";
    }
    EXPECT_NEAR(trace.spans[2].end / ms, 12, 1e-9);
    EXPECT_NEAR(trace.spans[3].end / ms, 13, 1e-9);
}

// The sender is rid of it at 5; the receiver has it at 7, and computes from then on.
TEST(TraceAssembly, EndsATransferWhenItHasArrived) {
    TaskGraphBuilder builder(Network{}, {});
    for (int r = 0; r < 2; ++r) builder.add(RankInfo{r, r, 1, false, {}});
    const CommunicatorIndex next = builder.add(Communicator{ParallelGroup::pipeline, {0, 1}, {{0, 1}}});
    const WorkIndex compute = builder.work(ComputeWork{Phase::forward, 0, 1}), transfer = builder.work(TransferWork{});
    builder.add(Segment{compute, 0});
    builder.wait(builder.add(Segment{transfer, 0, next, 0, 0, Stream::send_next}), 0);
    builder.wait(builder.add(Segment{compute, 1}), 1);
    const TaskGraph graph = std::move(builder).build();
    RecordedSpan send = span(1, 4, 5);
    send.stream = Stream::send_next;
    const Trace trace = assemble_trace(
        graph, {{{span(0, 0, 4), send}, {}, Seconds{}, 5 * ms, {}}, {{span(2, 7, 9)}, {{1, 7 * ms}}, Seconds{}, 9 * ms, {}}});
    ASSERT_EQ(trace.spans.size(), 3U);
    EXPECT_NEAR(trace.spans[1].end / ms, 7, 1e-9);
    EXPECT_EQ(trace.spans[1].cause, 0U);
    EXPECT_EQ(trace.spans[2].cause, 1U);
}

}  // namespace
}  // namespace sextant
