#include "tests/predict/hand_made_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using testing::ElementsAre;

// An input block, `layers` equal layers and a head.
Network network(int layers) {
    Network n;
    n.templates = {{"input", BlockRole::input, {}}, {"layer", BlockRole::layer, {}}, {"head", BlockRole::head, {}}};
    n.sequence.assign(static_cast<std::size_t>(layers) + 2, 1);
    n.sequence.front() = 0;
    n.sequence.back() = 2;
    return n;
}

Plan pipeline(int stages, int chunks = 1) {
    Plan p;
    p.pp = stages;
    p.vpp = chunks;
    return p;
}

std::vector<int> layers_of(const std::vector<StageBlocks>& stages) {
    std::vector<int> layers;
    for (const StageBlocks& s : stages) layers.push_back(s.layers);
    return layers;
}

TEST(Stages, ShareTheLayersEvenlyAndTheEndsHaveTheirBlocksBeside) {
    const auto stages = split_stages(network(8), pipeline(4));
    EXPECT_THAT(layers_of(stages), ElementsAre(2, 2, 2, 2));
    EXPECT_THAT(stages[0].count, ElementsAre(1, 2, 0));
    EXPECT_THAT(stages[1].count, ElementsAre(0, 2, 0));
    EXPECT_THAT(stages[3].count, ElementsAre(0, 2, 1));
    EXPECT_TRUE(stages[0].has_input);
    EXPECT_FALSE(stages[3].has_input);
}

TEST(Stages, GiveWhatDoesNotDivideToTheMiddleFirst) {
    EXPECT_THAT(layers_of(split_stages(network(10), pipeline(4))), ElementsAre(2, 3, 3, 2));
    EXPECT_THAT(layers_of(split_stages(network(11), pipeline(4))), ElementsAre(3, 3, 3, 2));
    EXPECT_THAT(layers_of(split_stages(network(5), pipeline(2))), ElementsAre(3, 2));
}

TEST(Stages, AreWhatThePlanSaysEndsIncluded) {
    Plan plan = pipeline(4);
    plan.stage_blocks = {2, 3, 3, 2};
    // The first two blocks are the input and one layer; the last two a layer and the head.
    EXPECT_THAT(layers_of(split_stages(network(8), plan)), ElementsAre(1, 3, 3, 1));
}

TEST(Stages, OfAnInterleavedPipelineHoldChunksThatGoRound) {
    // Chunks 0 and 2 stand on stage 0, 1 and 3 on stage 1.
    Plan plan = pipeline(2, 2);
    plan.stage_blocks = {3, 1, 4, 2};  // input + 2 layers; 1; 4; 1 + head
    const auto stages = split_stages(network(8), plan);
    EXPECT_THAT(layers_of(stages), ElementsAre(2 + 4, 1 + 1));
    plan.stage_blocks.clear();
    EXPECT_THAT(layers_of(split_stages(network(8), plan)), ElementsAre(4, 4));
}

TEST(Stages, RunForwardAgainForAllSomeOrNoLayers) {
    Plan plan = pipeline(4);
    const auto again = [&] { return split_stages(network(10), plan)[1].recomputed_layers; };  // of its 3
    EXPECT_EQ(again(), 0);
    plan.recompute = Recompute::full;
    EXPECT_EQ(again(), 3);
    plan.recompute = Recompute::blocks;
    plan.recompute_blocks = 2;
    EXPECT_EQ(again(), 2);
    plan.recompute_blocks = 5;
    EXPECT_EQ(again(), 3);
}

TEST(StageParameters, CountATiedMatrixWhereNoEmbeddingStands) {
    // One stage: the head uses the embedding's matrix. Two: the second needs a copy.
    Prepared::State job = ten_layers();
    BlockKernels input, head;
    input.trained.dense = 50e6;
    input.trained.shared[SharedMatrix::embedding].owned = 50e6;
    head.trained.shared[SharedMatrix::embedding].tied = 50e6;
    job.templates.push_back(input);
    job.templates.push_back(head);
    job.roles.push_back(BlockRole::input);
    job.roles.push_back(BlockRole::head);
    job.stages = {{.count = {10, 1, 1}, .layers = 10, .has_input = true}};
    EXPECT_DOUBLE_EQ(parameters_of(job, 0).trained.total(), 1050e6);
    job.stages = {{.count = {5, 1, 0}, .layers = 5, .has_input = true}, {.count = {5, 0, 1}, .layers = 5}};
    EXPECT_DOUBLE_EQ(parameters_of(job, 0).trained.total(), 550e6);
    EXPECT_DOUBLE_EQ(parameters_of(job, 1).trained.total(), 550e6);
}

// Modules for multi-token prediction use the embedding and, before the head, the output matrix: a copy for all blocks of a stage.
TEST(StageParameters, CountACopyOfASharedMatrixOnce) {
    Prepared::State job = ten_layers();
    BlockKernels input, module, head;
    input.trained.dense = 50e6;
    input.trained.shared[SharedMatrix::embedding].owned = 50e6;
    module.trained.dense = 150e6;
    module.trained.shared[SharedMatrix::embedding].tied = 50e6;
    module.trained.shared[SharedMatrix::output].owned = 50e6;
    head.trained.shared[SharedMatrix::output].tied = 50e6;
    job.templates = {job.templates.front(), input, module, head};
    job.roles = {BlockRole::layer, BlockRole::input, BlockRole::head, BlockRole::head};
    job.stages = {{.count = {10, 1, 1, 1}}};
    EXPECT_DOUBLE_EQ(parameters_of(job, 0).trained.total(), 1200e6);
    job.stages = {{.count = {10, 1, 0, 0}}, {.count = {0, 0, 1, 1}}};
    EXPECT_DOUBLE_EQ(parameters_of(job, 1).trained.total(), 200e6);
    job.stages = {{.count = {10, 1, 0, 0}}, {.count = {0, 0, 1, 0}}, {.count = {0, 0, 0, 1}}};
    EXPECT_DOUBLE_EQ(parameters_of(job, 1).trained.total(), 200e6);
    EXPECT_DOUBLE_EQ(parameters_of(job, 2).trained.total(), 50e6);
}

}  // namespace
}  // namespace sextant
