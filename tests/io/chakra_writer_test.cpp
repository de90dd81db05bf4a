#include "model/io/chakra/chakra_writer.hpp"

#include "model/io/chakra/chakra_reader.hpp"
#include "tests/graph/recorded_node.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace sextant {
namespace {

using namespace units;
using testing::ElementsAre;
using Kind = RecordedNode::Kind;

RecordedRank read_back(const RecordedRank& rank) {
    std::ostringstream out;
    write_chakra(out, rank, 1);
    Diagnostics diagnostics;
    RecordedRank read = read_chakra(out.str(), "t.et", 1, 4, diagnostics);
    EXPECT_TRUE(diagnostics.empty()) << diagnostics.list().front().what;
    return read;
}

RecordedNode kernel(std::uint64_t id, double micros, Kind kind = Kind::kernel) {
    RecordedNode n = recorded_node(id, kind);
    n.duration = micros * us;
    return n;
}

TEST(ChakraWriter, WritesWhatTheReaderReads) {
    RecordedRank rank;
    rank.nodes.push_back(kernel(1, 250, Kind::host));
    RecordedNode product = kernel(2, 12);
    product.flops = 3e15 * FLOP;
    product.bytes = 5 * GB;
    product.waits_for = {1};
    rank.nodes.push_back(product);
    rank.nodes.push_back(recorded_node(3, Kind::memory, {2}));
    rank.nodes.back().bytes = 7 * MB;
    std::uint64_t id = 3;
    for (const auto what :
         {RecordedCollective::all_reduce, RecordedCollective::all_gather, RecordedCollective::reduce_scatter,
          RecordedCollective::all_to_all, RecordedCollective::broadcast, RecordedCollective::reduce, RecordedCollective::barrier}) {
        rank.nodes.push_back(recorded_node(++id, Kind::collective, {2, 3}));
        rank.nodes.back().collective = what;
        rank.nodes.back().bytes = static_cast<double>(id) * MB;
        rank.nodes.back().group = id % 2 == 0 ? "17" : "";
    }
    for (const Kind kind : {Kind::send, Kind::receive}) {
        rank.nodes.push_back(recorded_node(++id, kind, {3}));
        rank.nodes.back().bytes = 9 * MB;
        rank.nodes.back().peer = 3;
        rank.nodes.back().tag = 40'000;
    }
    rank.nodes.push_back(recorded_node(id + 1, Kind::nothing, {id}));

    const RecordedRank read = read_back(rank);
    ASSERT_EQ(read.nodes.size(), rank.nodes.size());
    for (std::size_t i = 0; i < rank.nodes.size(); ++i) {
        const RecordedNode &was = rank.nodes[i], &is = read.nodes[i];
        EXPECT_EQ(is.id, was.id);
        EXPECT_EQ(is.name, was.name);
        EXPECT_EQ(is.kind, was.kind);
        EXPECT_NEAR(is.duration / us, was.duration / us, 1e-9);
        EXPECT_EQ(is.flops, was.flops);
        EXPECT_EQ(is.bytes, was.bytes);
        EXPECT_EQ(is.collective, was.collective);
        EXPECT_EQ(is.group, was.group);
        EXPECT_EQ(is.peer, was.peer);
        EXPECT_EQ(is.tag, was.tag);
        EXPECT_EQ(is.waits_for, was.waits_for);
    }
}

TEST(ChakraWriter, GivesTheNextNodeWhatRoundingTook) {
    // Kernels of 1.4 us: 1.4, 2.8, 4.2, 5.6, 7.0 in all, host work between them apart.
    RecordedRank rank;
    for (std::uint64_t id = 1; id <= 5; ++id) {
        rank.nodes.push_back(kernel(id, 1.4));
        rank.nodes.push_back(kernel(10 + id, 0.25, Kind::host));
    }
    std::vector<double> kernels, host;
    for (const RecordedNode& n : read_back(rank).nodes) (n.kind == Kind::kernel ? kernels : host).push_back(n.duration / us);
    for (double& t : kernels) t = std::round(1e6 * t) / 1e6;
    for (double& t : host) t = std::round(1e6 * t) / 1e6;
    EXPECT_THAT(kernels, ElementsAre(1, 2, 1, 2, 1));
    // 0.25, 0.5 rounds up to 1, which 0.75, 1.0 and 1.25 do not exceed.
    EXPECT_THAT(host, ElementsAre(0, 1, 0, 0, 0));
}

TEST(ChakraWriter, GivesNoOperationsToWhatIsTooShortToBeSaid) {
    // Else whoever reads it would price them.
    RecordedRank rank;
    rank.nodes = {kernel(1, 0.3), kernel(2, 0)};
    for (RecordedNode& n : rank.nodes) n.flops = 1e9 * FLOP;
    const RecordedRank read = read_back(rank);
    EXPECT_EQ(read.nodes[0].flops, Flops{});
    EXPECT_EQ(read.nodes[1].flops, 1e9 * FLOP);  // whose time nobody stated
}

TEST(ChakraWriter, WritesProcessGroupsAsTheyAreRead) {
    const std::map<std::string, std::vector<int>> groups{{"1", {0, 2}}, {"2", {1, 3}}};
    EXPECT_EQ(chakra_groups_to_json(groups), "{\"1\":[0,2],\"2\":[1,3]}\n");
    Diagnostics diagnostics;
    EXPECT_EQ(read_chakra_groups(chakra_groups_to_json(groups), "g.json", 4, diagnostics), groups);
    const std::vector<int> nodes{0, 1, 0, 1};
    EXPECT_EQ(read_chakra_nodes(chakra_nodes_to_json(nodes), "n.json", 4, diagnostics), nodes);
    EXPECT_TRUE(diagnostics.empty());
}

}  // namespace
}  // namespace sextant
