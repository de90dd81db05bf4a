#include "model/simulate/recorded_step.hpp"

#include "tests/simulate/hand_made_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;
using hand_made::HandMadeJob;
using testing::ElementsAre;
using testing::IsEmpty;
using Kind = RecordedNode::Kind;

PricedExchange exchange(ParallelGroup group, Collective what, Bytes size, double hidden = 0) {
    return {group, {{}, size, Pattern::ring, 1}, hidden, what, size};
}

// What a graph and its prices come to.
struct Recorded {
    explicit Recorded(HandMadeJob&& job, std::vector<double> slowness = {}) : graph(std::move(job.builder).build()), table(job.table) {
        slowness.resize(graph.ranks().size(), 1.0);
        const RecordedStep step(graph, table, slowness);
        for (GraphRank r = 0; r < step.ranks(); ++r) ranks.push_back(step.rank(r).nodes);
        groups = step.groups();
        nodes = step.nodes();
    }
    TaskGraph graph;
    CostTable table;
    std::vector<std::vector<RecordedNode>> ranks;
    std::map<std::string, std::vector<int>> groups;
    std::size_t nodes = 0;
};

TEST(RecordedStep, MakesTheOrderOfAStreamAndItsWaitsDependencies) {
    HandMadeJob job(1);
    const SegmentIndex a = job.kernel(0, 2);
    const SegmentIndex b = job.add(0, Stream::copy, OffloadWork{}, {{SpanKind::offload, 5 * ms, {}, {}, {}}}, 0, {a});
    job.kernel(0, 3);
    job.kernel(0, 4, {b});
    const Recorded r(std::move(job));
    ASSERT_EQ(r.ranks[0].size(), 4U);
    EXPECT_THAT(r.ranks[0][0].waits_for, IsEmpty());
    EXPECT_THAT(r.ranks[0][1].waits_for, ElementsAre(1));
    EXPECT_THAT(r.ranks[0][2].waits_for, ElementsAre(1));
    EXPECT_THAT(r.ranks[0][3].waits_for, ElementsAre(2, 3));
    EXPECT_NEAR(r.ranks[0][3].duration / ms, 4, 1e-12);
    EXPECT_EQ(r.nodes, 4U);
}

TEST(RecordedStep, LetsWhatFollowsAStretchWaitForItsLaunchToo) {
    // Kernels 1 and 3; their launches 2 and 4 one after the other, from the start on.
    HandMadeJob job(1);
    job.kernel(0, 2, {}, 1);
    job.kernel(0, 3, {}, 6);
    job.kernel(0, 1);
    const Recorded r(std::move(job));
    ASSERT_EQ(r.ranks[0].size(), 5U);
    EXPECT_EQ(r.ranks[0][1].kind, Kind::host);
    EXPECT_THAT(r.ranks[0][2].waits_for, ElementsAre(1, 2));
    EXPECT_EQ(r.ranks[0][3].kind, Kind::host);
    EXPECT_THAT(r.ranks[0][3].waits_for, ElementsAre(2));
    EXPECT_THAT(r.ranks[0][4].waits_for, ElementsAre(3, 4));
}

TEST(RecordedStep, MakesExchangesInsideBlocksCollectivesOfTheirOwn) {
    HandMadeJob job(2);
    job.group(ParallelGroup::data, {0, 1});
    job.group(ParallelGroup::tensor, {0, 1});
    for (const GraphRank rank : {0U, 1U}) job.block(rank, 2, exchange(ParallelGroup::tensor, Collective::all_reduce, 8 * MB), 3);
    const Recorded r(std::move(job), {1, 1.5});
    for (const auto& nodes : r.ranks) {
        ASSERT_EQ(nodes.size(), 3U);
        EXPECT_EQ(nodes[1].kind, Kind::collective);
        EXPECT_EQ(nodes[1].collective, RecordedCollective::all_reduce);
        EXPECT_EQ(nodes[1].bytes, 8 * MB);
        EXPECT_EQ(nodes[1].group, "2");
        EXPECT_THAT(nodes[1].waits_for, ElementsAre(1));
        EXPECT_THAT(nodes[2].waits_for, ElementsAre(2));
    }
    // The second rank is half as fast again.
    EXPECT_NEAR(r.ranks[1][0].duration / r.ranks[0][0].duration, 1.5, 1e-12);
    // Of the groups that communicate, and no others.
    ASSERT_EQ(r.groups.size(), 1U);
    EXPECT_THAT(r.groups.at("2"), ElementsAre(0, 1));
    EXPECT_EQ(r.nodes, 6U);
}

TEST(RecordedStep, SaysOfAnAllGatherWhatEachRankGives) {
    HandMadeJob job(4);
    const CommunicatorIndex all = job.group(ParallelGroup::data, {0, 1, 2, 3});
    for (const GraphRank rank : {0U, 1U, 2U, 3U})
        for (const Collective what : {Collective::all_gather, Collective::reduce_scatter}) {
            Piece piece;
            piece.exchange = exchange(ParallelGroup::data, what, 8 * MB);
            CollectiveWork work;
            work.calls = static_cast<int>(what);  // two works
            job.add(rank, Stream::communication, work, {piece}, all);
        }
    const Recorded r(std::move(job));
    ASSERT_EQ(r.ranks[3].size(), 2U);
    EXPECT_EQ(r.ranks[3][0].bytes, 2 * MB);
    EXPECT_EQ(r.ranks[3][1].bytes, 8 * MB);
    EXPECT_THAT(r.ranks[3][1].waits_for, ElementsAre(1));
}

TEST(RecordedStep, LetsNothingWaitForTheHiddenPartOfAnExchange) {
    HandMadeJob job(2);
    job.group(ParallelGroup::tensor, {0, 1});
    for (const GraphRank rank : {0U, 1U}) job.block(rank, 2, exchange(ParallelGroup::tensor, Collective::all_reduce, 8 * MB, 0.75), 3);
    const Recorded r(std::move(job));
    ASSERT_EQ(r.ranks[0].size(), 4U);
    EXPECT_EQ(r.ranks[0][1].bytes, 2 * MB);
    EXPECT_EQ(r.ranks[0][2].bytes, 6 * MB);
    EXPECT_THAT(r.ranks[0][2].waits_for, ElementsAre(2));
    EXPECT_THAT(r.ranks[0][3].waits_for, ElementsAre(2));
    EXPECT_EQ(r.nodes, 8U);
}

TEST(RecordedStep, SendsToAReceiveOfTheSameTag) {
    HandMadeJob job(2);
    const auto send_of = [&](double millis) {
        const SegmentIndex f = job.kernel(0, millis);
        const CommunicatorIndex pair = job.builder.add(Communicator{ParallelGroup::pipeline, {0, 1}, {{0, 1}}});
        Piece piece;
        piece.exchange = exchange(ParallelGroup::pipeline, Collective::send, 5 * MB);
        return job.add(0, Stream::send_next, TransferWork{}, {piece}, pair, {f});
    };
    const SegmentIndex first = send_of(2), second = send_of(3);
    job.kernel(1, 1, {second});
    job.kernel(1, 1, {first});
    const Recorded r(std::move(job));
    // 1 kernel, 2 send, 3 kernel, 4 send; and 1 receive, 2 kernel, 3 receive behind it, 4 kernel.
    ASSERT_EQ(r.ranks[0].size(), 4U);
    EXPECT_EQ(r.ranks[0][1].kind, Kind::send);
    EXPECT_EQ(r.ranks[0][1].peer, 1);
    EXPECT_EQ(r.ranks[0][1].bytes, 5 * MB);
    EXPECT_THAT(r.ranks[0][2].waits_for, ElementsAre(1));     // not for the send, which has a stream of its own
    EXPECT_THAT(r.ranks[0][3].waits_for, ElementsAre(2, 3));  // behind the send before it
    ASSERT_EQ(r.ranks[1].size(), 4U);
    EXPECT_EQ(r.ranks[1][0].kind, Kind::receive);
    EXPECT_EQ(r.ranks[1][0].peer, 0);
    EXPECT_EQ(r.ranks[1][0].tag, r.ranks[0][3].tag);
    EXPECT_EQ(r.ranks[1][2].tag, r.ranks[0][1].tag);
    EXPECT_NE(r.ranks[1][0].tag, r.ranks[1][2].tag);
    EXPECT_THAT(r.ranks[1][2].waits_for, ElementsAre(2));
    EXPECT_THAT(r.ranks[1][3].waits_for, ElementsAre(2, 3));
    EXPECT_EQ(r.nodes, 8U);
}

TEST(RecordedStep, LetsWhatTakesNoTimePassItsWaitsOn) {
    HandMadeJob job(1);
    const SegmentIndex a = job.kernel(0, 2);
    const SegmentIndex none = job.add(0, Stream::copy, OverheadWork{}, {}, 0, {a});
    job.add(0, Stream::send_next, UpdateWork{}, {{SpanKind::optimizer, 1 * ms, {}, {}, {}}}, 0, {none});
    const Recorded r(std::move(job));
    ASSERT_EQ(r.ranks[0].size(), 2U);
    EXPECT_THAT(r.ranks[0][1].waits_for, ElementsAre(1));
}

TEST(RecordedStep, LeavesOutHowSamplesCome) {
    HandMadeJob job(1);
    Piece reading;
    reading.kind = SpanKind::read;
    reading.load = PricedLoad{1 * MB, 1};
    const SegmentIndex load = job.add(0, Stream::loader, LoadWork{4}, {reading});
    const SegmentIndex copy = job.add(0, Stream::copy, CopyWork{4}, {{SpanKind::device_copy, 1 * ms, {}, {}, {}}}, 0, {load});
    const SegmentIndex take = job.add(0, Stream::compute, TakeWork{}, {}, 0, {copy});
    job.kernel(0, 2, {take});
    const Recorded r(std::move(job));
    ASSERT_EQ(r.ranks[0].size(), 1U);
    EXPECT_THAT(r.ranks[0][0].waits_for, IsEmpty());
    EXPECT_EQ(r.nodes, 1U);
}

}  // namespace
}  // namespace sextant
