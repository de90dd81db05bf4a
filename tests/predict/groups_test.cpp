#include "tests/predict/hand_made_state.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;

// Two nodes of four devices each; rank r is device r unless said otherwise.
struct Job {
    Scenario scenario;

    Job() { scenario.cluster = round_machine::cluster(2); }
    [[nodiscard]] JobGroups groups() const { return lay_groups(scenario, Topology::build(scenario.cluster, 2)); }
};

TEST(Groups, FollowTheOrderOfRanksTensorFirstAndPipelineLast) {
    // tp 2, dp 2, pp 2: tensor groups {0 1}, data groups {0 2}, stages {0 4}.
    Job job;
    job.scenario.plan.tp = job.scenario.plan.dp = job.scenario.plan.pp = 2;
    const JobGroups g = job.groups();
    EXPECT_EQ(g.tensor.ranks, 2);
    EXPECT_EQ(g.tensor.nodes, 1);
    EXPECT_EQ(g.data.ranks, 2);
    EXPECT_EQ(g.data.nodes, 1);
    EXPECT_FALSE(g.data.crosses_network);
    EXPECT_EQ(g.pipeline.ranks, 2);
    EXPECT_EQ(g.pipeline.nodes, 2);
    EXPECT_TRUE(g.pipeline.crosses_network);
    EXPECT_EQ(g.context.ranks, 1);
}

TEST(Groups, OfPipelinesAreOverTheFirstBoundaryThatLeavesANode) {
    // tp 2, pp 4: stages {0 1} and {2 3} stand on the first node, {4 5} and {6 7} on the second: what counts is the
    // boundary between the second stage and the third.
    Job job;
    job.scenario.plan.tp = 2;
    job.scenario.plan.pp = 4;
    EXPECT_TRUE(job.groups().pipeline.crosses_network);
    EXPECT_EQ(job.groups().pipeline.ranks, 2);
    EXPECT_EQ(job.groups().pipeline.nodes, 2);
    // Half as many stages fit one node: no boundary leaves it.
    job.scenario.plan.pp = 2;
    EXPECT_FALSE(job.groups().pipeline.crosses_network);
}

TEST(Groups, FollowThePlacementThatThePlanAsksFor) {
    // Pipeline first, data last: stages {0 1}, data groups {0 4}.
    Job job;
    job.scenario.plan.tp = job.scenario.plan.dp = job.scenario.plan.pp = 2;
    job.scenario.plan.placement = {PlanDimension::pipeline, PlanDimension::tensor, PlanDimension::data};
    const JobGroups g = job.groups();
    EXPECT_EQ(g.pipeline.nodes, 1);
    EXPECT_EQ(g.data.nodes, 2);
}

TEST(Groups, InsideANodeUseTheSwitchAndAcrossOneNicPerSisterGroup) {
    // tp 4 fills a node at 100 GB/s. The four data groups {i, i + 4} each have one of the four NICs of 10 GB/s.
    Job job;
    job.scenario.plan.tp = 4;
    job.scenario.plan.dp = 2;
    const JobGroups g = job.groups();
    EXPECT_EQ(g.tensor.hop, Hop::nvlink);
    EXPECT_NEAR(g.tensor.ring / (GB / s), 100, 1e-9);
    EXPECT_NEAR(g.data.ring / (GB / s), 10, 1e-9);
    EXPECT_EQ(g.data.nodes, 2);
}

TEST(Groups, OfOneGroupOverTwoNodesUseAllNicsOfANode) {
    Job job;
    job.scenario.plan.dp = 8;
    EXPECT_EQ(job.groups().data.ranks, 8);
    EXPECT_NEAR(job.groups().data.ring / (GB / s), 40, 1e-9);
}

TEST(Groups, OfScatteredRanksSpanNodesThatPackedOnesDoNot) {
    // Ranks are dealt to the two nodes in turn: 0 and 1 stand on different ones.
    Job job;
    job.scenario.plan.tp = 2;
    EXPECT_EQ(job.groups().tensor.nodes, 1);
    job.scenario.plan.scattered = true;
    EXPECT_EQ(job.groups().tensor.nodes, 2);
    EXPECT_TRUE(job.groups().tensor.crosses_network);
}

TEST(Groups, LeaveDevicesIdleWhereTheJobUsesFewerOfANode) {
    Job job;
    job.scenario.plan.dp = 4;
    EXPECT_EQ(job.groups().data.nodes, 1);
    job.scenario.plan.devices_per_node = 2;
    EXPECT_EQ(job.groups().data.nodes, 2);
}

TEST(Groups, OfDataIncludeTheContextRanks) {
    // The same weights live on all of them.
    Job job;
    job.scenario.plan.dp = 2;
    job.scenario.plan.cp = 4;
    EXPECT_EQ(job.groups().context.ranks, 4);
    EXPECT_EQ(job.groups().data.ranks, 8);
}

TEST(Groups, OfExpertsAreNeighboursInTheDataDimensionAndTheirCopiesFarApart) {
    // dp 8, ep 4: experts {0 1 2 3}; the same expert on {0 4}.
    Job job;
    job.scenario.plan.dp = 8;
    job.scenario.plan.ep = 4;
    const JobGroups g = job.groups();
    EXPECT_EQ(g.expert.ranks, 4);
    EXPECT_EQ(g.expert.nodes, 1);
    EXPECT_EQ(g.expert_data.ranks, 2);
    EXPECT_EQ(g.expert_data.nodes, 2);
}

TEST(Groups, OfExpertsTakeFirstTheTensorRanksThatAnExpertLeaves) {
    // tp 4, dp 2, experts on one rank each over four: {0 1 2 3}; the same expert on {0 4}. With two ranks to an expert: {0 2 4 6}.
    Job job;
    job.scenario.plan.tp = job.scenario.plan.ep = 4;
    job.scenario.plan.dp = 2;
    job.scenario.plan.expert_tp = 1;
    EXPECT_EQ(job.groups().expert_tensor.ranks, 1);
    EXPECT_EQ(job.groups().expert.nodes, 1);
    EXPECT_EQ(job.groups().expert_data.ranks, 2);
    job.scenario.plan.expert_tp = 2;
    EXPECT_EQ(job.groups().expert_tensor.ranks, 2);
    EXPECT_EQ(job.groups().expert.ranks, 4);
    EXPECT_EQ(job.groups().expert.nodes, 2);
    EXPECT_EQ(job.groups().expert_data.ranks, 1);
}

TEST(Groups, OfHybridShardingKeepShardsInTheNodeAndReplicasAcross) {
    Job job;
    job.scenario.plan.dp = 8;
    job.scenario.plan.data_parallel = DataParallel::zero3;
    job.scenario.plan.shard_group = 4;
    const JobGroups g = job.groups();
    EXPECT_EQ(g.shard.ranks, 4);
    EXPECT_EQ(g.shard.nodes, 1);
    EXPECT_EQ(g.replicas.ranks, 2);
    EXPECT_EQ(g.replicas.nodes, 2);
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
        EXPECT_EQ(g.expert.ranks, part);
        EXPECT_EQ(g.expert_data.ranks, copies);
        EXPECT_EQ(g.shard.ranks, part);
        EXPECT_EQ(g.replicas.ranks, copies);
    }
    // cp 2, dp 4, four ranks: a context group on each of two neighbouring replicas, {0 1 2 3}.
    job.scenario.plan.dp = 4;
    job.scenario.plan.cp = 2;
    job.scenario.plan.ep = job.scenario.plan.shard_group.emplace(4);
    EXPECT_EQ(job.groups().shard.ranks, 4);
    EXPECT_EQ(job.groups().shard.nodes, 1);
    EXPECT_EQ(job.groups().replicas.nodes, 2);
}

TEST(Groups, ReduceInTheSwitchWhereItCanAndTheyStayOnIt) {
    Job job;
    job.scenario.cluster.node.peers.in_switch_reduction = true;
    job.scenario.plan.tp = 4;
    job.scenario.plan.dp = 2;
    EXPECT_TRUE(job.groups().tensor.in_switch);
    EXPECT_FALSE(job.groups().data.in_switch);
}

}  // namespace
}  // namespace sextant
