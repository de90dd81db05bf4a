#include "model/plan/virtual_stages.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(VirtualStages, GoRoundFromTheLastStageToTheFirst) {
    const VirtualStages stages(Schedule::interleaved, 3, 2);
    ASSERT_EQ(stages.size(), 6U);
    for (std::size_t v = 0; v < 6; ++v) EXPECT_EQ(stages.stage_of(v), v % 3);
    EXPECT_TRUE(stages.hands_on(2)) << "to the first stage";
    EXPECT_FALSE(stages.hands_on(5));
    EXPECT_FALSE(stages.is_handed(0));
    EXPECT_FALSE(stages.goes_back(1));
}

TEST(VirtualStages, OfAScheduleThatTurnsBackComeToTheFirstStageAgain) {
    const VirtualStages stages(Schedule::zero_bubble_v, 3, 2);
    const std::size_t expected[] = {0, 1, 2, 2, 1, 0};
    for (std::size_t v = 0; v < 6; ++v) EXPECT_EQ(stages.stage_of(v), expected[v]);
    EXPECT_FALSE(stages.hands_on(2)) << "the last stage has the next one itself";
    EXPECT_FALSE(stages.is_handed(3));
    EXPECT_TRUE(stages.hands_on(3));
    EXPECT_TRUE(stages.goes_back(1));
    EXPECT_FALSE(stages.goes_back(0));
}

TEST(VirtualStages, AreFoundByStageAndChunk) {
    for (const Schedule schedule : {Schedule::interleaved, Schedule::dual_pipe_v}) {
        const VirtualStages stages(schedule, 4, 2);
        for (std::size_t v = 0; v < stages.size(); ++v) EXPECT_EQ(stages.at(stages.stage_of(v), stages.chunk_of(v)), v);
    }
}

}  // namespace
}  // namespace sextant
