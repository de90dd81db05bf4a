#include "model/cost/collectives.hpp"

#include "tests/cost/round_machine.hpp"
#include "tests/hardware/machines.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant {
namespace {

using namespace units;

constexpr Collective all_kinds[] = {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                                    Collective::all_to_all, Collective::broadcast,  Collective::reduce,
                                    Collective::send};

Group in_one_node(int ranks) {
    Group g;
    g.ranks = ranks;
    g.ring = g.all_to_all = 100 * GB / s;
    g.hop = Hop::nvlink;
    return g;
}

Group over_nodes(int nodes, int ranks_per_node) {
    Group g = in_one_node(nodes * ranks_per_node);
    g.nodes = nodes;
    g.ring = g.all_to_all = 10 * GB / s;
    g.crosses_network = true;
    return g;
}

double time_us(Collective what, Bytes size, const Group& group, const CommunicationLibrary& library = round_machine::library(),
               LinkScale scale = {}) {
    return collective_time(what, size, group, library, scale) / us;
}

TEST(Collectives, RingAllReduceOfFourRanksTakesSixStepsAndSendsThreeHalvesOfTheBuffer) {
    // base 10 us + 2 (4 - 1) steps x 1 us + 2 x 3/4 x 1 GB / (100 GB/s) = 10 us + 6 us + 15 ms
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, in_one_node(4)), 15'016, 1e-6);
}

TEST(Collectives, DevicesStartACallAndTakeAStepInsideANodeAsTheirProfileSays) {
    // 0.5 x 10 us + 3 steps x 2 x 1 us; over two nodes of two ranks 0.5 x 10 us + (1 step inside x 2 x 1 us + 2 across x 5 us). A protocol
    // without flags in its words starts as the library says: 10 us + 3 x 2 us.
    Cluster cluster = machines::pcie_node(4);
    cluster.node.device.call_start = round_machine::given(0.5);
    cluster.node.device.call_step = round_machine::given(2.0);
    Group inside = in_one_node(4), across = over_nodes(2, 2);
    inside.machine = across.machine = group_machine(cluster);
    CommunicationLibrary library = round_machine::library();
    EXPECT_NEAR(collective_price(Collective::all_gather, 1 * GB, inside, library).fixed / us, 16, 1e-9);
    library.protocols.front().needs_order = true;
    EXPECT_NEAR(collective_price(Collective::all_gather, 1 * GB, inside, library).fixed / us, 11, 1e-9);
    EXPECT_NEAR(collective_price(Collective::all_gather, 1 * GB, across, library).fixed / us, 17, 1e-9);
}

TEST(Collectives, GatherAndScatterAreHalfAnAllReduce) {
    // 10 us + 3 us + 3/4 x 1 GB / (100 GB/s) = 13 us + 7.5 ms
    EXPECT_NEAR(time_us(Collective::all_gather, 1 * GB, in_one_node(4)), 7'513, 1e-6);
    EXPECT_NEAR(time_us(Collective::reduce_scatter, 1 * GB, in_one_node(4)), 7'513, 1e-6);
}

TEST(Collectives, ABroadcastIsAPipelinedChain) {
    // 10 us + 3 us + 1 GB / (100 GB/s) = 13 us + 10 ms; a reduction is the same chain backwards
    EXPECT_NEAR(time_us(Collective::broadcast, 1 * GB, in_one_node(4)), 10'013, 1e-6);
    EXPECT_NEAR(time_us(Collective::reduce, 1 * GB, in_one_node(4)), 10'013, 1e-6);
}

TEST(Collectives, ThePriceOfARingAllReduceIsItsStepsAndTheBytesThatARankPassesOn) {
    // 10 us + 6 steps of 1 us; three halves of 1 GB at all of the ring's bandwidth.
    const CollectivePrice price = collective_price(Collective::all_reduce, 1 * GB, in_one_node(4), round_machine::library());
    EXPECT_NEAR(price.fixed / us, 16, 1e-9);
    EXPECT_DOUBLE_EQ(price.bytes / GB, 1.5);
    EXPECT_EQ(price.pattern, Pattern::ring);
    EXPECT_DOUBLE_EQ(price.efficiency, 1);
}

TEST(Collectives, ASendIsOneHopOfTheClassThatItCrosses) {
    // Inside: 10 us + 1 us + 1 MB / (100 GB/s) = 21 us. Across: 10 us + 5 us + 1 MB / (10 GB/s) = 115 us.
    EXPECT_NEAR(time_us(Collective::send, 1 * MB, in_one_node(2)), 21, 1e-9);
    EXPECT_NEAR(time_us(Collective::send, 1 * MB, over_nodes(2, 1)), 115, 1e-9);
}

TEST(Collectives, AllToAllKeepsItsOwnPartAndPostsMessagesTogether) {
    // Three quarters of 1 GB leave at 100 GB/s: 7.5 ms. The first of three messages pays its step, the others a share of posting it.
    const double latency = time_us(Collective::all_to_all, 1 * GB, in_one_node(4)) - 7'500;
    EXPECT_GE(latency, 10 + 1);
    EXPECT_LE(latency, 10 + 3);
}

TEST(Collectives, ARingOverNodesLeavesEachNodeOnce) {
    // Eight ranks on two nodes: of the 7 steps of a pass 2 cross the network (5 us) and 5 stay inside (1 us): 15 us.
    // All-reduce: 10 us + 2 x 15 us + 2 x 7/8 x 1 GB / (10 GB/s) = 40 us + 175 ms
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, over_nodes(2, 4)), 175'040, 1e-6);
}

TEST(Collectives, AStepOverTheNetworkTakesAtLeastItsWire) {
    // As above, over wires of 50 us: 10 us + 2 x (5 x 1 us + 2 x 50 us) + 175 ms. Wires of 3 us are within the library's 5 us.
    Group group = over_nodes(2, 4);
    group.wire_latency = 50 * us;
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, group), 175'220, 1e-6);
    group.wire_latency = 3 * us;
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, group), 175'040, 1e-6);
}

TEST(Collectives, AMessageThatTheReceiverHasToAskForWaitsARoundTrip) {
    // Wires of 5 us are within the library's step. Parts of 10 KB are sent unasked: 40 us and 2 x 7/8 x 80 KB / (10 GB/s); longer ones
    // wait 2 x 5 us in each of 2 x 2 steps across the network, none inside.
    Group group = over_nodes(2, 4);
    group.wire_latency = 5 * us;
    group.machine.eager_limit = 10 * KB;
    EXPECT_NEAR(time_us(Collective::all_reduce, 80 * KB, group), 40 + 14, 1e-9);
    EXPECT_NEAR(time_us(Collective::all_reduce, 160 * KB, group), 40 + 40 + 28, 1e-9);
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, in_one_node(4)), 15'016, 1e-6);
    // A message to one neighbour: 10 us + 5 us, and 10 us more.
    EXPECT_NEAR(time_us(Collective::send, 10 * KB, group), 15 + 1, 1e-9);
    EXPECT_NEAR(time_us(Collective::send, 20 * KB, group), 25 + 2, 1e-9);
}

TEST(Collectives, ATreeBeatsTheRingForSmallMessagesOnManyNodes) {
    // 256 ranks on 64 nodes, 1 KB. Ring: 2 (64 x 5 us + 191 x 1 us) = 1022 us, 10 us a call, and 2 x 255/256 x 0.1 us.
    // Tree: along 3 steps in the node and up log2 64 = 6 levels: 3 us + 30 us, twice; 10 us; 2 x 0.1 us of bytes: 76.2 us.
    CommunicationLibrary library = round_machine::library();
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * KB, over_nodes(64, 4), library), 1032 + 0.2 * 255 / 256, 1e-6);
    library.tree = true;
    library.tree_bandwidth_fraction = round_machine::given(1.0);
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * KB, over_nodes(64, 4), library), 76.2, 1e-6);
}

TEST(Collectives, TheRingBeatsTheTreeForLargeMessagesOnFewRanks) {
    // Two ranks, 1 GB: the ring passes 2 x 1/2 of the buffer, the tree all of it up and down.
    CommunicationLibrary library = round_machine::library();
    const double ring = time_us(Collective::all_reduce, 1 * GB, in_one_node(2), library);
    library.tree = true;
    library.tree_bandwidth_fraction = round_machine::given(1.0);
    EXPECT_DOUBLE_EQ(time_us(Collective::all_reduce, 1 * GB, in_one_node(2), library), ring);
}

// A protocol that starts at once and moves half as much, beside the one that starts in 10 us + 3 steps x 1 us.
CommunicationLibrary with_eager_protocol() {
    CommunicationLibrary library = round_machine::library();
    Protocol eager;
    eager.bandwidth_fraction = round_machine::given(0.5);
    eager.base = round_machine::given(1 * us);
    library.protocols.push_back(eager);
    return library;
}

TEST(Collectives, TheProtocolFollowsTheSize) {
    // All-gather over four ranks: simple 13 us + 0.75 S / (100 GB/s), eager 1 us + 0.75 S / (50 GB/s).
    // They meet where 0.75 S / (100 GB/s) = 12 us: S = 1.6 MB, 25 us. Half of that: eager, 13 us. Twice: simple, 37 us.
    const CommunicationLibrary library = with_eager_protocol();
    EXPECT_NEAR(time_us(Collective::all_gather, 1.6 * MB, in_one_node(4), library), 25, 1e-9);
    EXPECT_NEAR(time_us(Collective::all_gather, 0.8 * MB, in_one_node(4), library), 13, 1e-9);
    EXPECT_NEAR(time_us(Collective::all_gather, 3.2 * MB, in_one_node(4), library), 37, 1e-9);
}

TEST(Collectives, ThePriceIsThatOfTheFastestProtocolAndSaysHowItsBytesTravel) {
    const CommunicationLibrary library = with_eager_protocol();
    // One hop: simple 10 us + 1 us + S / (100 GB/s), eager 1 us + S / (50 GB/s). They meet at S = 1 MB, 21 us.
    const CollectivePrice small = collective_price(Collective::send, 0.5 * MB, in_one_node(2), library);
    EXPECT_EQ(small.pattern, Pattern::path);
    EXPECT_NEAR(small.fixed / us, 1, 1e-9);
    EXPECT_DOUBLE_EQ(small.efficiency, 0.5);
    const CollectivePrice large = collective_price(Collective::send, 2 * MB, in_one_node(2), library);
    EXPECT_NEAR(large.fixed / us, 11, 1e-9);
    EXPECT_DOUBLE_EQ(large.efficiency, 1);
    EXPECT_EQ(collective_price(Collective::all_to_all, 1 * MB, in_one_node(4), library).pattern, Pattern::all_to_all);
}

TEST(Collectives, AProtocolForSmallMessagesStopsAtItsLimit) {
    CommunicationLibrary library = with_eager_protocol();
    library.protocols.back().up_to = 400 * KB;
    // At 400 KB eager: 1 us + 6 us. Above its limit simple: 13 us + 0.75 x 800 KB / (100 GB/s) = 19 us, though eager would take 13.
    EXPECT_NEAR(time_us(Collective::all_gather, 400 * KB, in_one_node(4), library), 7, 1e-9);
    EXPECT_NEAR(time_us(Collective::all_gather, 800 * KB, in_one_node(4), library), 19, 1e-9);
}

TEST(Collectives, KernelsThatCopyThroughHostMemoryReachAPartOfIt) {
    // A fifth of 100 GB/s: 16 us + 1.5 GB at 20 GB/s.
    CommunicationLibrary library = round_machine::library();
    Group group = in_one_node(4);
    group.inside = group.ring;
    group.staged_inside = true;
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, group, library), 15'016, 1e-6);
    library.staged_fraction = round_machine::given(0.2);
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, group, library), 75'016, 1e-6);
    // Over two nodes by a network of 10 GB/s: 22 us and 1.75 GB, whether copies inside reach 20 GB/s or all. With a twentieth, 5 GB/s, they
    // hold the ring up, and a wider network changes nothing.
    Group two = over_nodes(2, 4);
    two.inside = 100 * GB / s;
    two.staged_inside = true;
    const double by_the_network = time_us(Collective::all_reduce, 1 * GB, over_nodes(2, 4), library);
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, two, library), by_the_network, 1e-6);
    library.staged_fraction = round_machine::given(0.05);
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, two, library), by_the_network + 175'000, 1e-6);
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, two, library, {.across = 2}), by_the_network + 175'000, 1e-6);
    // A tree passes the buffer on twice inside each node, at 5 GB/s: 26 us and 400 ms over any network, while the ring takes 40 us and 350
    // ms. Where a step of the ring takes a second, the tree is chosen.
    library.tree = true;
    library.tree_bandwidth_fraction = round_machine::given(1.0);
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, two, library), by_the_network + 175'000, 1e-6);
    for (Sourced<Seconds>& step : library.protocols.front().ring_step) step = round_machine::given(1 * s);
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, two, library), 400'026, 1e-6);
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, two, library, {.across = 2}), 400'026, 1e-6);
}

TEST(Collectives, ASwitchThatAddsSendsEachBufferOnce) {
    CommunicationLibrary library = round_machine::library();
    library.in_switch_reduction = true;
    library.in_switch_bandwidth_fraction = round_machine::given(1.0);
    library.in_switch_step = round_machine::given(2 * us);
    Group group = in_one_node(4);
    // The library can, this switch cannot: the ring, 15.016 ms. When it can: 10 us + 2 us + 1 GB / (100 GB/s).
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, group, library), 15'016, 1e-6);
    group.in_switch = true;
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, group, library), 10'012, 1e-6);
    EXPECT_NEAR(time_us(Collective::all_gather, 1 * GB, group, library), 7'513, 1e-6);  // nothing to add
}

TEST(Collectives, ATreeOverTwoNodesPassesTheNetworkOnce) {
    // 1 GB over 10 GB/s, links inside that do not limit: two nodes send a buffer, three one and a half, more of them two. 10 us a call; up
    // and down 3 steps in the node and one, two and two levels of 5 us: 16, 26 and 26 us.
    CommunicationLibrary library = round_machine::library();
    library.tree = true;
    library.tree_bandwidth_fraction = round_machine::given(1.0);
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, over_nodes(2, 4), library), 100'026, 1e-6);
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, over_nodes(3, 4), library), 150'036, 1e-6);
    // Links inside as slow as the network: every rank passes each buffer on twice, more than the ring's 7/4.
    Group group = over_nodes(2, 4);
    group.inside = group.ring;
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, group, library), 10 + 2 * (5 * 1 + 2 * 5) + 175'000, 1e-6);
}

TEST(Collectives, SwitchesInNodesAddAndATreeJoinsTheNodes) {
    // 10 us a call, 2 us in the switch, a level of 5 us up and down; 1 GB once over the network at 10 GB/s.
    CommunicationLibrary library = round_machine::library();
    library.in_switch_reduction = library.in_switch_tree = true;
    library.in_switch_bandwidth_fraction = round_machine::given(0.5);
    library.in_switch_step = round_machine::given(2 * us);
    Group group = over_nodes(2, 4);
    group.inside = 100 * GB / s;
    group.in_node_switch = true;
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, group, library), 100'022, 1e-6);
    // The switch moves half of 16 GB/s.
    group.inside = 16 * GB / s;
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, group, library), 125'022, 1e-6);
}

TEST(Collectives, ASlowerWireThanTheOneInTheStepAddsTheDifference) {
    // Eight ranks on two nodes: 10 us + 2 (5 x 1 us + 2 x 5 us) + 175 ms; with 2 us of wire in the 5 us, one of 32 us adds 4 x 30 us.
    CommunicationLibrary library = round_machine::library();
    library.wire_in_step = round_machine::given(2 * us);
    Group group = over_nodes(2, 4);
    group.wire_latency = 32 * us;
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, group, library), 175'160, 1e-6);
    group.wire_latency = 1 * us;
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, group, library), 175'040, 1e-6);
}

TEST(Collectives, FlagsAmongTheDataNeedANetworkThatKeepsOrder) {
    CommunicationLibrary library = with_eager_protocol();
    library.protocols.back().needs_order = true;
    Group group = over_nodes(2, 4);
    // 1 KB by the eager protocol: 1 us, no steps, 1.75 x 1 KB at half of 10 GB/s. Else 10 us + 30 us + 0.175 us.
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * KB, group, library), 1.35, 1e-9);
    group.machine.ordered_network = false;
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * KB, group, library), 40.175, 1e-9);
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * KB, in_one_node(4), library), 1.03, 1e-9);
}

TEST(Collectives, AShortMessageUsesFewChannels) {
    // A channel for each 10 KB of a rank's part, at 1 GB/s alone. Four ranks: 16 us, 1.5 bytes passed on for each of the buffer.
    CommunicationLibrary library = round_machine::library();
    library.protocols.front().channel_bytes = 10 * KB;
    library.protocols.front().channel_bandwidth = round_machine::given(1 * GB / s);
    // 20 KB, all through the first channel: 30 us, and 30 KB at 100 GB/s. 1 MB: 60 us for the first 40 KB, 15 us for all of it.
    EXPECT_NEAR(time_us(Collective::all_reduce, 20 * KB, in_one_node(4), library), 16 + 30 + 0.3, 1e-9);
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * MB, in_one_node(4), library), 16 + 60 + 15, 1e-9);
}

TEST(Collectives, EachChannelOfALongMessageTakesTimeToStart) {
    // One for each 10 GB/s of the ring's 100, 2 us each: 15.016 ms and 20 us.
    CommunicationLibrary library = round_machine::library();
    library.channel_rate = 10 * GB / s;
    library.protocols.front().channel_start = round_machine::given(2 * us);
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, in_one_node(4), library), 15'036, 1e-6);
}

TEST(Collectives, ATreeIsFilledAsFarAsItsChunksAllow) {
    // 64 B at all of the bandwidth, 128 B and more at half: 96 B, half way on the scale of factors of two, at 1 - log2(1.5) / 2 of it.
    CommunicationLibrary library = round_machine::library();
    library.tree = true;
    library.tree_bandwidth_fraction = round_machine::given(1.0);
    library.protocols.front().tree_fill = {1.0, 0.5};
    const auto efficiency = [&](Bytes size) {
        return collective_price(Collective::all_reduce, size, over_nodes(64, 4), library).efficiency;
    };
    EXPECT_DOUBLE_EQ(efficiency(64 * B), 1);
    EXPECT_NEAR(efficiency(96 * B), 1 - std::log2(1.5) / 2, 1e-12);
    EXPECT_DOUBLE_EQ(efficiency(1 * KB), 0.5);
    EXPECT_DOUBLE_EQ(efficiency(1 * B), 1);
}

TEST(Collectives, LinksInsideANodeMayLimitAProtocolFurther) {
    // At most 0.2 of the node's 100 GB/s: 16 us and 75 ms. Over the network of 10 GB/s that is no limit.
    CommunicationLibrary library = round_machine::library();
    library.protocols.front().inside_fraction = round_machine::given(0.2);
    Group node = in_one_node(4);
    node.inside = node.ring;
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, node, library), 75'016, 1e-6);
    Group nodes = over_nodes(2, 4);
    nodes.inside = 100 * GB / s;
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, nodes, library), 175'040, 1e-6);
}

TEST(Collectives, ABroadcastBehindAnotherCostsAnEighthOfAStep) {
    CommunicationLibrary library = round_machine::library();
    library.chains_follow = true;
    EXPECT_NEAR(time_us(Collective::broadcast, 1 * GB, in_one_node(4), library), 10'010.125, 1e-6);
    // Over nodes the channels visit the ranks in unlike orders: the whole chain, unless the message has one channel only.
    EXPECT_NEAR(time_us(Collective::reduce, 1 * GB, over_nodes(2, 4), library), 10 + 5 * 1 + 2 * 5 + 100'000, 1e-6);
    library.protocols.front().channel_bytes = 1 * KB;
    EXPECT_NEAR(time_us(Collective::reduce, 8 * KB, over_nodes(2, 4), library), 10 + 5.0 / 8 + 0.8, 1e-9);
}

TEST(Collectives, AChainOverNodesIsFullWhenAChunkOfEachChannelHasCrossedIt) {
    // Three nodes of four at 10 GB/s, which two channels carry, 512 KiB each at once: before 1 GB of 100 ms, and steps of 8 x 1 and 3 x 5
    // us, 1 MiB goes from node to node twice, 105 us each.
    CommunicationLibrary library = round_machine::library();
    library.chains_follow = true;
    library.channel_rate = 10 * GB / s;
    Group group = over_nodes(3, 4);
    group.across = group.ring;
    EXPECT_NEAR(time_us(Collective::broadcast, 1 * GB, group, library), 10 + 23 + 2 * 104.8576 + 100'000, 1e-6);
    // 100 KB are one chunk: 10 us each time.
    EXPECT_NEAR(time_us(Collective::reduce, 100 * KB, group, library), 10 + 23 + 3 * 10, 1e-6);
}

TEST(Collectives, ALibraryThatReducesOnTheHostAddsThereAndCopiesThereAndBack) {
    // All-reduce of 1 GB over four ranks, 15.016 ms on the wire; each process adds 3/4 GB at 1 GB/s: 750 ms.
    CommunicationLibrary library = round_machine::library();
    library.host_reduction = round_machine::given(1 * GB / s);
    Group group = in_one_node(4);
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, group, library), 765'016, 1e-6);
    EXPECT_NEAR(time_us(Collective::all_gather, 1 * GB, group, library), 7'513, 1e-6);  // nothing to add
    // The buffer goes to the host and comes back at 10 GB/s: 200 ms, unless it is there already.
    library.host_staging = round_machine::given(10 * GB / s);
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, group, library), 965'016, 1e-6);
    group.host_buffers = true;
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, group, library), 765'016, 1e-6);
}

TEST(Collectives, OneRankAndNoBytesAreFree) {
    for (const Collective what : all_kinds) {
        EXPECT_EQ(time_us(what, 1 * GB, in_one_node(1)), 0) << to_text(what);
        EXPECT_EQ(time_us(what, Bytes{}, in_one_node(4)), 0) << to_text(what);
    }
}

TEST(Collectives, LargerIsNeverFasterAndBetterLinksAreNeverSlower) {
    CommunicationLibrary library = with_eager_protocol();
    library.protocols.back().up_to = 100 * KB;
    library.tree = true;
    library.tree_bandwidth_fraction = round_machine::given(0.8);
    for (const Collective what : all_kinds) {
        for (const Group& group : {in_one_node(2), in_one_node(4), over_nodes(2, 4), over_nodes(64, 4)}) {
            double before = 0;
            for (double size = 1; size < 1e11; size *= 1.7) {
                const double now = time_us(what, size * B, group, library);
                ASSERT_GE(now, before) << to_text(what) << " of " << size << " bytes, " << group.ranks << " ranks";
                ASSERT_LE(time_us(what, size * B, group, library, {.inside = 2, .across = 2}), now);
                ASSERT_LE(time_us(what, size * B, group, library, {.latency = 2}), now);
                before = now;
            }
        }
    }
}

TEST(Collectives, LinkScaleDividesBytesAndStepsApart) {
    // 10 us + 6 us + 15 ms: twice the bandwidth leaves 7.5 ms, half the latency 8 us.
    EXPECT_NEAR(time_us(Collective::all_reduce, 1 * GB, in_one_node(4), round_machine::library(), {.inside = 2, .latency = 2}), 7'508,
                1e-6);
}

TEST(Collectives, WiderLinksHelpAsFarAsTheOtherPartOfTheRingLetsThem) {
    // Eight ranks on two nodes send 1.75 GB by a network of 10 GB/s: 175 ms. It twice as wide: 87.5; links inside that carry 15 GB/s limit
    // it to 116.667; they twice as wide alone change nothing.
    const auto wider = [](const Group& group, LinkScale scale) {
        return time_us(Collective::all_reduce, 1 * GB, group, round_machine::library(), scale) -
               time_us(Collective::all_reduce, 1 * GB, group, round_machine::library());
    };
    Group group = over_nodes(2, 4);
    group.across = 10 * GB / s;
    EXPECT_NEAR(wider(group, {.across = 2}), 87'500 - 175'000, 1e-6);
    group.inside = 15 * GB / s;
    EXPECT_NEAR(wider(group, {.across = 2}), 1.75e6 / 15 - 175'000, 1e-6);
    EXPECT_NEAR(wider(group, {.inside = 2}), 0, 1e-6);
    // Links inside of 10 GB/s limit it themselves: they twice as wide, on a network of 15, bring it to that.
    group.inside = 10 * GB / s;
    group.across = 15 * GB / s;
    EXPECT_NEAR(wider(group, {.across = 2}), 0, 1e-6);
    EXPECT_NEAR(wider(group, {.inside = 2}), 1.75e6 / 15 - 175'000, 1e-6);
}

TEST(Collectives, RanksThatEachSendToTheNextAreAsFastAsTheSlowestHop) {
    const auto ring_gb = [](const Cluster& cluster, int nodes, const std::vector<DeviceIndex>& members) {
        return group_of_call(Collective::send, Topology::build(cluster, nodes), members, group_machine(cluster)).ring / (GB / s);
    };
    // Behind a switch the whole port. A board without one turns all its links into rings, but a rank has only those to the next.
    EXPECT_DOUBLE_EQ(ring_gb(machines::dgx_cluster(), 1, {0, 1, 2, 3, 4, 5, 6, 7}), 270);
    EXPECT_DOUBLE_EQ(ring_gb(machines::board(4, PeerLayout::all_to_all, 4), 1, {0, 1, 2, 3}), 100);
    // Of two nodes with eight NICs each the last rank of the first sends to the first of the second through its own.
    EXPECT_DOUBLE_EQ(ring_gb(machines::dgx_cluster(), 2, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}), 22.5);
}

}  // namespace
}  // namespace sextant
