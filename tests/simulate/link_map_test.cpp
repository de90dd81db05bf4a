// Which links a graph loads, and which of them have to be told apart.
#include "model/simulate/link_map.hpp"

#include "tests/simulate/hand_made_job.hpp"

namespace sextant {
namespace {

using namespace units;
using hand_made::HandMadeJob;

LinkMap map_of(HandMadeJob& job) { return {std::move(job.builder).build(), job.table, job.topology, job.placement}; }

int limiting(const LinkMap& map) {
    int n = 0;
    for (const LinkClass& c : map.classes()) n += c.limits ? 1 : 0;
    return n;
}

TEST(LinkMap, TakesLinksThatCarryTheSameAsOne) {
    // Eight ports of a ring of four; one class, one constraint.
    HandMadeJob job(4);
    const auto c = job.group(ParallelGroup::data, {0, 1, 2, 3});
    for (GraphRank r = 0; r < 4; ++r) job.all_reduce(r, c, 100 * MB);
    const LinkMap map = map_of(job);
    ASSERT_EQ(map.classes().size(), 1u);
    EXPECT_EQ(map.classes()[0].links.size(), 8U);
    EXPECT_EQ(map.capacities().size(), 1u);
}

TEST(LinkMap, LeavesOutLinksThatAnotherAlwaysLimitsFirst) {
    // Between two nodes: NICs of 10 GB/s, and PCIe of 20 GB/s on the way to them, which carries the same.
    HandMadeJob job(8, 2);
    job.send(0, 4, 100 * MB);
    const LinkMap map = map_of(job);
    EXPECT_GT(map.classes().size(), 1u);
    EXPECT_EQ(limiting(map), 1);
    EXPECT_EQ(map.capacities(), std::vector<Bandwidth>{10 * GB / s});
}

TEST(LinkMap, KeepsLinksThatDifferentTrafficCrosses) {
    // The port out of 0 carries both, those into 1 and 2 one each. The first always is as full as either other, and yet they are kept:
    // with a limit elsewhere on the way to 1 it would be the port into 2 that counts.
    HandMadeJob job(3);
    job.send(0, 1, 300 * MB);
    job.send(0, 2, 100 * MB, {}, 0, Stream::send_previous);
    const LinkMap map = map_of(job);
    EXPECT_EQ(map.classes().size(), 3u);
    EXPECT_EQ(limiting(map), 3);
    EXPECT_EQ(map.uses(0).size(), 2u);
}

TEST(LinkMap, AddsUpWhatTheSetsOfAFoldedCommunicatorPutOnALink) {
    // One rank of the graph stands for two senders in node 0, whose transfers leave by the same NIC where the node has only one.
    Cluster one_nic = round_machine::cluster(2);
    one_nic.node.nics = 1;
    HandMadeJob job(1);
    job.topology = Topology::build(one_nic, 2);
    job.placement.device_of = {0, 1, 4, 5};
    const CommunicatorIndex c = job.builder.add(Communicator{ParallelGroup::pipeline, {0, 0}, {{0, 2}, {1, 3}}});
    job.add(0, Stream::send_next, TransferWork{}, {HandMadeJob::exchange_of(ParallelGroup::pipeline, 10 * MB, 0)}, c);
    const LinkMap map = map_of(job);
    ASSERT_EQ(map.capacities().size(), 1u);
    ASSERT_EQ(map.uses(0).size(), 1u);
    EXPECT_NEAR(map.uses(0)[0].weight, 2, 1e-9);
    EXPECT_EQ(map.capacities()[0], 10 * GB / s);
}

TEST(LinkMap, LeavesOutLinksThatAreNeverFull) {
    // Two pairs of nodes behind one NIC each send across a leaf that has room for both.
    HandMadeJob job(16, 4);
    job.send(0, 8, 100 * MB);
    job.send(4, 12, 100 * MB);
    const LinkMap map = map_of(job);
    EXPECT_TRUE(std::ranges::any_of(map.classes(), &LinkClass::limits));
    for (const LinkClass& c : map.classes()) EXPECT_TRUE(!c.limits || c.capacity == 10 * GB / s) << c.name;
}

// One rank of the graph that stands for two senders, at these devices of the round machine.
bool are_alike(std::vector<DeviceIndex> from_from_to_to) {
    HandMadeJob job(1, 3);
    job.placement.device_of = std::move(from_from_to_to);
    const CommunicatorIndex c = job.builder.add(Communicator{ParallelGroup::pipeline, {0, 0}, {{0, 2}, {1, 3}}});
    job.add(0, Stream::send_next, TransferWork{}, {HandMadeJob::exchange_of(ParallelGroup::pipeline, 10 * MB, 0)}, c);
    return map_of(job).sets_are_alike();
}

TEST(LinkMap, TellsWhetherRanksThatOneStandsForShareLinksAlike) {
    EXPECT_TRUE(are_alike({0, 1, 2, 3}));   // inside a node
    EXPECT_TRUE(are_alike({0, 1, 4, 5}));   // both to the next node
    EXPECT_TRUE(are_alike({0, 4, 5, 9}));   // each to its next node
    EXPECT_FALSE(are_alike({0, 4, 1, 8}));  // one stays inside, the other leaves
    EXPECT_FALSE(are_alike({0, 1, 4, 2}));  // likewise, from one node
}

TEST(LinkMap, TakesWhatOneWorkerExchangesWithAllServersTogether) {
    // A server on each of two nodes, a worker beside each: one copy stays at home, the other crosses the network, for both workers.
    HandMadeJob job(2, 2);
    job.placement.device_of = {0, 4};
    job.placement.node_of_server = {0, 1};
    job.builder.rank(1).server = true;
    const CommunicatorIndex c = job.builder.add(Communicator{ParallelGroup::data, {0, 1}, {{0, 0}, {0, 1}, {1, 0}, {1, 1}}, true});
    job.add(0, Stream::communication, TransferWork{Payload::gradients}, {HandMadeJob::exchange_of(ParallelGroup::data, 10 * MB, 0)}, c);
    EXPECT_TRUE(map_of(job).sets_are_alike());
}

}  // namespace
}  // namespace sextant
