#include "backend/exec/rank_plan.hpp"

#include "tests/backend/default_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

TaskGraph untied_graph(std::vector<std::string> overrides) {
    overrides.emplace_back("workload.transformer.tied_embeddings=false");
    return default_graph(overrides);
}

// Two micro-batches, reduced after each: what the first brought is taken in before the second backward adds to the gradients, what the
// second brought before the update.
TEST(RankPlan, TakesAReductionInBeforeTheNextBackward) {
    const TaskGraph graph = untied_graph({"plan.micro_batch=2", "plan.reduce_every_micro_batch=true", "plan.gradient_overlap=false"});
    const RankPlan plan = plan_rank(graph, 0, {});
    EXPECT_TRUE(plan.reduces_repeatedly);
    std::vector<std::size_t> settled;
    for (const SegmentIndex s : plan.compute) {
        const auto found = plan.plans.find(s);
        if (found == plan.plans.end() || found->second.settles.empty()) continue;
        settled.push_back(found->second.settles.size());
        const Work& work = graph.works()[graph.segments()[s].work];
        EXPECT_TRUE(std::holds_alternative<ComputeWork>(work) || std::holds_alternative<UpdateWork>(work));
    }
    EXPECT_THAT(settled, testing::ElementsAre(6U, 6U)) << "embedding, four layers and the head each time";
}

// Six blocks, whose gradients are given up once they are scattered: the third is not made before those of the first have left, and so on;
// the last two leave before the update.
TEST(RankPlan, MakesNoThirdBlockOfGradientsThatAreGivenUp) {
    const TaskGraph graph = untied_graph({"plan.data_parallel=zero3", "plan.gather_overlap=true"});
    const RankPlan plan = plan_rank(graph, 0, {.weights = true, .gradients = true});
    std::vector<std::size_t> settled;
    for (const SegmentIndex s : plan.compute)
        if (const auto found = plan.plans.find(s); found != plan.plans.end() && !found->second.settles.empty())
            settled.push_back(found->second.settles.size());
    EXPECT_THAT(settled, testing::ElementsAre(1U, 1U, 1U, 1U, 2U));
}

// Of parameter servers a worker waits for its weights: what they have of its gradients is cleared then, and not after.
TEST(RankPlan, ClearsWhatServersHaveBeforeItWaitsForThem) {
    const TaskGraph graph = untied_graph({"plan.data_parallel=parameter_server", "plan.servers_on_workers=true"});
    const RankPlan plan = plan_rank(graph, 0, {});
    std::size_t settled = 0;
    for (const auto& [segment, p] : plan.plans) {
        if (p.settles.empty()) continue;
        settled += p.settles.size();
        EXPECT_EQ(std::get<TransferWork>(graph.works()[graph.segments()[segment].work]).payload, Payload::weights);
    }
    EXPECT_EQ(settled, 6U) << "embedding, four layers and the head";
}

// Six blocks are gathered for a forward, and kept for the backward behind it: each gather is released by a backward.
TEST(RankPlan, KeepsGatheredWeightsUntilTheirLastUse) {
    const TaskGraph graph = untied_graph({"plan.data_parallel=zero3"});
    const RankPlan plan = plan_rank(graph, 0, {.weights = true});
    std::size_t released = 0;
    for (const auto& [segment, p] : plan.plans)
        for ([[maybe_unused]] const SegmentIndex gather : p.releases) {
            ++released;
            EXPECT_EQ(std::get<ComputeWork>(graph.works()[graph.segments()[segment].work]).phase, Phase::backward);
        }
    EXPECT_EQ(released, 6U);
}

// Of two stages the second is handed the activations of four micro-batches in parts: each forward reads what a gather puts together.
TEST(RankPlan, ReadsWhatArrivesInPartsBehindAGather) {
    const TaskGraph graph = untied_graph({"plan.dp=1", "plan.pp=2", "plan.tp=2", "hardware.cluster=cpu-cluster",
                                          R"(framework={"base": "sextant", "scatters_pipeline": true})"});
    GraphRank last = 0;
    while (graph.ranks()[last].stage == 0) ++last;
    const RankPlan plan = plan_rank(graph, last, {});
    ASSERT_FALSE(plan.arriving.empty());
    for (const auto& [behind, a] : plan.arriving) {
        ASSERT_TRUE(a.gather);
        EXPECT_EQ(std::get<CollectiveWork>(graph.works()[graph.segments()[*a.gather].work]).payload, Payload::activations);
        EXPECT_EQ(std::get<ComputeWork>(graph.works()[graph.segments()[a.reader].work]).phase, Phase::forward);
    }
}

// Two stages, four micro-batches. A gradient cannot come before its activations are sent; and the first stage goes forward twice before it
// waits for a gradient, so that the third activations come behind the first gradients.
TEST(RankPlan, MakesRoomForAMessageWhenItMayCome) {
    const TaskGraph graph = untied_graph({"plan.dp=1", "plan.pp=2", "plan.micro_batch=1", "plan.global_batch=4"});
    for (const GraphRank rank : {0U, 1U}) {
        std::vector<int> sent_before;  // by what arrives: how many transfers this rank begins first
        const RankPlan plan = plan_rank(graph, rank, {});
        for (const auto& [behind, arrival] : plan.arriving) {
            const auto sends = [&](SegmentIndex s) {
                return behind && s <= *behind && std::holds_alternative<TransferWork>(graph.works()[graph.segments()[s].work]);
            };
            sent_before.push_back(static_cast<int>(std::ranges::count_if(plan.compute, sends)));
        }
        EXPECT_THAT(sent_before, rank == 0 ? testing::ElementsAre(1, 2, 3, 4) : testing::ElementsAre(0, 0, 1, 2)) << rank;
    }
}

// Blocks: the embedding, four layers, a module that reads the embedding and has the output matrix, the head.
TEST(RankPlan, KnowsWhoAddsToTheGradientsOfAnotherBlock) {
    using testing::ElementsAre;
    using testing::Pair;
    const std::string module = "workload.transformer.mtp_layers=1";
    const TaskGraph whole = untied_graph({module});
    EXPECT_THAT(shared_uses(whole, 0), ElementsAre(Pair(5, SharedUse{0, true}), Pair(6, SharedUse{5, true})));
    EXPECT_THAT(stages_with(whole, SharedMatrix::embedding), ElementsAre(0));
    const TaskGraph stages = untied_graph({module, "plan.dp=1", "plan.pp=2"});
    EXPECT_THAT(shared_uses(stages, 0), testing::IsEmpty());
    EXPECT_THAT(shared_uses(stages, 1), ElementsAre(Pair(6, SharedUse{5, true})));
    EXPECT_THAT(stages_with(stages, SharedMatrix::embedding), ElementsAre(0, 1));
    EXPECT_THAT(stages_with(stages, SharedMatrix::output), ElementsAre(1));
}

}  // namespace
}  // namespace sextant
