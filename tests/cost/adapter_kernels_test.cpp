#include "tests/cost/small_gpt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Cut adapted(const LowRankAdapters& adapters) {
    Cut cut;
    cut.adapters = adapters;
    return cut;
}

TEST(AdapterKernels, AreTwoNarrowProductsForEachThatIsAdapted) {
    const BlockKernels layer = adapted({.rank = 8, .fc1 = false, .fc2 = false}).layer();
    EXPECT_THAT(products(layer.forward), ElementsAre(Shape{32, 192, 64}, Shape{32, 8, 64}, Shape{32, 192, 8}, Shape{32, 64, 64},
                                                     Shape{32, 8, 64}, Shape{32, 64, 8}, Shape{32, 256, 64}, Shape{32, 64, 256}));
    // Going back, a frozen product has the gradient of its input alone.
    EXPECT_THAT(products(layer.backward),
                ElementsAre(Shape{32, 256, 64}, Shape{32, 64, 256},                                    // MLP
                            Shape{32, 8, 64}, Shape{8, 64, 32}, Shape{32, 64, 8}, Shape{64, 8, 32},    // adapter of the output
                            Shape{32, 64, 64},                                                         // output of attention
                            Shape{32, 8, 192}, Shape{8, 192, 32}, Shape{32, 64, 8}, Shape{64, 8, 32},  // adapter of q, k and v
                            Shape{32, 64, 192}));
    EXPECT_EQ(layer.trained.dense, 8 * (64 + 192 + 64 + 64));
    EXPECT_EQ(layer.trained_tensors, 4);
    EXPECT_EQ(layer.frozen.dense, Cut{}.layer().trained.dense);
}

// PyTorch's PEFT scales what the second matrix makes and adds it: q, k and v each by itself here.
TEST(AdapterKernels, ScaleAndAddTheirSums) {
    const BlockKernels layer = adapted({.rank = 8, .proj = false, .fc1 = false, .fc2 = false}).layer();
    const auto scales = named(layer.forward, "attention.qkv.lora_scale"), sums = named(layer.forward, "attention.qkv.lora_add");
    ASSERT_THAT(scales, SizeIs(3));
    ASSERT_THAT(sums, SizeIs(3));
    EXPECT_DOUBLE_EQ(scales[0].bytes.si(), 2 * stream);
    EXPECT_DOUBLE_EQ(sums[0].bytes.si(), 3 * stream);
}

TEST(AdapterKernels, NeedNoBackwardWhereNothingIsTrainedBefore) {
    const Cut cut = adapted({.rank = 8});
    EXPECT_THAT(cut.block(BlockRole::input).backward, IsEmpty());
    EXPECT_THAT(cut.block(BlockRole::input).trained_tensors, 0);
    // The head hands a gradient on, and makes none of its weight.
    EXPECT_THAT(products(cut.block(BlockRole::head).backward), ElementsAre(Shape{32, 64, 1000}));
}

// Under sequence parallelism an input is gathered once more where its product's adapter needs it, and not where that has none.
TEST(AdapterKernels, GatherInputsAgainForThemselvesAlone) {
    const auto gathers = [](const LowRankAdapters& adapters) {
        Cut cut = adapted(adapters);
        cut.tensor = 2;
        cut.sequence_parallel = true;
        const auto calls = cut.layer().backward_exchanges;
        return std::ranges::count(calls, ExchangeKind::all_gather, &ExchangeCall::kind);
    };
    // Two more gathers are the conjugates of the reductions behind the pairs.
    EXPECT_EQ(gathers({.rank = 8}), 4);
    EXPECT_EQ(gathers({.rank = 8, .fc1 = false}), 3);
    EXPECT_EQ(gathers({.rank = 8, .qkv = false, .fc1 = false}), 2);
}

TEST(AdapterKernels, LeaveNarrowOperandsInOneLayoutWhereNoWeightIsTrained) {
    // Of fc1's 256 columns: read in two bytes, written in one of a byte each for the gradient of the input, in two where a weight's is
    // made.
    Cut cut = adapted({.rank = 8});
    cut.plan.precision = precision_policy(DataType::fp8);
    const double frozen = bytes_of(cut.layer().backward, "mlp.fc1.quantize");
    cut.adapters.reset();
    EXPECT_DOUBLE_EQ(frozen, 32 * 256 * (2 + 1));
    EXPECT_DOUBLE_EQ(bytes_of(cut.layer().backward, "mlp.fc1.quantize"), 32 * 256 * (2 + 2));
}

}  // namespace
}  // namespace sextant
