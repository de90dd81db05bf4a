#include "model/predict/block_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using enum PlanDimension;
using testing::ElementsAre;

Plan plan_of(int tp, int dp, int pp, std::vector<PlanDimension> placement) {
    Plan plan;
    plan.tp = tp;
    plan.dp = dp;
    plan.pp = pp;
    plan.placement = std::move(placement);
    return plan;
}

TEST(BlockLayout, RepeatsAfterEachNodeWhereThePlanDoes) {
    // Nodes of eight, tp 4: two data ranks to a node, 0 and 4; sixteen nodes. Stages of eight nodes each.
    const BlockLayout layout(plan_of(4, 16, 2, {tensor, data, pipeline}), 16, 8, 8);
    EXPECT_EQ(layout.blocks(), 16);
    EXPECT_EQ(layout.devices_per_block(), 8);
    EXPECT_EQ(layout.stage(1).place, 0);
    EXPECT_EQ(layout.stage(1).shift, 8);
    // Data groups begin at the four tensor ranks; both data ranks of a node, on each of the stage's nodes.
    const auto data_groups = layout.groups(layout.ranks().ranges(ParallelGroup::data), layout.stage(0));
    EXPECT_THAT(data_groups.first_places, ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(data_groups.places, ElementsAre(0, 4));
    EXPECT_THAT(data_groups.first_blocks, ElementsAre(0));
    EXPECT_THAT(data_groups.blocks, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
    // A tensor group for each data rank, inside its node.
    const auto tensor_groups = layout.groups(layout.ranks().ranges(ParallelGroup::tensor), layout.stage(1));
    EXPECT_THAT(tensor_groups.first_places, ElementsAre(0, 4));
    EXPECT_THAT(tensor_groups.places, ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(tensor_groups.first_blocks, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
    EXPECT_THAT(tensor_groups.blocks, ElementsAre(0));
}

TEST(BlockLayout, CutsStagesIntoPlacesOfABlockAndBlocks) {
    // Sixteen stages, one rank each after the other, nodes of eight: stage 11 is the fourth place of each second node.
    const BlockLayout layout(plan_of(1, 4, 16, {pipeline, data}), 8, 8, 8);
    EXPECT_EQ(layout.stage(11).place, 3);
    EXPECT_EQ(layout.stage(11).shift, 1);
    EXPECT_EQ(layout.period(), 2);
    const auto stage = layout.groups({}, layout.stage(11));
    EXPECT_THAT(stage.first_places, ElementsAre(3));
    EXPECT_THAT(stage.first_blocks, ElementsAre(0, 2, 4, 6));
}

TEST(BlockLayout, TakesAsManyNodesAsItNeedsToRepeat) {
    // tp 4 and three stages take twelve ranks, nodes have eight: every third node begins with a first stage.
    const BlockLayout three(plan_of(4, 4, 3, {tensor, pipeline, data}), 6, 8, 8);
    EXPECT_EQ(three.blocks(), 2);
    EXPECT_EQ(three.devices_per_block(), 24);
    EXPECT_THAT(three.groups({}, three.stage(1)).first_places, ElementsAre(4, 5, 6, 7, 16, 17, 18, 19));
    // With five devices used of eight, a block of four nodes holds twenty ranks.
    Plan uneven = plan_of(4, 10, 1, {tensor, data});
    uneven.devices_per_node = 5;
    const BlockLayout four(uneven, 8, 8, 8);
    EXPECT_EQ(four.blocks(), 2);
    EXPECT_EQ(four.device_at(19), 3 * 8 + 4);
}

TEST(BlockLayout, IsOneBlockWhereRanksDoNotRepeat) {
    // Twenty-eight ranks leave the last of four nodes half empty.
    EXPECT_EQ(BlockLayout(plan_of(4, 7, 1, {tensor, data}), 4, 8, 8).blocks(), 1);
    // A peer switch over three of the four nodes may not be torn apart.
    EXPECT_EQ(BlockLayout(plan_of(4, 8, 1, {tensor, data}), 4, 8, 8).blocks(), 4);
    EXPECT_EQ(BlockLayout(plan_of(4, 8, 1, {tensor, data}), 4, 8, 24).blocks(), 1);
}

TEST(BlockLayout, OfRanksThatASchedulerGaveUnevenlyIsOneBlock) {
    // Three ranks on the first node and five on the second: rank 3 is the first of the second.
    Plan plan = plan_of(1, 8, 1, {tensor, data});
    plan.node_ranks = {3, 5};
    const BlockLayout layout(plan, 2, 8, 8);
    EXPECT_EQ(layout.blocks(), 1);
    EXPECT_EQ(layout.device_at(2), 2);
    EXPECT_EQ(layout.device_at(3), 8);
    EXPECT_EQ(layout.device_at(7), 12);
}

TEST(BlockLayout, OfScatteredRanksHasTheirFirstDimensionOverTheNodes) {
    // Eight ranks dealt to four nodes: rank r is on node r % 4. tp 4 has one rank on each node, dp 2 both places of one.
    Plan plan = plan_of(4, 2, 1, {tensor, data});
    plan.scattered = true;
    const BlockLayout layout(plan, 4, 8, 8);
    EXPECT_EQ(layout.blocks(), 4);
    const auto groups = layout.groups(layout.ranks().ranges(ParallelGroup::tensor), layout.stage(0));
    EXPECT_THAT(groups.first_places, ElementsAre(0, 1));
    EXPECT_THAT(groups.blocks, ElementsAre(0, 1, 2, 3));
    EXPECT_EQ(layout.rank_at(3, 1), 7);
    // Three ranks at a time do not come round on four nodes.
    plan = plan_of(3, 4, 1, {tensor, data});
    plan.scattered = true;
    EXPECT_EQ(BlockLayout(plan, 4, 8, 8).blocks(), 1);
}

}  // namespace
}  // namespace sextant
