// Execution traces on the round machine: 100 GB/s for each of the four devices of a node, 10 GB/s for each NIC; a call takes 10 us, a step
// of it 1 us inside the node and 5 us across the network; 100 TFLOP/s and 1 TB/s a device.
#include "model/sextant_replay.hpp"
#include "tests/base/refusal.hpp"
#include "tests/cost/round_machine.hpp"
#include "tests/graph/recorded_node.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;
using testing::HasSubstr;
using Kind = RecordedNode::Kind;

RecordedNode kernel(std::uint64_t id, double millis, std::vector<std::uint64_t> after = {}) {
    RecordedNode n = recorded_node(id, Kind::kernel, std::move(after));
    n.duration = millis * ms;
    return n;
}
RecordedNode call(std::uint64_t id, RecordedCollective what, Bytes bytes, std::vector<std::uint64_t> after = {}, std::string group = {}) {
    RecordedNode n = recorded_node(id, Kind::collective, std::move(after));
    n.collective = what;
    n.bytes = bytes;
    n.group = std::move(group);
    return n;
}
RecordedNode transfer(std::uint64_t id, Kind kind, int peer, Bytes bytes, std::vector<std::uint64_t> after = {}) {
    RecordedNode n = recorded_node(id, kind, std::move(after));
    n.peer = peer;
    n.bytes = bytes;
    return n;
}

ExecutionTrace trace_of(std::vector<std::vector<RecordedNode>> ranks) {
    ExecutionTrace trace;
    for (auto& nodes : ranks) trace.ranks.push_back({"t." + std::to_string(trace.ranks.size()) + ".et", std::move(nodes)});
    return trace;
}
ReplayReport played(const ExecutionTrace& trace, int nodes = 1) {
    return replay(trace, round_machine::cluster(nodes), round_machine::library());
}
std::vector<Diagnostic> problems_of(const ExecutionTrace& trace) {
    return problems_found_by([&] { return played(trace); });
}
const ReplayReport::OfRank& last_of(const ReplayReport& r) { return r.ranks[r.last]; }
constexpr auto all_reduce = RecordedCollective::all_reduce;

TEST(Replay, PlaysKernelsOneAfterAnotherAsTheyBecomeReady) {
    // 2 waits for host work of 5 ms; 3, which the trace names later, need not.
    RecordedNode host = recorded_node(1, Kind::host, {});
    host.duration = 5 * ms;
    const ReplayReport r = played(trace_of({{host, kernel(2, 10, {1}), kernel(3, 2), kernel(4, 1, {2, 3})}}));
    EXPECT_NEAR(r.step / ms, 16, 1e-9);
    EXPECT_NEAR(last_of(r).terms[ReplayTerm::kernels] / ms, 13, 1e-9);
    EXPECT_NEAR(last_of(r).terms[ReplayTerm::host] / ms, 3, 1e-9);
}

TEST(Replay, PricesKernelsWhoseTimeIsNotStated) {
    // 1e12 operations at 100 TFLOP/s are 10 ms; 5 GB at 1 TB/s are 5 ms. A copy of 40 MB over a link of 20 GB/s takes 2 ms.
    RecordedNode product = recorded_node(1, Kind::kernel, {}), pass = recorded_node(2, Kind::kernel, {1}),
                 copy = recorded_node(3, Kind::memory, {2});
    product.flops = 1e12 * FLOP;
    product.bytes = 1 * GB;
    pass.bytes = 5 * GB;
    copy.bytes = 40 * MB;
    const ReplayReport r = played(trace_of({{product, pass, copy}}));
    EXPECT_NEAR(r.step / ms, 17, 1e-9);
    EXPECT_NEAR(last_of(r).terms[ReplayTerm::copies] / ms, 2, 1e-9);
}

TEST(Replay, ExposesWhatOfACollectiveNothingHides) {
    // All-reduce of 100 MB by four ranks: 10 us, six steps of 1 us, 1.5 x 100 MB at 100 GB/s: 1.516 ms. A kernel of 1 ms hides as much.
    std::vector<std::vector<RecordedNode>> ranks(
        4, {kernel(1, 3), call(2, all_reduce, 100 * MB, {1}), kernel(3, 1, {1}), kernel(4, 2, {2, 3})});
    const ReplayReport r = played(trace_of(ranks));
    EXPECT_NEAR(r.step / ms, 3 + 1.516 + 2, 1e-9);
    EXPECT_NEAR(last_of(r).terms[ReplayTerm::kernels] / ms, 6, 1e-9);
    EXPECT_NEAR(last_of(r).terms[ReplayTerm::collectives] / ms, 0.516, 1e-9);
    EXPECT_NEAR(last_of(r).overlapped[ReplayTerm::collectives] / ms, 1, 1e-9);
    ASSERT_EQ(r.communication.size(), 1U);
    EXPECT_EQ(r.communication[0].what, "all_reduce");
    EXPECT_NEAR(r.communication[0].time / ms, 1.516, 1e-9);
}

TEST(Replay, CountsTheBytesOfAnAllGatherAsTheTraceDoes) {
    // Each of four ranks gives 25 MB: three of the four parts come from others, 75 MB at 100 GB/s, with 10 us and three steps. What each
    // has before a reduce-scatter is 100 MB, of which as much passes.
    for (const auto& [what, bytes] :
         {std::pair(RecordedCollective::all_gather, 25 * MB), std::pair(RecordedCollective::reduce_scatter, 100 * MB)}) {
        std::vector<std::vector<RecordedNode>> ranks(4, {call(1, what, bytes)});
        EXPECT_NEAR(played(trace_of(ranks)).step / ms, 0.75 + 0.013, 1e-9);
    }
}

TEST(Replay, WaitsForTheSlowestRank) {
    std::vector<std::vector<RecordedNode>> ranks(4, {kernel(1, 3), call(2, all_reduce, 100 * MB, {1})});
    ranks[2][0].duration = 7 * ms;
    const ReplayReport r = played(trace_of(ranks));
    EXPECT_NEAR(r.step / ms, 7 + 1.516, 1e-9);
    EXPECT_NEAR(r.ranks[0].terms[ReplayTerm::waiting] / ms, 4, 1e-9);
    EXPECT_NEAR(r.ranks[2].terms[ReplayTerm::waiting] / ms, 0, 1e-9);
}

TEST(Replay, SendsToWhoReceives) {
    // 50 MB inside the node at 100 GB/s: 10 us for the call, 1 us for the step, 0.5 ms.
    const ReplayReport r = played(trace_of({{kernel(1, 2), transfer(2, Kind::send, 1, 50 * MB, {1}), kernel(3, 1, {1})},
                                            {transfer(7, Kind::receive, 0, 50 * MB), kernel(8, 4, {7})}}));
    EXPECT_NEAR(r.step / ms, 2 + 0.511 + 4, 1e-9);
    EXPECT_EQ(last_of(r).rank, 1);
    EXPECT_NEAR(last_of(r).terms[ReplayTerm::transfers] / ms, 0.511, 1e-9);
    EXPECT_NEAR(last_of(r).terms[ReplayTerm::waiting] / ms, 2, 1e-9);
}

TEST(Replay, SharesANetworkThatSeveralGroupsCross) {
    // Rank i of one node and of the other: four pairs, each with a NIC of 10 GB/s to itself. All-reduce of 100 MB by two ranks: 10 us, two
    // steps of 5 us, 100 MB. Their groups are who calls them by one name.
    std::vector<std::vector<RecordedNode>> ranks;
    for (int r = 0; r < 8; ++r) ranks.push_back({call(1, all_reduce, 100 * MB, {}, std::to_string(r % 4))});
    const ReplayReport apart = played(trace_of(ranks), 2);
    EXPECT_GE(apart.step / ms, 2.5);  // 100 MB over four NICs at most
    EXPECT_NEAR(apart.step / ms, 10.02, 0.01);
    // The same groups by a file.
    ExecutionTrace named = trace_of(ranks);
    for (int g = 0; g < 4; ++g) named.groups[std::to_string(g)] = {g, g + 4};
    EXPECT_EQ(played(named, 2).step, apart.step);
}

TEST(Replay, PutsRanksOnTheNodesThatTheyAreSaidToBeOn) {
    // The pairs 0 and 4, 1 and 5, 2 and 6, 3 and 7, each within a node: 10 us, two steps of 1 us, 100 MB at 100 GB/s.
    std::vector<std::vector<RecordedNode>> ranks;
    for (int r = 0; r < 8; ++r) ranks.push_back({call(1, all_reduce, 100 * MB, {}, std::to_string(r % 4))});
    ExecutionTrace trace = trace_of(ranks);
    trace.node_of = {0, 0, 1, 1, 0, 0, 1, 1};
    EXPECT_NEAR(played(trace, 2).step / ms, 1.012, 1e-9);
    trace.node_of = {0, 0, 0, 0, 0, 1, 1, 1};
    const std::vector<Diagnostic> problems = problems_of(trace);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_THAT(problems.front().what, HasSubstr("8 ranks on 2 nodes, up to 5 on one, and "));
}

TEST(Replay, FindsAnOrderOfCallsThatAllRanksCanFollow) {
    // Rank 0 is ready for b first, rank 1 for a: neither waits for the other.
    const auto a = [](std::vector<std::uint64_t> after) { return call(10, all_reduce, 1 * MB, std::move(after), "a"); };
    const auto b = [](std::vector<std::uint64_t> after) { return call(11, all_reduce, 1 * MB, std::move(after), "b"); };
    const ReplayReport r = played(trace_of({{kernel(1, 5), a({1}), b({})}, {kernel(1, 5), a({}), b({1})}}));
    // Both begin after 5 ms: 10 us, two steps of 1 us, 1 MB at 100 GB/s, and the same again.
    EXPECT_NEAR(r.step / ms, 5 + 2 * 0.022, 1e-9);
}

TEST(Replay, LetsAnEarlyCallGoBeforeALateOne) {
    // The call with the lower id is ready after 5 ms, the other one at once; both take 10 us, six steps of 1 us and 15 us.
    std::vector<std::vector<RecordedNode>> ranks(
        4, {kernel(1, 5), call(2, all_reduce, 1 * MB, {1}, "a"), call(3, all_reduce, 1 * MB, {}, "b"), kernel(4, 1, {3})});
    // A kernel of 1 ms follows the early one, behind the kernel of 5 ms that runs then.
    const ReplayReport r = played(trace_of(ranks));
    EXPECT_NEAR(r.step / ms, 6, 1e-9);
    EXPECT_NEAR(last_of(r).overlapped[ReplayTerm::collectives] / ms, 2 * 0.031, 1e-9);
}

TEST(Replay, RefusesRanksThatDoNotMeet) {
    const auto what = [](const ExecutionTrace& trace) {
        const std::vector<Diagnostic> problems = problems_of(trace);
        return problems.empty() ? std::string() : problems.front().what;
    };
    EXPECT_THAT(what(trace_of({{call(1, all_reduce, 1 * MB)}, {kernel(1, 1)}})), HasSubstr("rank 1 has 0 collectives of all ranks"));
    EXPECT_THAT(what(trace_of({{call(1, all_reduce, 1 * MB)}, {call(1, all_reduce, 2 * MB)}})), HasSubstr("2.00 MB"));
    EXPECT_THAT(what(trace_of({{call(1, all_reduce, 1 * MB)}, {call(1, RecordedCollective::broadcast, 1 * MB)}})), HasSubstr("broadcast"));
    EXPECT_THAT(what(trace_of({{transfer(1, Kind::send, 1, 1 * MB)}, {}})), HasSubstr("which receives 0"));
    EXPECT_THAT(what(trace_of({{}, {transfer(1, Kind::receive, 0, 1 * MB)}})), HasSubstr("sends 0 messages"));
    EXPECT_THAT(what(trace_of({{kernel(1, 1, {2})}})), HasSubstr("waits for node 2"));
    EXPECT_THAT(what(trace_of({{kernel(1, 1), kernel(1, 1)}})), HasSubstr("two nodes"));
    EXPECT_THAT(what(trace_of({{kernel(1, 1, {2}), kernel(2, 1, {1})}})), HasSubstr("circle"));
    // One rank after the other's call, and the other way round.
    EXPECT_THAT(what(trace_of({{call(1, all_reduce, 1 * MB, {}, "a"), call(2, all_reduce, 1 * MB, {1}, "b")},
                               {call(1, all_reduce, 1 * MB, {2}, "a"), call(2, all_reduce, 1 * MB, {}, "b")}})),
                HasSubstr("rank 0 waits here for rank 1 at node 1"));
    // However much else is wrong.
    std::vector<RecordedNode> wrong{call(100, all_reduce, 1 * MB)};
    for (std::uint64_t id = 1; id < 50; ++id) wrong.push_back(kernel(id, 1, {1000}));
    EXPECT_EQ(problems_of(trace_of({wrong, {}})).size(), 20U);
    ExecutionTrace stranger = trace_of({{call(1, all_reduce, 1 * MB, {}, "a")}, {call(1, all_reduce, 1 * MB, {}, "a")}});
    stranger.groups["a"] = {0};
    EXPECT_THAT(what(stranger), HasSubstr("rank 1 is no member"));
    EXPECT_THAT(what(trace_of(std::vector<std::vector<RecordedNode>>(5, {kernel(1, 1)}))), HasSubstr("5 ranks"));
}

}  // namespace
}  // namespace sextant
