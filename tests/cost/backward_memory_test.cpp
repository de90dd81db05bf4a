#include "tests/cost/small_gpt.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

Cut counted() {
    Cut cut;
    cut.framework.counts_gradients_of_activations = true;
    return cut;
}

// A layer of a small GPT hands on a stream of x = 4096 bytes. The most is there when the last product makes the gradient of what it read,
// 4 x, beside that of its result, x, and that of the stream, x; the mask of the dropout behind it, x / 2, was kept and is not needed any
// more.
TEST(BackwardMemory, IsThatOfTheGradientsThatAnOperatorReadsAndMakes) {
    EXPECT_NEAR(counted().layer().in_backward.si() / stream, 4 + 1 + 1 - 0.5, 1e-9);
    EXPECT_EQ(Cut{}.layer().in_backward, Bytes{}) << "fragmentation has it";
}

// The head begins with the gradient of 32 x 1000 logits in BF16 beside them; in two parts with half of it.
TEST(BackwardMemory, OfTheHeadIsThatOfTheGradientOfItsLogits) {
    Cut cut = counted();
    EXPECT_NEAR(cut.block(BlockRole::head).in_backward.si(), 2 * 32 * 1000, 1e-9);
    cut.plan.head_chunks = 2;
    EXPECT_NEAR(cut.block(BlockRole::head).in_backward.si(), 32 * 1000, 1e-9);
}

// With full recompute the same gradients stand beside what is made again.
TEST(BackwardMemory, OfFullRecomputeIsWhatIsMadeAgainAndGradients) {
    const BlockKernels layer = counted().layer();
    EXPECT_NEAR((layer.in_backward_again - layer.made_again).si() / stream, 4 + 1 + 1 - 0.5, 0.01);
}

}  // namespace
}  // namespace sextant
