// Who stands for whom, and who communicates with whom: dp 2, tp 2, pp 2 on eight devices, ranks numbered t + 2 d + 4 p.
#include "model/lower/lower.hpp"
#include "tests/predict/mlp_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

Scenario cube() {
    Scenario job = mlp_job(4);
    job.plan.dp = job.plan.tp = job.plan.pp = 2;
    job.plan.global_batch = 4 * job.plan.micro_batch;
    return job;
}

const Communicator& communicator_of(const TaskGraph& graph, GraphRank rank, ParallelGroup group) {
    return graph.communicators()[*graph.ranks()[rank].communicators[group]];
}

// From one rank of the graph to another.
const Communicator& way(const TaskGraph& graph, GraphRank from, GraphRank to) {
    for (const Communicator& c : graph.communicators())
        if (c.group == ParallelGroup::pipeline && c.members == std::vector<GraphRank>{from, to}) return c;
    ADD_FAILURE() << "no way from " << from << " to " << to;
    return graph.communicators().front();
}

TEST(LoweredRanks, OfAStageAreOneWhereTheyAreAlike) {
    const TaskGraph graph = lower(cube(), Fold::alike);
    ASSERT_THAT(graph.ranks(), SizeIs(2));
    EXPECT_EQ(graph.ranks()[1].rank, 4);
    EXPECT_EQ(graph.ranks()[1].stage, 1);
    EXPECT_EQ(graph.ranks()[1].multiplicity, 4);
    const Communicator& tensor = communicator_of(graph, 0, ParallelGroup::tensor);
    EXPECT_THAT(tensor.members, ElementsAre(0u));
    EXPECT_THAT(tensor.sets, ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
    EXPECT_THAT(communicator_of(graph, 1, ParallelGroup::data).sets, ElementsAre(ElementsAre(4, 6), ElementsAre(5, 7)));
    EXPECT_FALSE(graph.ranks()[0].communicators[ParallelGroup::context]);
    EXPECT_THAT(way(graph, 0, 1).sets, ElementsAre(ElementsAre(0, 4), ElementsAre(1, 5), ElementsAre(2, 6), ElementsAre(3, 7)));
    EXPECT_THAT(way(graph, 1, 0).sets, ElementsAre(ElementsAre(4, 0), ElementsAre(5, 1), ElementsAre(6, 2), ElementsAre(7, 3)));
}

TEST(LoweredRanks, AreAllThereWhereTheyAreNot) {
    const TaskGraph graph = lower(cube(), Fold::nothing);
    ASSERT_THAT(graph.ranks(), SizeIs(8));
    for (GraphRank r = 0; r < 8; ++r) {
        EXPECT_EQ(graph.ranks()[r].rank, static_cast<int>(r));
        EXPECT_EQ(graph.ranks()[r].stage, static_cast<int>(r / 4));
        EXPECT_EQ(graph.ranks()[r].multiplicity, 1);
    }
    EXPECT_THAT(communicator_of(graph, 3, ParallelGroup::tensor).members, ElementsAre(2u, 3u));
    EXPECT_THAT(communicator_of(graph, 3, ParallelGroup::tensor).sets, ElementsAre(ElementsAre(2, 3)));
    EXPECT_THAT(communicator_of(graph, 7, ParallelGroup::data).sets, ElementsAre(ElementsAre(5, 7)));
    EXPECT_THAT(way(graph, 2, 6).sets, ElementsAre(ElementsAre(2, 6)));
}

TEST(LoweredRanks, WaitForTheirOwnPipeline) {
    const TaskGraph graph = lower(cube(), Fold::nothing);
    int waits = 0;
    for (SegmentIndex s = 0; s < graph.segments().size(); ++s)
        for (const SegmentIndex d : graph.waits_for(s)) {
            EXPECT_EQ(graph.segments()[s].rank % 4, graph.segments()[d].rank % 4);
            ++waits;
        }
    EXPECT_EQ(waits, 4 * 2 * 2);  // pipelines, micro-batches, directions; sends stand in the compute stream
}

TEST(LoweredRanks, AreAlikeUnlessSomethingMakesThemDiffer) {
    Scenario job = cube();
    EXPECT_EQ(possible_fold(job), Fold::alike);
    job.straggler = Straggler{0, 0.5};
    EXPECT_EQ(possible_fold(job), Fold::alike);
    job.straggler = Straggler{1, 0.5};
    EXPECT_EQ(possible_fold(job), Fold::nothing);
    job = cube();
    job.step_noise = 0.01;
    EXPECT_EQ(possible_fold(job), Fold::nothing);
    job = cube();
    job.plan.data_parallel = DataParallel::async_parameter_server;
    EXPECT_EQ(possible_fold(job), Fold::nothing);
}

TEST(LoweredRanks, AreRefusedWithThePlan) {
    Scenario job = cube();
    job.plan.global_batch = 7;
    EXPECT_THROW(lower(job, Fold::alike), InputError);
}

}  // namespace
}  // namespace sextant
