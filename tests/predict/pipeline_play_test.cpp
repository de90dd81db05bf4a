// Orders of work played by hand: forward of a chunk takes 1 s, backward 2 s, a send 1 s.
#include "model/predict/pipeline_play.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;
using testing::ElementsAre;

struct TwoStages {
    std::vector<ChunkTimes> chunks;  // of each stage
    bool sends_block = false;
    std::vector<std::size_t> kind_of_chunk{}, kind_of_stage{0, 0};

    [[nodiscard]] PlayedPipeline pipeline(std::span<Seconds> ends) const {
        return {chunks, kind_of_chunk, kind_of_stage, sends_block, ends};
    }
};

TwoStages two_stages_of(int chunks) {
    ChunkTimes t;
    t.forward = t.send_forward = t.send_backward = 1 * s;
    t.backward = 2 * s;
    TwoStages stages{std::vector<ChunkTimes>(static_cast<std::size_t>(chunks), t)};
    for (std::size_t c = 0; c < stages.chunks.size(); ++c) stages.kind_of_chunk.push_back(c);
    return stages;
}

// When both stages of each pipeline have done all their work, in seconds.
std::vector<std::vector<double>> ends(const std::vector<TwoStages>& many, const PlayedSchedule& schedule, std::int64_t micro_batches) {
    std::vector<std::vector<Seconds>> ends(many.size(), std::vector<Seconds>(2));
    std::vector<PlayedPipeline> pipelines;
    for (std::size_t i = 0; i < many.size(); ++i) pipelines.push_back(many[i].pipeline(ends[i]));
    PipelinePlayer().play(schedule, pipelines, micro_batches);
    std::vector<std::vector<double>> lists;
    for (const auto& of_stages : ends) lists.push_back({of_stages[0] / s, of_stages[1] / s});
    return lists;
}

std::vector<double> ends(const TwoStages& stages, Schedule schedule, int micro_batches, bool forward_only = false) {
    const PlayedSchedule played(schedule, 2, static_cast<int>(stages.chunks.size()), micro_batches, forward_only);
    return ends(std::vector{stages}, played, micro_batches).front();
}

TEST(PlayedPipeline, OfInterleavedChunksSendsInTurnWithCompute) {
    // Chunks 0 and 1 of stage A are the first and third of four, those of stage B the second and fourth; two micro-batches. "F12 4-6" is
    // forward of chunk 1 for micro-batch 2 from 4 s on, its send over at 6 s.
    //   A  F01 0-2  F02 2-4  F11 4-6  F12 6-8                                B11 10-13  B12 14-17  B01 17-19  B02 20-22
    //   B      F01 2-4  F02 4-6  F11 6-7  B11 7-10  F12 10-11  B12 11-14  B01 14-17  B02 17-20
    TwoStages stages = two_stages_of(2);
    stages.sends_block = true;
    EXPECT_THAT(ends(stages, Schedule::interleaved, 2), ElementsAre(22, 20));
}

TEST(PlayedPipeline, OfInterleavedChunksSendsBesideCompute) {
    //   A  F01 0-1  F02 1-2  F11 4-5  F12 5-6                        B11 10-12  B12 13-15  B01 16-18  B02 19-21
    //   B      F01 2-3  F02 3-4  F11 6-7  B11 7-9  F12 9-10  B12 10-12  B01 13-15  B02 16-18
    EXPECT_THAT(ends(two_stages_of(2), Schedule::interleaved, 2), ElementsAre(21, 18));
}

TEST(PlayedPipeline, StopsAfterTheForwardsWhereThereIsNothingElse) {
    EXPECT_THAT(ends(two_stages_of(2), Schedule::interleaved, 2, true), ElementsAre(6, 8));  // F12 arrives at B at 7 s
}

// Stage A has the first and the last of four virtual stages, B the two between, which hand on nothing to each other: F11 of B follows F01
// at once. Gradients of inputs and of weights take 1 s each. "I12 9-10": of the input of chunk 1, micro-batch 2.
TEST(PlayedPipeline, ThatTurnsBackSendsNothingAtTheTurn) {
    //   A  F01 0-1  F02 1-2  F11 5-6  I11 6-7  W11 7-8  F12 8-9  I12 9-10   W12 10-11  I01 12-13  W01 13-14  I02 16-17  W02 17-18
    //   B  F01 2-3  F11 3-4  F02 4-5  F12 5-6  I11 8-9  W11 9-10 I01 10-11  W01 11-12  I12 12-13  W12 13-14  I02 14-15  W02 15-16
    TwoStages stages = two_stages_of(2);
    for (ChunkTimes& t : stages.chunks) t.backward = t.weights = 1 * s;
    EXPECT_THAT(ends(stages, Schedule::zero_bubble_v, 2), ElementsAre(18, 16));
}

TEST(PlayedPipeline, OfAZeroBubbleScheduleDoesWeightsLastAndWhatComesEarlyWhileItWaits) {
    // Half a second of forward is done before the input comes: F 0-1.5 and 1.5-2.5. The gradient of the input
    // takes 1 s, that of the weights 1 s: on the second stage 2.5-3.5 and 3.5-4.5, on the first 3.5-4.5 and 4.5-5.5, and a second more for
    // the last weights of each.
    TwoStages stages = two_stages_of(1);
    ChunkTimes& t = stages.chunks.front();
    t.early = 0.5 * s;
    t.forward = 1.5 * s;
    t.backward = t.weights = t.last = 1 * s;
    t.send_forward = t.send_backward = {};
    EXPECT_THAT(ends(stages, Schedule::zero_bubble, 1), ElementsAre(6.5, 5.5));
}

// Eleven, more than are played side by side, each slower than the one before.
TEST(PlayedPipeline, OfManyEachEndsAsItDoesAlone) {
    std::vector<TwoStages> many;
    for (int i = 0; i < 11; ++i) {
        many.push_back(two_stages_of(2));
        many.back().chunks.back().forward *= 1 + i;
    }
    const auto together = ends(many, PlayedSchedule(Schedule::interleaved, 2, 2, 10, false), 10);
    ASSERT_EQ(together.size(), many.size());
    for (std::size_t i = 0; i < many.size(); ++i)
        for (std::size_t stage = 0; stage < 2; ++stage)
            EXPECT_DOUBLE_EQ(together[i][stage], ends(many[i], Schedule::interleaved, 10)[stage]);
}

TEST(PlayedPipeline, OfChunksThatAreOneIsThatOfChunksWithTheSameTimes) {
    const TwoStages apart = two_stages_of(4);
    TwoStages alike = apart;
    alike.kind_of_chunk.assign(4, 0);
    EXPECT_EQ(ends(alike, Schedule::interleaved, 8), ends(apart, Schedule::interleaved, 8));
}

// 1001 micro-batches on two stages: three for each stage, and the one that is left, are played alike.
TEST(PlayedPipeline, OfManyMicroBatchesIsPlayedAsOneOfFewIs) {
    EXPECT_EQ(PlayedSchedule::alike(Schedule::zero_bubble, 2, 1001), 7);
    const TwoStages stages = two_stages_of(1);
    const PlayedSchedule few(Schedule::zero_bubble, 2, 1, 7, false);
    EXPECT_EQ(ends(std::vector{stages}, few, 1001).front()[0], ends(stages, Schedule::zero_bubble, 1001)[0]);
}

}  // namespace
}  // namespace sextant
