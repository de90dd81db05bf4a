// What waits on a stage for its backward, under each schedule.
#include "tests/predict/hand_made_state.hpp"

#include "model/predict/stage_memory.hpp"
#include "model/schedule/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace sextant {
namespace {

using namespace units;

TEST(Memory, OfOneForwardOneBackwardHoldsAsManyMicroBatchesAsStagesFollow) {
    // Stage s of 4 starts 4 - s micro-batches before its first backward frees one.
    const Prepared::State many = with_activations(4, 8, Schedule::one_f_one_b);
    for (std::size_t s = 0; s < 4; ++s) EXPECT_NEAR(activations_gb(many, s), 4.0 - static_cast<double>(s), 1e-9);
    const Prepared::State few = with_activations(4, 2, Schedule::one_f_one_b);  // there are only two
    EXPECT_NEAR(activations_gb(few, 0), 2, 1e-9);
    EXPECT_NEAR(activations_gb(few, 3), 1, 1e-9);
}

TEST(Memory, OfZeroBubbleHoldsOnEveryStageAsMuchAsOnTheFirst) {
    // Weight gradients of stage s come s micro-batches late: to the 4 - s of 1F1B come s that wait for them.
    for (std::size_t s = 0; s < 4; ++s) {
        EXPECT_NEAR(activations_gb(with_activations(4, 8, Schedule::zero_bubble), s), 4, 1e-9);
        EXPECT_NEAR(activations_gb(with_activations(4, 2, Schedule::zero_bubble), s), 2, 1e-9);  // there are only two
    }
}

TEST(Memory, OfPipelinesThatTurnBackHoldsAsMuchOnEveryStage) {
    // p = 4, chunks of four and six layers. Zero bubble: stage s holds 8 - s of the first and s of the second, or one more of that and one
    // less of this, whichever is larger: 7 x 0.4 + 6 x 0.1 = 3.4 GB on stage 0, where 8 x 0.4 = 3.2; 4 x 0.4 + 4 x 0.6 on stage 3.
    const auto job = [](Schedule schedule, std::int64_t micro_batches) {
        Prepared::State made = with_activations(4, micro_batches, schedule);
        made.scenario.plan.vpp = 2;
        made.chunks.assign(made.stages.size(), {chunk_of(4), chunk_of(6)});
        return made;
    };
    EXPECT_NEAR(activations_gb(job(Schedule::zero_bubble_v, 16), 0), 7 * 0.4 + 0.6, 1e-9);
    EXPECT_NEAR(activations_gb(job(Schedule::zero_bubble_v, 16), 3), 4 * 0.4 + 4 * 0.6, 1e-9);
    EXPECT_NEAR(activations_gb(job(Schedule::zero_bubble_v, 2), 3), 2 * 0.4 + 2 * 0.6, 1e-9);  // there are only two
    // Both at once.
    EXPECT_NEAR(activations_gb(job(Schedule::dual_pipe_v, 16), 0), 8 * 0.4 + 0.6, 1e-9);
    EXPECT_NEAR(activations_gb(job(Schedule::dual_pipe_v, 16), 3), 5 * 0.4 + 4 * 0.6, 1e-9);
}

// What a stage holds at its fullest in the order of its work: of a forward that waits `kept` of each layer, and `again` more while it has
// run again, one layer after the other, or where the gradients of their weights wait all of them.
double most_held(const std::vector<WorkItem>& order, const std::array<int, 2>& layers, double kept, double again) {
    double held = 0, most = 0;
    for (const WorkItem& w : order) {
        const int n = layers.at(static_cast<std::size_t>(w.chunk));
        if (w.kind == WorkKind::forward) held += n * kept;
        if (w.kind == WorkKind::backward_input) held += n * again;
        most = std::max(most, held + (w.kind == WorkKind::backward ? again : 0));
        if (w.kind == WorkKind::backward) held -= n * kept;
        if (w.kind == WorkKind::backward_weight) held -= n * (kept + again);
    }
    return most;
}

// However many micro-batches there are.
TEST(Memory, OfRecomputeHoldsWhatWasMadeAgainUntilTheGradientsOfTheWeights) {
    for (const Schedule schedule : {Schedule::interleaved, Schedule::zero_bubble, Schedule::zero_bubble_v, Schedule::dual_pipe_v}) {
        const bool of_two = schedule != Schedule::zero_bubble;
        const std::array<int, 2> layers{of_two ? 4 : 10, of_two ? 6 : 0};
        for (const int stages : {2, 4, 5, 16})
            for (const int micro_batches : {1, 3, 4, 8, 15, 32, 100, 160}) {
                if (schedule == Schedule::interleaved && micro_batches % stages != 0) continue;
                Prepared::State job = with_activations(stages, micro_batches, schedule);
                job.scenario.plan.recompute = Recompute::full;
                job.scenario.plan.vpp = of_two ? 2 : 1;
                for (StageBlocks& s : job.stages) s.recomputed_layers = s.layers;
                if (of_two) job.chunks.assign(job.stages.size(), {chunk_of(layers[0]), chunk_of(layers[1], {}, layers[0])});
                std::vector<double> most;
                for (const auto& order : work_orders(schedule, stages, job.scenario.plan.vpp, micro_batches)) {
                    const double here = activations_gb(job, most.size());
                    EXPECT_NEAR(here, most.emplace_back(most_held(order, layers, 0.01, 0.09)), 1e-9)
                        << static_cast<int>(schedule) << ", stage " << most.size() - 1 << " of " << stages << ", m " << micro_batches;
                }
            }
    }
}

TEST(Memory, OfGpipeHoldsEveryMicroBatchAndOfSequentialOne) {
    for (std::size_t s = 0; s < 4; ++s) {
        EXPECT_NEAR(activations_gb(with_activations(4, 8, Schedule::gpipe), s), 8, 1e-9);
        EXPECT_NEAR(activations_gb(with_activations(4, 1, Schedule::sequential), s), 1, 1e-9);
    }
}

TEST(Memory, OfInterleavingHoldsMoreByTheWarmUpOfItsChunks) {
    // p = 4, v = 2: stage 0 starts 2 x 3 + 1 x 4 chunks before its first backward, and one more: 11 chunks of half a stage, 5.5 GB
    // where 1F1B holds 4. Stage 3: 0 + 4 + 1 = 5 chunks.
    Prepared::State job = with_activations(4, 8, Schedule::interleaved);
    cut_into_chunks(job, 2);
    EXPECT_NEAR(activations_gb(job, 0), 5.5, 1e-9);
    EXPECT_NEAR(activations_gb(job, 3), 2.5, 1e-9);
}

TEST(Memory, OfInterleavingCountsEachChunkByItself) {
    // Stage 0 goes forward four times with the first chunk, four with the second, three with the first; then back with the second and
    // forward with the first once more. Of ten layers of 0.1 GB the first chunk has eight: 7 x 0.8 + 4 x 0.2 GB, and then 8 x 0.8 + 3 x
    // 0.2.
    Prepared::State job = with_activations(4, 8, Schedule::interleaved);
    cut_into_chunks(job, 2);
    const auto first_has = [&](int layers) {
        job.chunks.front() = {chunk_of(layers), chunk_of(10 - layers)};
        return activations_gb(job, 0);
    };
    EXPECT_NEAR(first_has(8), 8 * 0.8 + 3 * 0.2, 1e-9);
    EXPECT_NEAR(first_has(5), 5.5, 1e-9);
    EXPECT_NEAR(first_has(2), 7 * 0.2 + 4 * 0.8, 1e-9);
}

// Ten layers of 0.2 GB on each stage, which several micro-batches have gone forward through when the first comes back: all of them read the
// same weights.
TEST(Memory, OfGatheredWeightsThatWaitForBackwardIsThatOfTheStageOnceForAllMicroBatches) {
    for (const Schedule schedule :
         {Schedule::one_f_one_b, Schedule::gpipe, Schedule::zero_bubble, Schedule::zero_bubble_v, Schedule::interleaved}) {
        const int chunks = turns_back(schedule) || schedule == Schedule::interleaved ? 2 : 1;
        Prepared::State job = with_activations(4, 8, schedule);
        cut_into_chunks(job, chunks);
        job.scenario.plan.dp = 2;
        job.scenario.plan.data_parallel = DataParallel::zero3;
        job.scenario.framework.reshards_after_forward = false;
        EXPECT_NEAR(stage_memory(job)[0][MemoryKind::gathered_weights] / GB, 10 * 0.2, 1e-9);
        job.scenario.framework.reshards_after_forward = true;
        EXPECT_NEAR(stage_memory(job)[0][MemoryKind::gathered_weights] / GB, (1 + job.scenario.framework.prefetch_blocks) * 0.2, 1e-9);
    }
}

TEST(Memory, OfFullRecomputeKeepsInputsAndOneLayerAtWork) {
    // Ten layers x 4 micro-batches x 0.01 GB, and the other 0.09 GB of the layer that runs again.
    Prepared::State job = with_activations(4, 8, Schedule::one_f_one_b);
    job.scenario.plan.recompute = Recompute::full;
    for (StageBlocks& s : job.stages) s.recomputed_layers = 10;
    EXPECT_NEAR(activations_gb(job, 0), 0.4 + 0.09, 1e-9);
    // Four of ten layers, the first: when one of them runs again, the others have given back what they kept of the micro-batch.
    job.scenario.plan.recompute = Recompute::blocks;
    for (StageBlocks& s : job.stages) s.recomputed_layers = 4;
    EXPECT_NEAR(activations_gb(job, 0), 4 * 0.64, 1e-9);
}

// Whatever a layer that runs again needs was there at that time without recompute, too: what had left for host memory had come back.
TEST(Memory, OfRecomputeIsNoMoreWithMoreBlocks) {
    for (const Schedule schedule : {Schedule::one_f_one_b, Schedule::gpipe, Schedule::interleaved, Schedule::zero_bubble,
                                    Schedule::zero_bubble_v, Schedule::dual_pipe_v})
        for (const auto& [micro_batches, offload] :
             {std::pair{4, OffloadActivations::none}, {8, OffloadActivations::none}, {8, OffloadActivations::all}}) {
            Prepared::State job = with_activations(4, micro_batches, schedule);
            job.scenario.plan.offload_activations = offload;
            if (turns_back(schedule) || schedule == Schedule::interleaved) cut_into_chunks(job, 2);
            job.scenario.plan.recompute = Recompute::blocks;
            std::vector<double> none(job.stages.size());
            for (std::size_t s = 0; s < none.size(); ++s) none[s] = activations_gb(job, s);
            std::vector<double> before = none;
            for (int layers = 1; layers <= 10; ++layers)
                for (std::size_t s = 0; s < none.size(); ++s) {
                    job.stages[s].recomputed_layers = layers;
                    const double now = activations_gb(job, s);
                    EXPECT_LE(now, before[s] + 1e-9) << static_cast<int>(schedule) << ", " << layers << " layers of stage " << s;
                    before[s] = now;
                }
        }
}

// Two layers, of which the first keeps much and the second little: when the first runs again there is little else.
TEST(Memory, OfALayerThatRunsAgainStandsBesideWhatIsThereByThen) {
    Prepared::State job = with_activations(1, 2, Schedule::gpipe);
    BlockKernels much = job.templates.front();
    much.saved = 1 * GB;
    much.made_again = 0.99 * GB;
    job.templates.push_back(much);
    job.roles.push_back(BlockRole::layer);
    ChunkBlocks chunk;
    chunk.layers = 2;
    chunk.add({1, 0, {}});
    chunk.add({0, 1, {}});
    job.chunks.front() = {chunk};
    job.stages.front() = {.count = {1, 1}, .layers = 2};
    EXPECT_NEAR(activations_gb(job, 0), 2 * 1.1, 1e-9);
    job.scenario.plan.recompute = Recompute::blocks;
    job.stages.front().recomputed_layers = 1;  // 2 x (0.01 + 0.1) GB wait; 0.1 are given back, and 0.99 made again
    EXPECT_NEAR(activations_gb(job, 0), 0.22 - 0.1 + 0.99, 1e-9);
    // Logits of the second are gone by then, too.
    job.templates.front().saved_logits = 0.2 * GB;
    const StageMemory m = stage_memory(job).front();
    EXPECT_NEAR((m[MemoryKind::activations] + m[MemoryKind::logits]) / GB, 2 * (0.11 + 0.2) - (0.1 + 0.2) + 0.99, 1e-9);
}

// Scores of plain attention, say, of which nothing but their softmax is kept: training makes them as inference does.
TEST(Memory, OfTrainingIsNoLessThanThatOfAForwardAlone) {
    Prepared::State job = with_activations(4, 8, Schedule::one_f_one_b);
    job.scenario.plan.recompute = Recompute::full;
    for (StageBlocks& s : job.stages) s.recomputed_layers = 10;
    job.templates[0].alive = 0.75 * GB;
    EXPECT_NEAR(activations_gb(job, 0), 0.75, 1e-9);
    job.templates[0].alive = 0.25 * GB;  // less than 4 x 10 inputs of 0.01 GB and 0.09 GB of the layer that runs again
    EXPECT_NEAR(activations_gb(job, 0), 0.4 + 0.09, 1e-9);
}

TEST(Memory, OfSelectiveRecomputeHoldsWhatOneLayerMakesAgain) {
    // Of 0.1 GB a layer drops 0.04: 4 micro-batches x 10 x 0.06 GB, and 0.04 GB of the layer whose backward is under way.
    Prepared::State job = with_activations(4, 8, Schedule::one_f_one_b);
    job.scenario.plan.recompute = Recompute::selective;
    job.templates[0].saved = 0.06 * GB;
    job.templates[0].dropped = 0.04 * GB;
    EXPECT_NEAR(activations_gb(job, 0), 2.4 + 0.04, 1e-9);
}

TEST(Memory, OfLogitsIsThatOfOneMicroBatchAndUnderGpipeOfAll) {
    // 0.2 GB in each of ten blocks; GPipe has all 8 micro-batches' when the first backward begins.
    Prepared::State job = with_activations(1, 8, Schedule::one_f_one_b);
    job.templates[0].saved_logits = 0.2 * GB;
    EXPECT_NEAR(stage_memory(job)[0][MemoryKind::logits] / GB, 2, 1e-9);
    job.scenario.plan.schedule = Schedule::gpipe;
    EXPECT_NEAR(stage_memory(job)[0][MemoryKind::logits] / GB, 16, 1e-9);
}

TEST(Memory, OfGradientsOfActivationsIsThatOfOneMicroBatchBesideWhatWaits) {
    // 10 layers x 8 micro-batches x 0.1 GB wait; then the first backward of the last layer holds 0.2 GB beside them. With full recompute
    // 0.01 GB of each wait, and 0.3 GB are held.
    Prepared::State job = with_activations(1, 8, Schedule::gpipe);
    job.templates[0].in_backward = 0.2 * GB;
    job.templates[0].in_backward_again = 0.3 * GB;
    EXPECT_NEAR(activations_gb(job, 0), 8 + 0.2, 1e-9);
    job.scenario.plan.recompute = Recompute::full;
    job.stages[0].recomputed_layers = 10;
    EXPECT_NEAR(activations_gb(job, 0), 0.8 + 0.3, 1e-9);
    job.scenario.plan.recompute = Recompute::none;
    job.stages[0].recomputed_layers = 0;
    job.scenario.plan.forward_only = true;
    EXPECT_EQ(activations_gb(job, 0), 0);
}

TEST(Memory, OfOffloadedActivationsIsThatOfABlockAtWorkAndOfOneOnItsWay) {
    // Four micro-batches in flight, of ten layers that keep 0.1 GB each; of that 0.01 GB are what they read, and as much the sum in the
    // middle.
    Prepared::State job = with_activations(4, 8, Schedule::one_f_one_b);
    Plan& plan = job.scenario.plan;
    plan.offload_activations = OffloadActivations::all;
    EXPECT_NEAR(activations_gb(job, 0), 2 * 0.1, 1e-9);
    // Where two of the ten run again the others still have 0.2 GB at work and on its way.
    plan.recompute = Recompute::blocks;
    job.stages[0].recomputed_layers = 2;
    job.templates[0].made_again = 0.05 * GB;
    EXPECT_NEAR(activations_gb(job, 0), 2 * 0.1, 1e-9);
    plan.recompute = Recompute::none;
    job.stages[0].recomputed_layers = 0;
    plan.offload_activations = OffloadActivations::residuals;
    EXPECT_NEAR(activations_gb(job, 0), 4 * 10 * 0.08 + 2 * 0.02, 1e-9);
    plan.offload_activations = OffloadActivations::layers;
    plan.offloaded_layers = 3;
    EXPECT_NEAR(activations_gb(job, 0), 4 * 7 * 0.1 + 0.3 * 2 * 0.1, 1e-9);
    plan.offload_activations = OffloadActivations::none;
    job.scenario.plan.offload = Offload::optimizer;
    EXPECT_EQ(stage_memory(job)[0][MemoryKind::optimizer], Bytes{});
}

}  // namespace
}  // namespace sextant
