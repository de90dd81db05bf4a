#include "model/cost/message_passing.hpp"

#include "tests/cost/round_machine.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;
using round_machine::given;

// 1 us inside a node, 2 us across; a process combines 1 GB/s, posts in 1 us, copies 1 GB/s. The table of Open MPI in round numbers.
MessagePassing messages() {
    MessagePassing m;
    m.inside = given(1 * us);
    m.across = given(2 * us);
    m.wire_in_across = given(1 * us);
    m.combine = given(1 * GB / s);
    m.post = given(1 * us);
    m.copy = given(1 * GB / s);
    m.staging_call = given(20 * us);
    m.staging = given(4 * GB / s);
    m.device_eager = given(3 * us);
    m.device_reads = given(0.5 * GB / s);
    m.device_eager_up_to = 8 * KB;
    m.device_rendezvous = given(10 * us);
    m.doubling_below = 10 * KB;
    m.broadcast = {{BroadcastAlgorithm::binomial, 2 * KB, {}, 0, {}},
                   {BroadcastAlgorithm::split_binary, 300 * KB, {}, 0, 1 * KB},
                   {BroadcastAlgorithm::chain, {}, 2, 1e-6, 100 * KB},
                   {BroadcastAlgorithm::chain, {}, {}, 0, 8 * KB}};
    return m;
}

Group processes(int nodes, int per_node, bool host_buffers = true) {
    Group g;
    g.ranks = nodes * per_node;
    g.nodes = nodes;
    g.ring = 10 * GB / s;
    g.crosses_network = nodes > 1;
    g.host_buffers = host_buffers;
    g.machine.host_memory = 1000 * GB / s;
    return g;
}

double message_us(Collective what, Bytes size, const Group& group, const MessagePassing& m = messages()) {
    return time_alone(*message_price(what, size, group, m), group) / us;
}

TEST(MessagePassing, SmallAllReducesExchangeWholeBuffersInRounds) {
    // Sixteen ranks on four nodes: two rounds inside of 1 us, two across of 2 us, in each 1 KB at 1 GB/s: 2 + 4 + 4 us.
    EXPECT_NEAR(message_us(Collective::all_reduce, 1 * KB, processes(4, 4)), 10, 1e-9);
}

TEST(MessagePassing, LargerOnesGoAroundARingAsFastAsAProcessCombines) {
    // Four ranks of a node: 6 steps of 1 us, 1.5 x 1 MB at 1 GB/s.
    EXPECT_NEAR(message_us(Collective::all_reduce, 1 * MB, processes(1, 4)), 1506, 1e-6);
    // Four nodes: the ring leaves each once, 2 x (4 x 2 us + 11 x 1 us), and 15/8 MB.
    EXPECT_NEAR(message_us(Collective::all_reduce, 1 * MB, processes(4, 4)), 38 + 1875, 1e-6);
    // A network of 0.1 GB/s limits instead.
    Group slow = processes(4, 4);
    slow.ring = 0.1 * GB / s;
    EXPECT_NEAR(message_us(Collective::all_reduce, 1 * MB, slow), 38 + 18'750, 1e-6);
}

TEST(MessagePassing, ASlowerWireThanTheLibrarysAddsTheDifference) {
    Group far = processes(4, 4);
    far.wire_latency = 11 * us;
    EXPECT_NEAR(message_us(Collective::all_reduce, 1 * KB, far), 10 + 2 * 10, 1e-9);
}

TEST(MessagePassing, DeviceBuffersAreReducedOnTheHost) {
    // 20 us and 2 x 1 MB at 4 GB/s more.
    EXPECT_NEAR(message_us(Collective::all_reduce, 1 * MB, processes(1, 4, false)), 1506 + 20 + 500, 1e-6);
}

TEST(MessagePassing, ProcessesOfAHostShareItsMemory) {
    // 6 GB/s for four processes that move 3 bytes for each that they add: 0.5 GB/s for each of them, half of what a core could.
    Group slow = processes(1, 4);
    slow.machine.host_memory = 6 * GB / s;
    EXPECT_NEAR(message_us(Collective::all_reduce, 1 * MB, slow), 3006, 1e-6);
}

TEST(MessagePassing, RatesOfAServerAreInProportionToItsMemory) {
    // Measured where memory moves 2000 GB/s; here it is 1000: half of 1 GB/s.
    MessagePassing m = messages();
    m.of_host = 2000 * GB / s;
    EXPECT_NEAR(message_us(Collective::all_reduce, 1 * MB, processes(1, 4), m), 3006, 1e-6);
}

TEST(MessagePassing, ABroadcastTakesTheFirstRuleThatFits) {
    const Group eight = processes(1, 8), hundred = processes(1, 100);
    // Binomial: three rounds of 1 us latency and 1 us to copy 1 KB; ranks have one and a half in the mean. The eight wait for 0, 2, 1, 1,
    // 0, 1, 0 and 0 larger subtrees, each 1 us to post and 1 to copy: 5/8 of 2 us.
    EXPECT_NEAR(message_us(Collective::broadcast, 1 * KB, eight), 3 + 5.0 / 8 * 2, 1e-9);
    // Split binary: 100 segments of 1 KB for each half and three levels, of which leaves pass two on the way; the ranks in the middle
    // receive one and send two, 2 us each. Then halves of 100 KB are swapped: 1 us and 100 us.
    EXPECT_NEAR(message_us(Collective::broadcast, 200 * KB, eight), 102 * 6 + 101, 1e-6);
    // 8 < 2 + 10: a chain of 100 segments of 100 KB, three more until the rank in the middle has the last one; each is received and
    // sent on, 101 us and 101 us.
    EXPECT_NEAR(message_us(Collective::broadcast, 10 * MB, eight), 103 * 202, 1e-6);
    // 100 is not: 1250 segments of 8 KB, 49 more, 18 us each.
    EXPECT_NEAR(message_us(Collective::broadcast, 10 * MB, hundred), 1299 * 18, 1e-6);
}

TEST(MessagePassing, TheProcessorReadsShortMessagesFromDeviceMemoryAndReceiversFetchLongOnes) {
    const Group devices = processes(1, 8, false);
    // Two children: twice 3 us and 1 KB at 0.5 GB/s. The swap: 10 us and 100 KB at 10 GB/s.
    EXPECT_NEAR(message_us(Collective::broadcast, 200 * KB, devices), 102 * 10 + 20, 1e-6);
    // Segments of 100 KB: 10 us and 10 us.
    EXPECT_NEAR(message_us(Collective::broadcast, 10 * MB, devices), 103 * 20, 1e-6);
}

TEST(MessagePassing, OtherCollectivesAreThoseOfOtherLibraries) {
    EXPECT_FALSE(message_price(Collective::all_gather, 1 * MB, processes(1, 4), messages()));
    CommunicationLibrary with = round_machine::library();
    with.messages = messages();
    const Group g = processes(1, 4);
    EXPECT_EQ(collective_time(Collective::all_gather, 1 * MB, g, with),
              collective_time(Collective::all_gather, 1 * MB, g, round_machine::library()));
    EXPECT_NEAR(collective_time(Collective::all_reduce, 1 * MB, g, with) / us, 1506, 1e-6);
}

}  // namespace
}  // namespace sextant
