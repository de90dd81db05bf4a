#include "model/io/chakra/chakra_reader.hpp"

#include "tests/io/chakra_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = RecordedNode::Kind;

struct ReadRank {
    RecordedRank rank;
    std::vector<Diagnostic> problems;
};
ReadRank read_rank(const std::string& bytes) {
    Diagnostics diagnostics;
    RecordedRank found = read_chakra(bytes, "t.0.et", 0, 4, diagnostics);
    return {std::move(found), diagnostics.list()};
}

TEST(ChakraReader, ReadsEveryKindOfNode) {
    using namespace chakra;
    const auto [rank, problems] = read_rank(file({
        {0, metadata},
        {1, compute, {0}, 250, flag("is_cpu_op", true)},
        {2, compute, {1}, 0, flag("is_cpu_op", false) + int64("num_ops", 2'000'000) + uint64("tensor_size", 4096)},
        {3, load, {}, 0, uint64("tensor_size", 1024)},
        call(4, all_gather, 1'000'000, {2, 3}, "7"),
        send_to(5, 3, 64, {4}, 9),
        receive_from(6, 2, 32),
        {7, collective, {}, 40, flag("is_cpu_op", true)},  // launches one
    }));
    EXPECT_TRUE(problems.empty());
    ASSERT_EQ(rank.nodes.size(), 8U);
    EXPECT_EQ(rank.nodes[7].kind, Kind::host);
    EXPECT_EQ(rank.nodes[0].kind, Kind::nothing);
    EXPECT_EQ(rank.nodes[1].kind, Kind::host);
    EXPECT_NEAR(rank.nodes[1].duration / us, 250, 1e-9);
    EXPECT_EQ(rank.nodes[2].kind, Kind::kernel);
    EXPECT_EQ(rank.nodes[2].flops / FLOP, 2e6);
    EXPECT_EQ(rank.nodes[2].bytes, 4096 * B);
    EXPECT_THAT(rank.nodes[2].waits_for, ElementsAre(1));
    EXPECT_EQ(rank.nodes[3].kind, Kind::memory);
    EXPECT_EQ(rank.nodes[4].collective, RecordedCollective::all_gather);
    EXPECT_EQ(rank.nodes[4].bytes, 1 * MB);
    EXPECT_EQ(rank.nodes[4].group, "7");
    EXPECT_THAT(rank.nodes[4].waits_for, ElementsAre(2, 3));
    EXPECT_EQ(rank.nodes[5].kind, Kind::send);
    EXPECT_EQ(rank.nodes[5].peer, 3);
    EXPECT_EQ(rank.nodes[5].tag, 9);
    EXPECT_EQ(rank.nodes[6].kind, Kind::receive);
    EXPECT_EQ(rank.nodes[6].peer, 2);
}

TEST(ChakraReader, ReadsDependenciesPackedOrNotAndOfBothKinds) {
    using namespace protobuf;
    const std::string node = number(1, 3) + number(3, 4) + number(4, 1) + number(4, 2) + bytes(5, varint(0));
    const std::string others = chakra::file({chakra::kernel(0, 1), chakra::kernel(1, 1), chakra::kernel(2, 1)});
    const auto [rank, problems] = read_rank(others + chakra::message(node));
    ASSERT_EQ(rank.nodes.size(), 4U);
    EXPECT_THAT(rank.nodes[3].waits_for, ElementsAre(0, 1, 2));
}

TEST(ChakraReader, TakesCallersThatAreNotThereForNoDependencies) {
    using namespace protobuf;
    const std::string called = number(1, 3) + number(3, 4) + number(4, 0), caller_left_out = number(1, 4) + number(3, 4) + number(4, 9);
    const auto [rank, problems] =
        read_rank(chakra::file({chakra::kernel(0, 1)}) + chakra::message(called) + chakra::message(caller_left_out));
    EXPECT_TRUE(problems.empty());
    EXPECT_TRUE(rank.nodes[1].waits_for.empty());
}

TEST(ChakraReader, SaysWhereAFileEndsTooEarly) {
    const std::string whole = chakra::file({chakra::kernel(1, 10)});
    const auto [rank, problems] = read_rank(whole.substr(0, whole.size() - 3));
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_THAT(problems[0].what, HasSubstr("ends inside a message"));
    EXPECT_EQ(problems[0].pointer, "byte 8");  // behind 1 byte of length and 7 of metadata
    EXPECT_EQ(read_rank("").problems.size(), 1U);
    EXPECT_FALSE(read_rank("\x03"
                           "abc"
                           "\x02\xff\xff")
                     .problems.empty());
}

TEST(ChakraReader, NamesWhatANodeLacksOrCannotBe) {
    using namespace chakra;
    const auto [rank, problems] = read_rank(file({
        {1, Type(9)},
        {2, collective, {}, 0, int64("comm_size", 8)},
        {3, collective, {}, 0, int64("comm_type", 3) + int64("comm_size", 8)},  // gather
        send_to(4, 0, 8),                                                       // to itself
        receive_from(5, 4, 8),                                                  // of four ranks
        {6, compute, {}, 0, int64("num_ops", -1)},
        {7, collective, {}, 0, int64("comm_type", 0) + attribute("involved_dim", bytes(28, bytes(1, std::string("\1\0", 2))))},
    }));
    ASSERT_EQ(problems.size(), 7U);
    for (std::size_t i = 0; i < problems.size(); ++i) EXPECT_EQ(problems[i].pointer, "/node/" + std::to_string(i + 1));
    EXPECT_THAT(problems[1].what, HasSubstr("comm_type"));
    EXPECT_THAT(problems[6].what, HasSubstr("dimensions"));
}

TEST(ChakraReader, ReadsProcessGroups) {
    Diagnostics diagnostics;
    const auto groups = read_chakra_groups(R"({"1": [3, 0], "2": [1, 2]})", "g.json", 4, diagnostics);
    EXPECT_TRUE(diagnostics.empty());
    EXPECT_THAT(groups.at("1"), ElementsAre(0, 3));
    read_chakra_groups(R"({"1": [4], "2": [1, 1], "3": []})", "g.json", 4, diagnostics);
    EXPECT_EQ(diagnostics.list().size(), 3U);
}

TEST(ChakraReader, ReadsTheNodeOfEachRank) {
    Diagnostics diagnostics;
    EXPECT_THAT(read_chakra_nodes("[0, 1, 0]", "n.json", 3, diagnostics), ElementsAre(0, 1, 0));
    EXPECT_TRUE(diagnostics.empty());
    for (const char* wrong : {"[0, 1]", R"({"0": 1})", "[0, -1, 2]"}) read_chakra_nodes(wrong, "n.json", 3, diagnostics);
    EXPECT_EQ(diagnostics.list().size(), 3U);
}

}  // namespace
}  // namespace sextant
