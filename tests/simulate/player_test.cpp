// The rules of the event simulation, each on a graph small enough to play by hand. Times in ms, sizes in MB; a port of the crossbar moves
// 100 MB/ms.
#include "model/report/critical_path.hpp"
#include "tests/simulate/hand_made_job.hpp"

#include <gmock/gmock.h>

#include <map>

namespace sextant {
namespace {

using namespace units;
using hand_made::end_ms;
using hand_made::exact;
using hand_made::HandMadeJob;
using hand_made::span_of;
using hand_made::start_ms;
using testing::ElementsAre;

// Streams and dependencies.

TEST(Player, RunsAStreamInOrderAndStreamsSideBySide) {
    HandMadeJob job(2);
    const auto a = job.kernel(0, 2), b = job.kernel(0, 3), c = job.kernel(1, 4);
    const Simulation played = job.play();
    EXPECT_NEAR(start_ms(played, a), 0, exact);
    EXPECT_NEAR(start_ms(played, b), 2, exact);
    EXPECT_NEAR(end_ms(played, b), 5, exact);
    EXPECT_NEAR(start_ms(played, c), 0, exact);
    EXPECT_NEAR(end_ms(played, c), 4, exact);
    EXPECT_NEAR(played.trace.end / ms, 5, exact);
}

TEST(Player, StartsASegmentWhenTheLastOfThoseItWaitsForHasEnded) {
    HandMadeJob job(3);
    const auto a = job.kernel(0, 2), b = job.kernel(1, 5), c = job.kernel(2, 1, {a, b});
    const Simulation played = job.play();
    EXPECT_NEAR(start_ms(played, c), 5, exact);
    EXPECT_EQ(span_of(played, span_of(played, c).segment).cause, &span_of(played, b) - played.trace.spans.data());
}

TEST(Player, KeepsTheOrderOfAStreamThoughALaterSegmentCouldRun) {
    HandMadeJob job(2);
    const auto late = job.kernel(1, 5), waits = job.kernel(0, 1, {late}), could = job.kernel(0, 1);
    const Simulation played = job.play();
    EXPECT_NEAR(start_ms(played, waits), 5, exact);
    EXPECT_NEAR(start_ms(played, could), 6, exact);
}

TEST(Player, PassesTheCauseOnThroughWhatTakesNoTime) {
    // The kernel of rank 1 waits for work of no duration, which waits for the kernel of rank 0: that one is on the critical path.
    HandMadeJob job(2);
    const auto first = job.kernel(0, 5), none = job.nothing(1, {first}), second = job.kernel(1, 2, {none});
    const Simulation played = job.play();
    EXPECT_NEAR(start_ms(played, second), 5, exact);
    EXPECT_NEAR(critical_path(played.trace).seconds / ms, 7, exact);
    EXPECT_NEAR(critical_path(played.trace).waiting / ms, 0, exact);
}

// Exchanges.

TEST(Player, StartsACollectiveWhenItsLastRankComes) {
    HandMadeJob job(2);
    const auto c = job.group(ParallelGroup::data, {0, 1});
    const auto early = job.kernel(0, 1), late = job.kernel(1, 4);
    const auto x = job.all_reduce(0, c, 200 * MB, {early}), y = job.all_reduce(1, c, 200 * MB, {late});
    const Simulation played = job.play();
    for (const SegmentIndex part : {x, y}) {
        EXPECT_NEAR(start_ms(played, part), 4, exact);
        EXPECT_NEAR(end_ms(played, part), 6, exact);  // 200 MB at 100
        EXPECT_EQ(span_of(played, part).cause, &span_of(played, late) - played.trace.spans.data());
    }
}

TEST(Player, LetsTheFixedTimePassBeforeTheBytesFlow) {
    // 0 -> 1 needs 1 ms of calls, 2 ms of bytes. 0 -> 2 starts at 0 with bytes for 1.5 ms. They share the port of 0 from 1 on: 100 of the
    // 150 MB are through at 1, the other 50 at 50 MB/ms at 2. By then 50 of the 200 MB are through, the other 150 at 100 MB/ms at 3.5.
    HandMadeJob job(3);
    const auto a = job.send(0, 1, 200 * MB, {}, 1), b = job.send(0, 2, 150 * MB, {}, 0, Stream::send_previous);
    const Simulation played = job.play();
    EXPECT_NEAR(end_ms(played, b), 2, exact);
    EXPECT_NEAR(end_ms(played, a), 3.5, exact);
}

TEST(Player, SharesALinkFairlyAmongWhatCrossesIt) {
    // Both leave rank 0: 50 MB/ms each. 0 -> 2 is through at 2 ms. Of 0 -> 1 200 MB are left then, at 100 MB/ms: 4 ms.
    HandMadeJob job(3);
    const auto a = job.send(0, 1, 300 * MB), b = job.send(0, 2, 100 * MB, {}, 0, Stream::send_previous);
    const Simulation played = job.play();
    EXPECT_NEAR(end_ms(played, b), 2, exact);
    EXPECT_NEAR(end_ms(played, a), 4, exact);
}

TEST(Player, DoesNotShareTheDirectionsOfALink) {
    HandMadeJob job(2);
    const auto there = job.send(0, 1, 300 * MB), back = job.send(1, 0, 300 * MB);
    const Simulation played = job.play();
    EXPECT_NEAR(end_ms(played, there), 3, exact);
    EXPECT_NEAR(end_ms(played, back), 3, exact);
}

TEST(Player, LetsATransferCrossTheRingOfACollective) {
    // A ring of four passes 100 MB out of every port; a send 0 -> 1 of 100 MB uses the port of 0 and that of 1, where the ring may go no
    // faster than 50 MB/ms meanwhile. Both end at 2 ms, although the ports of 2 and 3 are half idle.
    HandMadeJob job(4);
    const auto c = job.group(ParallelGroup::data, {0, 1, 2, 3});
    std::vector<SegmentIndex> ring;
    for (GraphRank r = 0; r < 4; ++r) ring.push_back(job.all_reduce(r, c, 100 * MB));
    const auto x = job.send(0, 1, 100 * MB);
    const Simulation played = job.play();
    EXPECT_NEAR(end_ms(played, x), 2, exact);
    for (const SegmentIndex part : ring) EXPECT_NEAR(end_ms(played, part), 2, exact);
}

TEST(Player, KeepsLinksBusyLongerAtLessThanFullEfficiency) {
    HandMadeJob job(2);
    const auto x = job.send(0, 1, 100 * MB);
    job.table.works[0].pieces[0].exchange->price.efficiency = 0.5;
    const Simulation played = job.play();
    EXPECT_NEAR(end_ms(played, x), 2, exact);
}

TEST(Player, RunsTheCallsOfACollectiveInTurn) {
    // 200 MB in two calls, each 0.5 ms and then 100 MB: 3 ms in all.
    HandMadeJob job(2);
    const auto c = job.group(ParallelGroup::data, {0, 1});
    const auto x = job.all_reduce(0, c, 200 * MB, {}, 0.5, Stream::communication, 2);
    job.all_reduce(1, c, 200 * MB, {}, 0.5, Stream::communication, 2);
    const Simulation played = job.play();
    EXPECT_NEAR(end_ms(played, x, 0), 1.5, exact);
    EXPECT_NEAR(end_ms(played, x, 1), 3, exact);
}

TEST(Player, LeavesOutTheExchangeOfARankThatIsAloneInItsGroup) {
    HandMadeJob job(1);
    const PricedExchange exchange{ParallelGroup::tensor, {1 * ms, 100 * MB, Pattern::ring, 1}, 0};
    const auto x = job.block(0, 2, exchange, 3);
    const Simulation played = job.play();
    EXPECT_NEAR(end_ms(played, x, 1), 5, exact);
    EXPECT_TRUE(played.links.empty());
}

TEST(Player, GoesOnWithKernelsBehindTheHiddenPartOfAnExchange) {
    // 2 ms of kernels, an exchange of 4 ms of which three quarters are hidden, 5 ms of kernels: 2 + 1 + 5. The hidden 3 ms run from 3 to 6
    // in the communication stream and do not slow the kernels, whatever the slow-down.
    HandMadeJob job(2);
    job.table.overlap_slowdown = 2;
    job.group(ParallelGroup::tensor, {0, 1});
    const PricedExchange exchange{ParallelGroup::tensor, {0.8 * ms, 320 * MB, Pattern::ring, 1}, 0.75};
    const auto x = job.block(0, 2, exchange, 5);
    job.block(1, 2, exchange, 5);
    const Simulation played = job.play();
    EXPECT_NEAR(played.trace.end / ms, 8, exact);
    std::map<Stream, Seconds> ends;
    for (const Span& span : played.trace.spans)
        if (span.segment == x && span.kind == SpanKind::tensor_exchange) ends[span.stream] = span.end;
    EXPECT_NEAR(ends.at(Stream::compute) / ms, 3, exact);
    EXPECT_NEAR(ends.at(Stream::communication) / ms, 6, exact);
}

// Kernels beside communication.

TEST(Player, SlowsKernelsWhileAnotherStreamOfTheirDeviceCommunicates) {
    // 0 -> 1 from 2 to 4 ms. A kernel of 5 ms on rank 0 has done 2 ms before it, 2 / 1.25 = 1.6 beside it, and has 1.4 left then: 5.4 ms.
    // So has one on rank 1, which receives. Rank 2 has nothing to do with it.
    HandMadeJob job(3);
    job.table.overlap_slowdown = 1.25;
    const auto clock = job.kernel(2, 2), other = job.kernel(2, 3);
    const auto sender = job.kernel(0, 5), receiver = job.kernel(1, 5);
    job.send(0, 1, 200 * MB, {clock});
    const Simulation played = job.play();
    EXPECT_NEAR(end_ms(played, other), 5, exact);
    EXPECT_NEAR(end_ms(played, sender), 5.4, exact);
    EXPECT_NEAR(end_ms(played, receiver), 5.4, exact);
}

TEST(Player, SlowsKernelsNoMoreForTwoExchangesAtOnce) {
    // 0 -> 1 until 1.5 ms and 0 -> 2 until 2 ms (50 MB/ms each, then 100): 2 / 1.25 = 1.6 of the 3 ms are done at 2, 3.4 ms in all.
    HandMadeJob job(3);
    job.table.overlap_slowdown = 1.25;
    const auto kernel = job.kernel(0, 3);
    job.send(0, 1, 75 * MB);
    const auto longer = job.send(0, 2, 125 * MB, {}, 0, Stream::send_previous);
    const Simulation played = job.play();
    EXPECT_NEAR(end_ms(played, longer), 2, exact);
    EXPECT_NEAR(end_ms(played, kernel), 3.4, exact);
}

TEST(Player, SlowsNothingButKernels) {
    // What the framework does once, copies, and an exchange that the compute stream waits in take as long as alone.
    HandMadeJob job(2);
    job.table.overlap_slowdown = 2;
    const auto overhead = job.add(0, Stream::compute, OverheadWork{}, {{SpanKind::overhead, 3 * ms, {}, {}, {}, {}}});
    const auto blocking = job.send(1, 0, 200 * MB, {}, 0, Stream::compute);
    const auto kernel = job.kernel(1, 1);
    job.send(0, 1, 100 * MB);
    const Simulation played = job.play();
    EXPECT_NEAR(end_ms(played, overhead), 3, exact);
    EXPECT_NEAR(end_ms(played, blocking), 2, exact);
    EXPECT_NEAR(end_ms(played, kernel), 3, exact);  // the other send is over at 1
}

// The launch queue.

TEST(Player, LetsTheHostRunAheadOfTheDevice) {
    // The host issues each segment in 1 ms and waits for nothing: at 2 ms it is done with both, long before the device.
    HandMadeJob job(1);
    const auto a = job.kernel(0, 5, {}, 1), b = job.kernel(0, 5, {}, 1);
    const Simulation played = job.play();
    EXPECT_NEAR(end_ms(played, a), 5, exact);
    EXPECT_NEAR(end_ms(played, b), 10, exact);
    for (const Span& span : played.trace.spans) EXPECT_NE(span.kind, SpanKind::launch);
}

TEST(Player, WaitsForTheHostWhereThatIsSlower) {
    // Issued at 4 and at 8 ms: the device is done with each earlier, and waits.
    HandMadeJob job(1);
    const auto a = job.kernel(0, 1, {}, 4), b = job.kernel(0, 1, {}, 4);
    const Simulation played = job.play();
    EXPECT_NEAR(end_ms(played, a, 0), 1, exact);
    EXPECT_NEAR(end_ms(played, a, 1), 4, exact);
    EXPECT_EQ(span_of(played, a, 1).kind, SpanKind::launch);
    EXPECT_NEAR(start_ms(played, b, 0), 4, exact);
    EXPECT_NEAR(end_ms(played, b, 1), 8, exact);
}

TEST(Player, CatchesUpWithTheHostDuringALongKernel) {
    // The host is done at 4, 5 and 6; the device at 1, then waits until 4, at 14 and 14.5: from then on the host is ahead.
    HandMadeJob job(1);
    job.kernel(0, 1, {}, 4);
    const auto b = job.kernel(0, 10, {}, 1), c = job.kernel(0, 0.5, {}, 1);
    const Simulation played = job.play();
    EXPECT_NEAR(end_ms(played, b), 14, exact);
    EXPECT_NEAR(end_ms(played, c), 14.5, exact);
}

TEST(Player, IssuesWhileTheDeviceWaitsForOthers) {
    // The kernel waits for another rank until 3; the host issued it in 2 ms from 0 on.
    HandMadeJob job(2);
    const auto late = job.kernel(1, 3), kernel = job.kernel(0, 1, {late}, 2);
    const Simulation played = job.play();
    EXPECT_NEAR(end_ms(played, kernel), 4, exact);
}

TEST(Player, IssuesNothingAheadOfWhatItWaitsForWhereHostsWait) {
    // The same, but that the host begins at 3: the device is done at 4 and waits until 5. The next kernel is issued in 1 ms from then on.
    HandMadeJob job(2);
    job.table.hosts_wait = true;
    const auto late = job.kernel(1, 3), kernel = job.kernel(0, 1, {late}, 2), next = job.kernel(0, 0.5, {}, 1);
    const Simulation played = job.play();
    EXPECT_NEAR(end_ms(played, kernel, 1), 5, exact);
    EXPECT_NEAR(end_ms(played, next, 1), 6, exact);
}

TEST(Player, IssuesNothingOfAMicroBatchWhoseSamplesTheHostReads) {
    // Samples are there at 3: the device is done at 4 and waits for the host, which begins at 3, until 5. What does not take samples is
    // issued while the device waits.
    HandMadeJob job(2);
    job.table.hosts_load = true;
    const auto late = job.kernel(1, 3);
    job.add(0, Stream::compute, TakeWork{}, {}, 0, {late});
    const auto kernel = job.kernel(0, 1, {}, 2), other = job.kernel(1, 1, {kernel}, 2);
    const Simulation played = job.play();
    EXPECT_NEAR(end_ms(played, kernel, 1), 5, exact);
    EXPECT_NEAR(end_ms(played, other), 6, exact);
}

// Parameter servers.

TEST(Player, ServesInTheOrderOfArrival) {
    // In the graph the server's work for rank 0 comes first; the kernel before it takes longer than that of rank 1.
    HandMadeJob job(3);
    job.builder.rank(2).server = true;
    const auto slow = job.kernel(0, 4), quick = job.kernel(1, 1);
    const auto serve = [&](SegmentIndex after, double elements) {
        return job.add(2, Stream::server, ServeWork{elements, true}, {{SpanKind::serve, 5 * ms, {}, {}, {}, {}}}, 0, {after});
    };
    const auto for_slow = serve(slow, 1), for_quick = serve(quick, 2);
    const Simulation played = job.play();
    EXPECT_NEAR(start_ms(played, for_quick), 1, exact);
    EXPECT_NEAR(start_ms(played, for_slow), 6, exact);
    EXPECT_EQ(span_of(played, for_slow).cause, &span_of(played, for_quick) - played.trace.spans.data());
}

// Two workers and a server on two cores. From 3 ms on all have work, and each 2/3 of a core: 2 ms of worker 0 take until 6. The other two
// have a core each then: worker 1 has 2 of its 4 ms left, the server 4 of its 6.
TEST(Player, ServesOnTheCoresOfItsWorkers) {
    HandMadeJob job(3);
    job.builder.rank(2).server = true;
    job.table.servers = SharedWithServers{2, 1, 2};
    const auto first = job.kernel(0, 3), other = job.kernel(1, 3), shorter = job.kernel(0, 2), longer = job.kernel(1, 4);
    const auto serve = job.add(2, Stream::server, ServeWork{1, true}, {{SpanKind::serve, 6 * ms, {}, {}, {}, {}}}, 0, {first, other});
    const Simulation played = job.play();
    EXPECT_NEAR(start_ms(played, serve), 3, exact);
    EXPECT_NEAR(end_ms(played, shorter), 6, exact);
    EXPECT_NEAR(end_ms(played, longer), 8, exact);
    EXPECT_NEAR(end_ms(played, serve), 10, exact);
}

// Causes.

TEST(Causes, LeadThroughTheStepWithoutHoles) {
    // Rank 0 computes 2, sends 3 ms, rank 1 computes 4 (rank 2 only 1), both reduce 1, rank 1 updates 1: every ms of 11 is on the path.
    HandMadeJob job(3);
    const auto c = job.group(ParallelGroup::data, {1, 2});
    const auto a = job.kernel(0, 2);
    const auto x = job.send(0, 1, 300 * MB, {a});
    const auto b = job.kernel(1, 4, {x}), other = job.kernel(2, 1);
    const auto r = job.all_reduce(1, c, 100 * MB, {b});
    job.all_reduce(2, c, 100 * MB, {other});
    const auto update = job.kernel(1, 1, {r});
    const Simulation played = job.play();
    const CriticalPath path = critical_path(played.trace);
    EXPECT_NEAR(path.seconds / ms, 11, exact);
    std::vector<SegmentIndex> segments;
    for (const SpanIndex i : path.spans) segments.push_back(played.trace.spans[i].segment);
    EXPECT_THAT(segments, ElementsAre(a, x, b, r, update));
}

TEST(Causes, OfASpanThatNothingHeldBackIsItself) {
    HandMadeJob job(2);
    job.kernel(0, 1);
    job.kernel(1, 1);
    const Simulation played = job.play();
    for (SpanIndex i = 0; i < 2; ++i) EXPECT_EQ(played.trace.spans[i].cause, i);
}

// Graham's anomalies: what is quicker may come first where it is not wanted.

TEST(Anomaly, AFasterLinkCanMakeAStepLonger) {
    // Worker 0 computes 1 ms and sends 300 MB to rank 2; then the server works 5 ms for it. For worker 1 it works 1 ms, from 3 on, and
    // worker 1 has another 10 ms to compute. At 100 MB/ms worker 0 comes at 4: the server is done with worker 1 then, whose step ends
    // at 14. At 200 MB/ms worker 0 comes at 2.5, before worker 1, which is served at 7.5 and ends at 18.5.
    const auto step_ms = [](double speed) {
        Cluster cluster = round_machine::cluster();
        cluster.node.peers.link.bandwidth.value = speed * 100 * GB / s;
        HandMadeJob job(4);
        job.topology = Topology::build(cluster, 1);
        job.builder.rank(3).server = true;
        const auto serve = [&](SegmentIndex after, double time_ms) {
            return job.add(3, Stream::server, ServeWork{time_ms, true}, {{SpanKind::serve, time_ms * ms, {}, {}, {}, {}}}, 0, {after});
        };
        const auto sent = job.send(0, 2, 300 * MB, {job.kernel(0, 1)});
        serve(sent, 5);
        const auto served = serve(job.kernel(1, 3), 1);
        job.kernel(1, 10, {served});
        return job.play().trace.end / ms;
    };
    EXPECT_NEAR(step_ms(1), 14, exact);
    EXPECT_NEAR(step_ms(2), 18.5, exact);
}

TEST(Trace, IsOrderedByStartThenRankThenStream) {
    HandMadeJob job(2);
    job.send(1, 0, 100 * MB);
    job.kernel(1, 1);
    job.kernel(0, 1);
    job.kernel(0, 1);
    const Simulation played = job.play();
    std::vector<std::pair<GraphRank, Stream>> order;
    for (const Span& span : played.trace.spans) order.emplace_back(span.rank, span.stream);
    EXPECT_THAT(order, ElementsAre(std::pair(0u, Stream::compute), std::pair(1u, Stream::compute), std::pair(1u, Stream::send_next),
                                   std::pair(0u, Stream::compute)));
}

}  // namespace
}  // namespace sextant
