#include "model/io/scenario/slurm_lists.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

TEST(SlurmLists, RepeatedCountsAreWrittenOut) {
    EXPECT_THAT(read_repeated_counts("4(x2),1"), Optional(ElementsAre(4, 4, 1)));
    EXPECT_THAT(read_repeated_counts("3"), Optional(ElementsAre(3)));
    for (const char* wrong : {"", "4(x2", "4(x0)", "a", "4,,1", "4(x9999999)", "-1"}) EXPECT_FALSE(read_repeated_counts(wrong)) << wrong;
}

TEST(SlurmLists, NodesAreTheirNumbers) {
    EXPECT_THAT(read_node_list("gcn[012-014,40],gcn60"), Optional(ElementsAre(12, 13, 14, 40, 60)));
    EXPECT_THAT(read_node_list("cn-g003"), Optional(ElementsAre(3)));
    for (const char* wrong : {"", "gcn", "gcn[5-3]", "gcn[1,1]", "gcn3,tcn4", "gcn[1-", "gcn[1-2", "gcn[0-99999999]", "gcn2,gcn1"})
        EXPECT_FALSE(read_node_list(wrong)) << wrong;
}

}  // namespace
}  // namespace sextant
