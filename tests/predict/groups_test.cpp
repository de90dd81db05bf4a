#include "tests/predict/hand_made_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;
using testing::ElementsAre;
using testing::IsEmpty;

// Two nodes of four devices each; rank r is device r unless said otherwise.
struct Job {
    Scenario scenario;

    Job() { scenario.cluster = round_machine::cluster(2); }
    [[nodiscard]] StageGroups stages() const { return lay_groups(scenario, Topology::build(scenario.cluster, scenario.cluster.nodes)); }
    [[nodiscard]] JobGroups groups() const { return stages()[0]; }
};

TEST(Groups, FollowTheOrderOfRanksTensorFirstAndPipelineLast) {
    // tp 2, dp 2, pp 2: tensor groups {0 1}, data groups {0 2}, stages {0 4}.
    Job job;
    job.scenario.plan.tp = job.scenario.plan.dp = job.scenario.plan.pp = 2;
    const JobGroups g = job.groups();
    EXPECT_EQ(g[ParallelGroup::tensor].ranks, 2);
    EXPECT_EQ(g[ParallelGroup::tensor].nodes, 1);
    EXPECT_EQ(g[ParallelGroup::data].ranks, 2);
    EXPECT_EQ(g[ParallelGroup::data].nodes, 1);
    EXPECT_FALSE(g[ParallelGroup::data].crosses_network);
    EXPECT_EQ(g[ParallelGroup::context].ranks, 1);
    const Group boundary = job.stages().boundaries.front();
    EXPECT_EQ(boundary.ranks, 2);
    EXPECT_EQ(boundary.nodes, 2);
    EXPECT_TRUE(boundary.crosses_network);
}

TEST(Groups, OfAStageAreNotThoseOfItsPipeline) {
    const JobGroups g;
    EXPECT_DEATH(static_cast<void>(g[ParallelGroup::pipeline].ranks), "no group of pipeline parallelism");
}

TEST(Groups, OverStageBoundariesLieAsTheirOwnRanksDoAndSendsArePricedForTheFirstThatLeavesANode) {
    // tp 2, pp 4: stages {0 1} and {2 3} stand on the first node, {4 5} and {6 7} on the second: the second boundary leaves it, and so does
    // the way back from the last stage to the first.
    Job job;
    job.scenario.plan.tp = 2;
    job.scenario.plan.pp = 4;
    const StageGroups stages = job.stages();
    ASSERT_EQ(stages.boundaries.size(), 4);
    EXPECT_FALSE(stages.boundaries[0].crosses_network);
    EXPECT_TRUE(stages.boundaries[1].crosses_network);
    EXPECT_FALSE(stages.boundaries[2].crosses_network);
    EXPECT_TRUE(stages.boundaries[3].crosses_network);
    EXPECT_TRUE(stages.send.crosses_network);
    EXPECT_EQ(stages.send.ranks, 2);
    EXPECT_EQ(stages.send.nodes, 2);
    // Half as many stages fit one node: no boundary leaves it.
    job.scenario.plan.pp = 2;
    EXPECT_FALSE(job.stages().send.crosses_network);
}

TEST(Groups, FollowThePlacementThatThePlanAsksFor) {
    // Pipeline first, data last: stages {0 1}, data groups {0 4}.
    Job job;
    job.scenario.plan.tp = job.scenario.plan.dp = job.scenario.plan.pp = 2;
    job.scenario.plan.placement = {PlanDimension::pipeline, PlanDimension::tensor, PlanDimension::data};
    EXPECT_EQ(job.stages().boundaries.front().nodes, 1);
    EXPECT_EQ(job.groups()[ParallelGroup::data].nodes, 2);
}

TEST(Groups, InsideANodeUseTheSwitchAndAcrossOneNicPerSisterGroup) {
    // tp 4 fills a node at 100 GB/s. The four data groups {i, i + 4} each have one of the four NICs of 10 GB/s.
    Job job;
    job.scenario.plan.tp = 4;
    job.scenario.plan.dp = 2;
    const JobGroups g = job.groups();
    EXPECT_EQ(g[ParallelGroup::tensor].hop, Hop::nvlink);
    EXPECT_NEAR(g[ParallelGroup::tensor].ring / (GB / s), 100, 1e-9);
    EXPECT_NEAR(g[ParallelGroup::data].ring / (GB / s), 10, 1e-9);
    EXPECT_EQ(g[ParallelGroup::data].nodes, 2);
}

TEST(Groups, OfOneGroupOverTwoNodesUseAllNicsOfANode) {
    Job job;
    job.scenario.plan.dp = 8;
    EXPECT_EQ(job.groups()[ParallelGroup::data].ranks, 8);
    EXPECT_NEAR(job.groups()[ParallelGroup::data].ring / (GB / s), 40, 1e-9);
}

TEST(Groups, OfScatteredRanksSpanNodesThatPackedOnesDoNot) {
    // Ranks are dealt to the two nodes in turn: 0 and 1 stand on different ones.
    Job job;
    job.scenario.plan.tp = 2;
    EXPECT_EQ(job.groups()[ParallelGroup::tensor].nodes, 1);
    job.scenario.plan.scattered = true;
    EXPECT_EQ(job.groups()[ParallelGroup::tensor].nodes, 2);
    EXPECT_TRUE(job.groups()[ParallelGroup::tensor].crosses_network);
}

TEST(Groups, LeaveDevicesIdleWhereTheJobUsesFewerOfANode) {
    Job job;
    job.scenario.plan.dp = 4;
    EXPECT_EQ(job.groups()[ParallelGroup::data].nodes, 1);
    job.scenario.plan.devices_per_node = 2;
    EXPECT_EQ(job.groups()[ParallelGroup::data].nodes, 2);
}

TEST(Groups, OfDataIncludeTheContextRanks) {
    // The same weights live on all of them.
    Job job;
    job.scenario.plan.dp = 2;
    job.scenario.plan.cp = 4;
    EXPECT_EQ(job.groups()[ParallelGroup::context].ranks, 4);
    EXPECT_EQ(job.groups()[ParallelGroup::data].ranks, 8);
}

TEST(Groups, OfExpertsAreNeighboursInTheDataDimensionAndTheirCopiesFarApart) {
    // dp 8, ep 4: experts {0 1 2 3}; the same expert on {0 4}.
    Job job;
    job.scenario.plan.dp = 8;
    job.scenario.plan.ep = 4;
    const JobGroups g = job.groups();
    EXPECT_EQ(g[ParallelGroup::expert].ranks, 4);
    EXPECT_EQ(g[ParallelGroup::expert].nodes, 1);
    EXPECT_EQ(g[ParallelGroup::expert_data].ranks, 2);
    EXPECT_EQ(g[ParallelGroup::expert_data].nodes, 2);
}

TEST(Groups, OfExpertsTakeFirstTheTensorRanksThatAnExpertLeaves) {
    // tp 4, dp 2, experts on one rank each over four: {0 1 2 3}; the same expert on {0 4}. With two ranks to an expert: {0 2 4 6}.
    Job job;
    job.scenario.plan.tp = job.scenario.plan.ep = 4;
    job.scenario.plan.dp = 2;
    job.scenario.plan.expert_tp = 1;
    EXPECT_EQ(job.groups()[ParallelGroup::expert_tensor].ranks, 1);
    EXPECT_EQ(job.groups()[ParallelGroup::expert].nodes, 1);
    EXPECT_EQ(job.groups()[ParallelGroup::expert_data].ranks, 2);
    job.scenario.plan.expert_tp = 2;
    EXPECT_EQ(job.groups()[ParallelGroup::expert_tensor].ranks, 2);
    EXPECT_EQ(job.groups()[ParallelGroup::expert].ranks, 4);
    EXPECT_EQ(job.groups()[ParallelGroup::expert].nodes, 2);
    EXPECT_EQ(job.groups()[ParallelGroup::expert_data].ranks, 1);
}

TEST(Groups, OfHybridShardingKeepShardsInTheNodeAndReplicasAcross) {
    Job job;
    job.scenario.plan.dp = 8;
    job.scenario.plan.data_parallel = DataParallel::zero3;
    job.scenario.plan.shard_group = 4;
    const JobGroups g = job.groups();
    EXPECT_EQ(g[ParallelGroup::shard].ranks, 4);
    EXPECT_EQ(g[ParallelGroup::shard].nodes, 1);
    EXPECT_EQ(g[ParallelGroup::replicas].ranks, 2);
    EXPECT_EQ(g[ParallelGroup::replicas].nodes, 2);
}

TEST(Groups, OfPartsTakeContextRanksFirst) {
    // dp 2, cp 4; context ranks are neighbours. Experts or shards over two ranks: half a context group; the other half and both of the
    // other replica hold the same: four. Over four: the context group; two hold the same. Over eight: everybody.
    Job job;
    job.scenario.plan.dp = 2;
    job.scenario.plan.cp = 4;
    for (const auto& [part, copies] : {std::pair{1, 8}, {2, 4}, {4, 2}, {8, 1}}) {
        job.scenario.plan.ep = part;
        job.scenario.plan.shard_group = part;
        const JobGroups g = job.groups();
        EXPECT_EQ(g[ParallelGroup::expert].ranks, part);
        EXPECT_EQ(g[ParallelGroup::expert_data].ranks, copies);
        EXPECT_EQ(g[ParallelGroup::shard].ranks, part);
        EXPECT_EQ(g[ParallelGroup::replicas].ranks, copies);
    }
    // cp 2, dp 4, four ranks: a context group on each of two neighbouring replicas, {0 1 2 3}.
    job.scenario.plan.dp = 4;
    job.scenario.plan.cp = 2;
    job.scenario.plan.ep = job.scenario.plan.shard_group.emplace(4);
    EXPECT_EQ(job.groups()[ParallelGroup::shard].ranks, 4);
    EXPECT_EQ(job.groups()[ParallelGroup::shard].nodes, 1);
    EXPECT_EQ(job.groups()[ParallelGroup::replicas].nodes, 2);
}

TEST(Groups, OfStagesThatLieAlikeAreTheSameOnes) {
    // tp 2, pp 4: each stage has a pair of neighbours on one node.
    Job job;
    job.scenario.plan.tp = 2;
    job.scenario.plan.pp = 4;
    EXPECT_THAT(job.stages().kind_of, ElementsAre(0, 1, 0, 1));  // the first two devices of a node, or the last two
    job.scenario.plan.tp = 4;
    job.scenario.plan.pp = 2;
    EXPECT_THAT(job.stages().kind_of, ElementsAre(0, 0));
}

TEST(Groups, OfEachStageLieAsItsOwnRanksDo) {
    // Nodes of six: three stages of four ranks each. {0..3} stand on one node, {4 5 | 6 7} on two, {8..11} on the second.
    // Inside a node the ring has 100 GB/s; across it has the two NICs of the two ranks on either side, 20 GB/s.
    Job job;
    job.scenario.cluster.node.devices = job.scenario.cluster.node.nics = 6;
    job.scenario.plan.tp = 4;
    job.scenario.plan.pp = 3;
    const StageGroups stages = job.stages();
    EXPECT_NEAR(stages[0][ParallelGroup::tensor].ring / (GB / s), 100, 1e-9);
    EXPECT_NEAR(stages[1][ParallelGroup::tensor].ring / (GB / s), 20, 1e-9);
    EXPECT_NEAR(stages[2][ParallelGroup::tensor].ring / (GB / s), 100, 1e-9);
    EXPECT_EQ(stages[1][ParallelGroup::tensor].nodes, 2);
    EXPECT_EQ(stages[2][ParallelGroup::tensor].nodes, 1);
}

// Switches over three nodes of four devices, twelve ranks behind each. Of three stages of eight ranks, data groups of eight, the second
// stands on the last node of one switch and the first of the next.
TEST(Groups, OfStagesThatASwitchTearsApartAreNotThoseOfTheOthers) {
    Job job;
    job.scenario.cluster = round_machine::cluster(6);
    job.scenario.cluster.node.peers.domain = 12;
    job.scenario.plan.dp = 8;
    job.scenario.plan.pp = 3;
    const StageGroups stages = job.stages();
    EXPECT_FALSE(stages[0][ParallelGroup::data].crosses_network);
    EXPECT_TRUE(stages[1][ParallelGroup::data].crosses_network);
    EXPECT_FALSE(stages[2][ParallelGroup::data].crosses_network);
}

TEST(Groups, OfStagesOnTheSameNodesHoldEachOtherUpWhereTheyMeet) {
    // One NIC to a node; stages {0 1 | 4 5} and {2 3 | 6 7}: dp is the outer dimension, {0 4}, {1 5} are the first stage's data groups and
    // share the NIC with {2 6} and {3 7}. Four groups instead of two: twice as long. Tensor groups have ports of their own.
    Job job;
    job.scenario.cluster.node.nics = 1;
    job.scenario.plan.tp = job.scenario.plan.dp = job.scenario.plan.pp = 2;
    job.scenario.plan.placement = {PlanDimension::tensor, PlanDimension::pipeline, PlanDimension::data};
    const StageGroups stages = job.stages();
    EXPECT_NEAR(stages[0][ParallelGroup::data].ring / (GB / s), 5, 1e-9);
    EXPECT_THAT(stages.mates[0].stages, ElementsAre(1));
    EXPECT_NEAR(stages.mates[0].data, 2, 1e-9);
    EXPECT_NEAR(stages.mates[0].in_layers[InLayer::tensor], 1, 1e-9);
    // Stages on nodes of their own do not.
    job.scenario.plan.placement = {PlanDimension::tensor, PlanDimension::data, PlanDimension::pipeline};
    EXPECT_THAT(job.stages().mates[0].stages, IsEmpty());
    EXPECT_EQ(job.stages().mates[0].data, 1);
}

TEST(Groups, InLayersAndOfDataSlowEachOtherWhereTheyMeet) {
    // tp 8 over two nodes of four with one NIC each, dp 2 over four nodes: tensor rings {0..7} and {8..15}, data rings {i, i + 8}. A tensor
    // ring crosses each NIC once each way, 10 GB/s; the four data rings of a node's ranks share it, 2.5 GB/s each. Together they take
    // 1/10 + 1/2.5 s for a GB: 2 GB/s each, a fifth of what the tensor ring has alone, four fifths of what the data rings have.
    Job job;
    job.scenario.cluster.nodes = 4;
    job.scenario.cluster.node.nics = 1;
    job.scenario.plan.tp = 8;
    job.scenario.plan.dp = 2;
    const JobGroups g = job.groups();
    EXPECT_NEAR(g[ParallelGroup::tensor].ring / (GB / s), 10, 1e-9);
    EXPECT_NEAR(g[ParallelGroup::data].ring / (GB / s), 2.5, 1e-9);
    EXPECT_NEAR(g.beside_data[InLayer::tensor].one, 5, 1e-9);
    EXPECT_NEAR(g.beside_data[InLayer::tensor].other, 1.25, 1e-9);
    // Tensor groups inside a node keep to its switch, data groups to the NICs, but for the ports of the devices.
    job.scenario.cluster.nodes = 2;
    job.scenario.plan.tp = 4;
    EXPECT_NEAR(job.groups().beside_data[InLayer::tensor].one, 1, 1e-9);
    EXPECT_NEAR(job.groups().beside_data[InLayer::tensor].other, 1, 1e-9);
}

TEST(Groups, ReduceInTheSwitchWhereItCanAndTheyStayOnIt) {
    Job job;
    job.scenario.cluster.node.peers.in_switch_reduction = true;
    job.scenario.plan.tp = 4;
    job.scenario.plan.dp = 2;
    EXPECT_TRUE(job.groups()[ParallelGroup::tensor].in_switch);
    EXPECT_FALSE(job.groups()[ParallelGroup::data].in_switch);
}

}  // namespace
}  // namespace sextant
