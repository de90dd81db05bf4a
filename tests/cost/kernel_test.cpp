#include "model/cost/kernel.hpp"

#include "tests/cost/small_gpt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::string_literals;

TEST(LayerKernels, OfAGptHaveItsFourProductsForwardAndTwoForEachBackward) {
    const BlockKernels layer = Cut{}.layer();
    // 32 tokens: QKV 3 x 64 columns, projection 64, MLP 256 and back.
    EXPECT_THAT(products(layer.forward), ElementsAre(Shape{32, 192, 64}, Shape{32, 64, 64}, Shape{32, 256, 64}, Shape{32, 64, 256}));
    // Of y [m n] = x [m k] W [k n]: dx [m k] over depth n, dW [k n] over depth m.
    // The last product first.
    EXPECT_THAT(products(layer.backward), ElementsAre(Shape{32, 256, 64}, Shape{256, 64, 32}, Shape{32, 64, 256}, Shape{64, 256, 32},
                                                      Shape{32, 64, 64}, Shape{64, 64, 32}, Shape{32, 64, 192}, Shape{64, 192, 32}));
    // Operations: 2 x 32 x 64 x (192 + 64 + 256 + 256), and attention 2 x 2 samples x 4 heads x (16 + 16) x (1 + ... + 16 = 136).
    EXPECT_DOUBLE_EQ(layer.forward_flops.si(), 2.0 * 32 * 64 * 768 + 2 * 2 * 4 * 32 * 136);
    EXPECT_DOUBLE_EQ(layer.backward_flops.si(), 2 * (2.0 * 32 * 64 * 768) + 2.5 * (2 * 2 * 4 * 32 * 136));
}

TEST(LayerKernels, OfAProductReadBothOperandsAndWriteTheResult) {
    // fc1: x 32 x 64, W 64 x 256, y 32 x 256, two bytes each
    const auto fc1 = named(Cut{}.layer().forward, "mlp.fc1", KernelKind::gemm);
    ASSERT_THAT(fc1, SizeIs(1));
    EXPECT_DOUBLE_EQ(fc1[0].bytes.si(), 2 * (32 * 64 + 64 * 256 + 32 * 256));
    EXPECT_DOUBLE_EQ(fc1[0].flops.si(), 2.0 * 32 * 256 * 64);
}

TEST(LayerKernels, OfTheFirstBlockMakeNoGradientOfTheData) {
    // Two dense layers in one block: the first has only the gradient of its weight, the second has both.
    OperatorGraphBuilder graph;
    const TensorId data = graph.input("data", {32, 16});
    const TensorId hidden =
        graph.add({.name = "first", .kind = Gemm{.m = 32, .n = 64, .k = 16}, .inputs = {data}, .parameters = 16 * 64}, {32, 64});
    graph.output(graph.add({.name = "second", .kind = Gemm{.m = 32, .n = 8, .k = 64}, .inputs = {hidden}, .parameters = 64 * 8}, {32, 8}));
    const OperatorGraph built = std::move(graph).build();
    const auto backward = [&](bool reads_data) {
        return products(block_kernels(built, BlockRole::layer, Plan{}, round_machine::framework(), reads_data).backward);
    };
    EXPECT_THAT(backward(true), ElementsAre(Shape{32, 64, 8}, Shape{64, 8, 32}, Shape{16, 64, 32}));
    EXPECT_THAT(backward(false), ElementsAre(Shape{32, 64, 8}, Shape{64, 8, 32}, Shape{32, 16, 64}, Shape{16, 64, 32}));
}

TEST(LayerKernels, AddGradientsInFp32ToActivationsAsWide) {
    // The product alone writes 4 bytes, the sum reads and writes 4 each: 4 more. Nothing more where the first micro-batch adds as well.
    Cut cut;
    cut.plan.precision.activation = DataType::fp32;
    cut.framework.fused_gradient_accumulation = cut.framework.gradients_in_fp32 = true;
    const auto weight_gradient = [&cut] { return named(cut.layer().backward, "mlp.fc1", KernelKind::gemm).at(1).bytes.si(); };
    const double alone = weight_gradient();
    cut.plan.global_batch = 8;
    EXPECT_DOUBLE_EQ(weight_gradient(), alone + 4 * 64 * 256);
    cut.framework.accumulates_from_first = true;
    EXPECT_DOUBLE_EQ(weight_gradient(), alone);
}

TEST(LayerKernels, AddWeightGradientsInTheProductWhereTheFrameworkDoes) {
    Cut cut;
    const auto weight_gradient = [&cut] { return named(cut.layer().backward, "mlp.fc1", KernelKind::gemm).at(1).bytes.si(); };
    const double alone = weight_gradient();
    cut.framework.fused_gradient_accumulation = true;
    EXPECT_DOUBLE_EQ(weight_gradient(), alone);  // one micro-batch: nothing to add to
    cut.plan.global_batch = 8;
    // Instead of writing 2 bytes the product reads and writes a BF16 gradient, 2 more; in FP32 4 + 4 - 2 = 6 more.
    EXPECT_DOUBLE_EQ(weight_gradient(), alone + 2 * 64 * 256);
    cut.framework.gradients_in_fp32 = true;
    EXPECT_DOUBLE_EQ(weight_gradient(), alone + 6 * 64 * 256);
    EXPECT_DOUBLE_EQ(named(cut.layer().backward, "mlp.fc1", KernelKind::gemm).at(1).epilogue.si(), 6 * 64 * 256);
    EXPECT_EQ(named(cut.layer().backward, "mlp.fc1", KernelKind::gemm).at(0).epilogue, Bytes{});  // of the input
}

TEST(LayerKernels, AddWeightGradientsInAPassOfItsOwnElsewhere) {
    // From the second micro-batch on: the new gradient and the sum in, the sum out, 64 x 256 weights and 256 biases of 2 bytes.
    Cut cut;
    EXPECT_THAT(named(cut.layer().backward, "mlp.fc1.accumulate"), IsEmpty());
    cut.plan.global_batch = 8;
    EXPECT_DOUBLE_EQ(bytes_of(cut.layer().backward, "mlp.fc1.accumulate"), 3 * 2 * (64 * 256 + 256));
    cut.framework.fused_gradient_accumulation = true;
    EXPECT_THAT(named(cut.layer().backward, "mlp.fc1.accumulate"), IsEmpty());
}

TEST(LayerKernels, SumTheGradientOfABiasByReadingTheGradientOfTheOutput) {
    EXPECT_DOUBLE_EQ(bytes_of(Cut{}.layer().backward, "mlp.fc1"), 2 * 32 * 256);
}

TEST(LayerKernels, OfLayerNormPassTwiceForwardAndThreeTimesBackward) {
    const BlockKernels layer = Cut{}.layer();
    // Forward x in, y out. Backward x and dy in, dx out; gain and shift are reduced by a second kernel.
    EXPECT_DOUBLE_EQ(bytes_of(layer.forward, "mlp.norm"), 2 * stream);
    EXPECT_DOUBLE_EQ(bytes_of(layer.backward, "mlp.norm"), 3 * stream);
    EXPECT_EQ(named(layer.backward, "mlp.norm").at(0).launches, 2);
}

TEST(LayerKernels, PassOverElementsWithoutFusionOneByOne) {
    const BlockKernels layer = Cut{}.layer();
    EXPECT_DOUBLE_EQ(bytes_of(layer.forward, "mlp.act"), 2 * 4 * stream);   // 256 wide: in, out
    EXPECT_DOUBLE_EQ(bytes_of(layer.backward, "mlp.act"), 3 * 4 * stream);  // dy and x in, dx out
    EXPECT_DOUBLE_EQ(bytes_of(layer.forward, "mlp.drop"), 2.5 * stream);    // in, out, and a mask of one byte for two
    EXPECT_DOUBLE_EQ(bytes_of(layer.forward, "mlp.add"), 3 * stream);       // two in, one out
    EXPECT_THAT(named(layer.backward, "mlp.add"), IsEmpty());               // gradients pass through
    EXPECT_DOUBLE_EQ(bytes_of(layer.backward, "hidden.sum"), 3 * stream);   // norm and residual both read it: their gradients are added
    EXPECT_DOUBLE_EQ(bytes_of(layer.backward, "attention.add.sum"), 3 * stream);
}

TEST(LayerKernels, JoinDropoutAndAddWhereTheFrameworkDoes) {
    Cut cut;
    cut.framework.fusion = Fusion::pointwise;
    const BlockKernels layer = cut.layer();
    // Branch and residual in, sum and mask out: 3.5 passes instead of 2.5 + 3.
    EXPECT_DOUBLE_EQ(bytes_of(layer.forward, "mlp.drop"), 3.5 * stream);
    EXPECT_THAT(named(layer.forward, "mlp.add"), IsEmpty());
}

TEST(LayerKernels, RunOnCopiesInFp32WhereTheFrameworkWidens16Bits) {
    Cut cut;
    cut.framework.widens_16_bits = true;
    const BlockKernels layer = cut.layer();
    // fc1, x 32 x 64, W 64 x 256 and a bias, y 32 x 256: two bytes and four for each that is widened, forward x, W and y, backward W, x,
    // the gradients of y and of x. The product itself is one of four bytes.
    const double x = 32 * 64, w = 64 * 256 + 256, y = 32 * 256;
    EXPECT_DOUBLE_EQ(bytes_of(layer.forward, "mlp.fc1.convert"), 6 * (x + w + y));
    EXPECT_EQ(named(layer.forward, "mlp.fc1.convert").at(0).launches, 3);
    EXPECT_DOUBLE_EQ(bytes_of(layer.backward, "mlp.fc1.convert"), 6 * (w + x + y + x));
    const auto fc1 = named(layer.forward, "mlp.fc1", KernelKind::gemm);
    ASSERT_THAT(fc1, SizeIs(1));
    EXPECT_DOUBLE_EQ(fc1[0].bytes.si(), 4 * (32 * 64 + 64 * 256 + 32 * 256));
    EXPECT_EQ(fc1[0].type, DataType::fp32);
    EXPECT_DOUBLE_EQ(bytes_of(layer.forward, "mlp.norm"), 2 * 2 * stream);
    // What is kept and sent is as narrow as ever.
    EXPECT_EQ(layer.saved, Cut{}.layer().saved);
}

TEST(LayerKernels, MultiplyIn16BitsOnUnitsThatDoThoughOthersAreWidened) {
    Cut cut{.unit = ComputeUnit::tensor};
    cut.framework.widens_16_bits = true;
    EXPECT_THAT(named(cut.layer().forward, "mlp.fc1.convert"), IsEmpty());
    EXPECT_THAT(named(cut.layer().forward, "mlp.norm.convert"), SizeIs(1));
    cut.plan.precision = precision_policy(DataType::fp32);
    EXPECT_THAT(named(cut.layer().forward, "mlp.norm.convert"), IsEmpty());
}

TEST(LayerKernels, PassOverAClampedGateOnceForEachFunctionWhereNoKernelHasItWhole) {
    // 32 rows of 256 columns, half of what comes in: 16384 bytes, four times the residual stream.
    Cut cut{.mlp = MlpKind::clamped_swiglu};
    EXPECT_DOUBLE_EQ(bytes_of(cut.layer().forward, "mlp.act"), 34 * 4 * stream);
    EXPECT_DOUBLE_EQ(bytes_of(cut.layer().backward, "mlp.act"), 63 * 4 * stream);
    cut.framework.clamped_gate = ClampedGate::limits_apart;
    EXPECT_DOUBLE_EQ(bytes_of(cut.layer().forward, "mlp.act"), 25 * 4 * stream);
    EXPECT_DOUBLE_EQ(bytes_of(cut.layer().backward, "mlp.act"), 43 * 4 * stream);
    cut.framework.clamped_gate = ClampedGate::whole;
    EXPECT_DOUBLE_EQ(bytes_of(cut.layer().forward, "mlp.act"), 3 * 4 * stream);
    EXPECT_DOUBLE_EQ(bytes_of(cut.layer().backward, "mlp.act"), 5 * 4 * stream);
}

TEST(LayerKernels, OfFlashAttentionReadQkvAndWriteTheResultWithItsLogSumExp) {
    const BlockKernels layer = Cut{}.layer();
    const auto ahead = named(layer.forward, "attention", KernelKind::attention),
               back = named(layer.backward, "attention", KernelKind::attention);
    ASSERT_THAT(ahead, SizeIs(1));
    ASSERT_THAT(back, SizeIs(1));
    // Q, K, V, O of 4096 bytes; one FP32 for each of 2 x 4 x 16 rows. Causal: 136 of 256 pairs.
    const double bytes = 4 * stream + 4 * 2 * 4 * 16, flops = 2.0 * 2 * 4 * 32 * 136;
    EXPECT_DOUBLE_EQ(ahead[0].bytes.si(), bytes);
    EXPECT_DOUBLE_EQ(ahead[0].flops.si(), flops);
    EXPECT_DOUBLE_EQ(back[0].bytes.si(), 2.5 * bytes);
    EXPECT_DOUBLE_EQ(back[0].flops.si(), 2.5 * flops);  // five products instead of two
    EXPECT_EQ(back[0].launches, 3);
}

TEST(LayerKernels, OfPlainAttentionWriteTheScores) {
    Cut cut;
    cut.flash = false;
    const BlockKernels layer = cut.layer();
    const double scores = 2 * (2 * 4 * 16 * 16);  // bytes
    EXPECT_DOUBLE_EQ(bytes_of(layer.forward, "attention.mask"), 2 * scores);
    EXPECT_DOUBLE_EQ(bytes_of(layer.forward, "softmax"), 2 * scores);
    EXPECT_DOUBLE_EQ(bytes_of(layer.backward, "softmax"), 3 * scores);  // p and dp in, ds out
    cut.framework.fused_softmax = true;                                 // scale, mask and softmax together
    EXPECT_DOUBLE_EQ(bytes_of(cut.layer().forward, "attention.scale"), 2 * scores);
    EXPECT_THAT(named(cut.layer().forward, "attention.mask"), IsEmpty());
    EXPECT_THAT(named(cut.layer().forward, "softmax"), IsEmpty());
}

TEST(LayerKernels, KeepForBackwardWhatKorthikantiEtAlCount) {
    // arXiv 2205.05198, section 4.1: s b h (34 + 5 a s / h) bytes for plain attention in 16 bits; s b h = 2048, a s / h = 1.
    Cut cut;
    cut.flash = false;
    EXPECT_DOUBLE_EQ(cut.layer().saved.si(), 2048 * 34 + 2048 * 5);
    cut.plan.recompute = Recompute::selective;  // section 5: the attention core is made again, 34 s b h stay
    EXPECT_DOUBLE_EQ(cut.layer().saved.si(), 2048 * 34);
    cut.plan.recompute = Recompute::none;
    cut.flash = true;  // no scores, but a log-sum-exp in FP32 for each of b a s = 128 rows
    EXPECT_DOUBLE_EQ(cut.layer().saved.si(), 2048 * 34 + 4 * 128);
    // Full recompute keeps the input: 2 s b h.
    EXPECT_DOUBLE_EQ(cut.layer().kept_input.si(), 2 * 2048);
    EXPECT_DOUBLE_EQ(cut.layer().boundary.si(), 2 * 2048);
}

TEST(LayerKernels, OfRecomputeAreNoneTheCoreOrAllOfForward) {
    Cut cut;
    EXPECT_THAT(cut.layer().recompute, IsEmpty());
    cut.plan.recompute = Recompute::selective;
    ASSERT_THAT(cut.layer().recompute, SizeIs(1));
    EXPECT_EQ(cut.layer().recompute[0].kind, KernelKind::attention);
    cut.plan.recompute_modules = {"mlp"};
    EXPECT_THAT(products(cut.layer().recompute), ElementsAre(Shape{32, 256, 64}, Shape{32, 64, 256}));
    cut.plan.recompute = Recompute::full;
    const BlockKernels layer = cut.layer();
    EXPECT_THAT(layer.recompute, SizeIs(layer.forward.size()));
}

TEST(LayerKernels, OfRecomputeOfWhatIsReadLeaveOutWhatOnlyLeavesTheBlock) {
    // Backward reads the mask of the last dropout, which is made again with all before it, but not the sum behind that.
    Cut cut;
    cut.framework.recomputes_what_is_read = true;
    cut.plan.recompute = Recompute::full;
    const BlockKernels layer = cut.layer();
    EXPECT_THAT(products(layer.recompute), SizeIs(4));
    EXPECT_THAT(named(layer.forward, "mlp.add"), SizeIs(1));
    EXPECT_THAT(named(layer.recompute, "mlp.add"), IsEmpty());
    EXPECT_THAT(named(layer.recompute, "attention.add"), SizeIs(1));
    // Of the MLP alone it reads what fc2 read, and not what fc2 made.
    cut.plan.recompute = Recompute::selective;
    cut.plan.recompute_modules = {"mlp"};
    EXPECT_THAT(products(cut.layer().recompute), ElementsAre(Shape{32, 256, 64}));
}

TEST(LayerKernels, OfAutocastCastEveryWeightDownAndItsGradientUp) {
    Cut cut;
    cut.framework.casts_each_use = true;
    cut.plan.precision.parameter = DataType::fp32;
    const BlockKernels layer = cut.layer();
    // QKV: 64 x 192 weights and 192 biases, 4 bytes in and 2 out; back the other way round.
    EXPECT_DOUBLE_EQ(bytes_of(layer.forward, "attention.qkv.cast"), 6 * (64 * 192 + 192));
    EXPECT_DOUBLE_EQ(bytes_of(layer.backward, "attention.qkv.cast"), 6 * (64 * 192 + 192));
    cut.plan.precision.parameter = DataType::bf16;
    EXPECT_THAT(named(cut.layer().forward, "attention.qkv.cast"), IsEmpty());
    cut.plan.autocast = false;
    EXPECT_THAT(named(cut.layer().forward, "mlp.norm.cast"), IsEmpty());
}

TEST(LayerKernels, OfAutocastNormaliseInFp32WithCastsBeforeAndAfter) {
    // 2048 elements. Norm: two passes of 4 bytes forward, three backward. Casts: 2 bytes in and 4 out, and the other way round.
    Cut cut;
    cut.framework.casts_each_use = true;
    const BlockKernels layer = cut.layer();
    EXPECT_DOUBLE_EQ(bytes_of(layer.forward, "mlp.norm"), 2 * 4 * 2048);
    EXPECT_DOUBLE_EQ(bytes_of(layer.backward, "mlp.norm"), 3 * 4 * 2048);
    EXPECT_DOUBLE_EQ(bytes_of(layer.forward, "mlp.norm.cast"), 2 * 6 * 2048);
    EXPECT_DOUBLE_EQ(bytes_of(layer.backward, "mlp.norm.cast"), 2 * 6 * 2048);
    EXPECT_EQ(named(layer.forward, "mlp.norm.cast").at(0).launches, 2);
}

TEST(LayerKernels, OfAutocastHaveOneCastOfFp16InTheSoftmaxItself) {
    // 2048 scores. Forward: 2 bytes in, 4 out, and a cast down. Backward: gradient and result in FP32, 2 bytes out, and a cast up.
    Cut cut;
    cut.flash = false;
    cut.framework.casts_each_use = true;
    cut.plan.precision = precision_policy(DataType::fp16);
    const BlockKernels layer = cut.layer();
    EXPECT_DOUBLE_EQ(bytes_of(layer.forward, "softmax"), (2 + 4) * 2048);
    EXPECT_DOUBLE_EQ(bytes_of(layer.forward, "softmax.cast"), (4 + 2) * 2048);
    EXPECT_DOUBLE_EQ(bytes_of(layer.backward, "softmax"), (4 + 4 + 2) * 2048);
    EXPECT_DOUBLE_EQ(bytes_of(layer.backward, "softmax.cast"), (2 + 4) * 2048);
    cut.plan.precision = precision_policy(DataType::bf16);  // twice through what is wide, and a cast on either side
    EXPECT_DOUBLE_EQ(bytes_of(cut.layer().forward, "softmax"), 2 * 4 * 2048);
    EXPECT_DOUBLE_EQ(bytes_of(cut.layer().forward, "softmax.cast"), 2 * 6 * 2048);
}

TEST(LayerKernels, OfFp8CastActivationsOnceAndGradientsTwice) {
    Cut cut;
    cut.plan.precision = precision_policy(DataType::fp8);
    const BlockKernels layer = cut.layer();
    // fc1. Forward: 32 x 64 read in BF16, written in FP8. Backward: 32 x 256 read once and written in two layouts.
    EXPECT_DOUBLE_EQ(bytes_of(layer.forward, "mlp.fc1.quantize"), 32 * 64 * (2 + 1));
    EXPECT_DOUBLE_EQ(bytes_of(layer.backward, "mlp.fc1.quantize"), 32 * 256 * (2 + 1 + 1));
    EXPECT_DOUBLE_EQ(bytes_of(layer.backward, "attention.qkv.quantize"), 32 * 192 * (2 + 1 + 1));  // of Q, K and V
    EXPECT_EQ(named(layer.forward, "mlp.fc1", KernelKind::gemm).at(0).type, DataType::fp8);
    EXPECT_EQ(named(layer.forward, "attention", KernelKind::attention).at(0).type, DataType::bf16);  // no weights there
    // The ends of the network multiply in BF16.
    const BlockKernels head = cut.block(BlockRole::head);
    EXPECT_EQ(named(head.forward, "head", KernelKind::gemm).at(0).type, DataType::bf16);
    EXPECT_THAT(named(head.forward, "head.quantize"), IsEmpty());
}

TEST(LayerKernels, CountTheWeightsThatProductsReadNarrow) {
    // QKV 64 x 192, projection 64 x 64, MLP 64 x 256 and 256 x 64, without biases.
    Cut cut;
    EXPECT_EQ(cut.layer().narrowed.dense, 0);
    cut.plan.precision = precision_policy(DataType::fp8);
    EXPECT_EQ(cut.layer().narrowed.dense, 64 * (192 + 64 + 256 + 256));
    EXPECT_EQ(cut.block(BlockRole::head).narrowed.total(), 0);
}

TEST(LayerKernels, ListMatricesWhereTheOptimizerTreatsThemApart) {
    Cut cut{.tensor = 2};
    EXPECT_THAT(cut.layer().matrices, IsEmpty());
    cut.plan.optimizer = Optimizer::muon;
    std::vector<Shape> sides;  // those of half the columns, or half the rows
    for (const WeightMatrix& m : cut.layer().matrices) sides.push_back({m.count, m.rows, m.columns});
    EXPECT_THAT(sides, ElementsAre(Shape{1, 64, 96}, Shape{1, 32, 64}, Shape{1, 64, 128}, Shape{1, 128, 64}));
    EXPECT_THAT(cut.block(BlockRole::head).matrices, IsEmpty());
    EXPECT_THAT(cut.block(BlockRole::input).matrices, IsEmpty());
}

TEST(LayerKernels, ListTheWeightsOfWhichAutogradGetsPlaceholders) {
    Cut cut;
    cut.framework.keeps_gradient_placeholders = true;
    EXPECT_THAT(cut.layer().placeholders, IsEmpty());  // gradients are added up in a pass of their own
    cut.framework.fused_gradient_accumulation = true;
    EXPECT_EQ(cut.layer().placeholders.size(), 4);
    EXPECT_EQ(cut.block(BlockRole::head).placeholders.size(), 1);
    EXPECT_THAT(cut.block(BlockRole::input).placeholders, IsEmpty());  // a table is no product
}

TEST(LayerKernels, OfFp8CastTheirPartOfWhatIsGathered) {
    Cut cut;
    cut.tensor = 2;
    cut.sequence_parallel = true;
    cut.plan.precision = precision_policy(DataType::fp8);
    const BlockKernels layer = cut.layer();
    // Half of 32 tokens each. What fc1 makes stays on the rank, 32 x 128; the gradient of what fc2 makes is gathered in one layout, and
    // turned round as a whole.
    EXPECT_DOUBLE_EQ(bytes_of(layer.forward, "mlp.fc1.quantize"), 16 * 64 * (2 + 1));
    EXPECT_DOUBLE_EQ(bytes_of(layer.forward, "mlp.fc2.quantize"), 32 * 128 * (2 + 1));
    EXPECT_DOUBLE_EQ(bytes_of(layer.backward, "mlp.fc1.quantize"), 32 * 128 * (2 + 1 + 1));
    EXPECT_DOUBLE_EQ(bytes_of(layer.backward, "mlp.fc2.quantize"), 16 * 64 * (2 + 1) + 32 * 64 * (1 + 1));
    EXPECT_EQ(named(layer.backward, "mlp.fc2.quantize").at(0).launches, 2);
}

TEST(LayerKernels, OfFormatsWithScaledBlocksWriteBothLayoutsAndReadNvfp4ThreeTimes) {
    Cut cut;
    cut.plan.precision = precision_policy(DataType::mxfp8);  // 33 bytes for 32 values
    const BlockKernels mxfp8 = cut.layer();
    EXPECT_DOUBLE_EQ(bytes_of(mxfp8.forward, "mlp.fc1.quantize"), 32 * 64 * (2 + 2 * 33. / 32));
    EXPECT_DOUBLE_EQ(bytes_of(mxfp8.backward, "mlp.fc1.quantize"), 32 * 256 * (2 + 2 * 33. / 32));
    cut.plan.precision = precision_policy(DataType::nvfp4);  // 9 bytes for 16 values
    const BlockKernels nvfp4 = cut.layer();
    EXPECT_DOUBLE_EQ(bytes_of(nvfp4.forward, "mlp.fc1.quantize"), 32 * 64 * (3 * 2 + 2 * 9. / 16));
    EXPECT_DOUBLE_EQ(bytes_of(nvfp4.backward, "mlp.fc1.quantize"), 32 * 256 * (3 * 2 + 2 * 9. / 16));
    EXPECT_EQ(named(nvfp4.forward, "mlp.fc1.quantize").at(0).launches, 3);
}

TEST(HeadKernels, OfAFusedLossReadTheLogitsOnceAndOtherwiseMakeWideCopies) {
    Cut cut;
    // 32 rows of 1000 logits in BF16, 64 000 bytes, and 32 labels of 8 bytes.
    const double stored = 64'000 + 256, wide = 128'000;
    const BlockKernels eager = cut.block(BlockRole::head);
    EXPECT_DOUBLE_EQ(bytes_of(eager.forward, "loss"), stored + 4 * wide);
    EXPECT_DOUBLE_EQ(bytes_of(eager.backward, "loss"), stored + 3 * wide);
    EXPECT_DOUBLE_EQ(eager.saved_logits.si(), 64'000 + wide);
    cut.framework.fused_cross_entropy = true;
    const BlockKernels fused = cut.block(BlockRole::head);
    EXPECT_DOUBLE_EQ(bytes_of(fused.forward, "loss"), stored);
    EXPECT_DOUBLE_EQ(bytes_of(fused.backward, "loss"), 2 * stored);
    EXPECT_DOUBLE_EQ(fused.saved_logits.si(), 64'000);
    cut.framework.fused_loss_passes.value = 5;
    EXPECT_DOUBLE_EQ(bytes_of(cut.block(BlockRole::head).forward, "loss"), 3 * stored);
}

// A cap keeps what its tanh makes, narrow, beside what the loss keeps; three passes read and write the logits.
TEST(HeadKernels, OfCappedLogitsPassOverThemThreeTimes) {
    Cut cut;
    const BlockKernels without = cut.block(BlockRole::head);
    cut.logit_softcap = 30;
    const BlockKernels capped = cut.block(BlockRole::head);
    EXPECT_DOUBLE_EQ((capped.saved_logits - without.saved_logits).si(), 64'000);
    for (const char* pass : {"head.narrow", "head.softcap", "head.widen"}) {
        EXPECT_DOUBLE_EQ(bytes_of(capped.forward, pass), 2 * 64'000) << pass;
        EXPECT_GE(bytes_of(capped.backward, pass), 2 * 64'000) << pass;
    }
    cut.framework.fusion = Fusion::pointwise;  // one pass, which writes what backward reads as well
    const BlockKernels fused = cut.block(BlockRole::head);
    EXPECT_DOUBLE_EQ(bytes_of(fused.forward, "head.narrow"), 3 * 64'000);
    EXPECT_DOUBLE_EQ(bytes_of(fused.backward, "head.narrow"), 3 * 64'000);
}

TEST(HeadKernels, CountATiedMatrixApart) {
    const BlockKernels head = Cut{}.block(BlockRole::head);
    EXPECT_DOUBLE_EQ(head.trained.shared[SharedMatrix::embedding].tied, 1000 * 64);  // the embedding's
    EXPECT_DOUBLE_EQ(head.trained.dense, 2 * 64);                                    // gain and shift of the last norm
}

TEST(InputKernels, ClearAndFillADenseGradientOfTheTable) {
    const BlockKernels input = Cut{}.block(BlockRole::input);
    EXPECT_DOUBLE_EQ(bytes_of(input.forward, "embedding"), 2 * stream);
    EXPECT_DOUBLE_EQ(bytes_of(input.backward, "embedding"), 2 * 1000 * 64 + 3 * stream);
}

TEST(LayerKernels, SayWhichOfThemMakeWeightGradientsAlone) {
    Cut cut;
    cut.plan.global_batch = 8;  // gradients add up
    std::vector<std::string> names;
    for (const Kernel& k : cut.layer().backward)
        if (k.weight_gradient && k.name.starts_with("mlp")) names.push_back(k.name);
    // Of both products the gradient of the weight, that of the bias, and the sum; of the normalization one kernel for both, and the sum.
    EXPECT_THAT(names,
                ElementsAre("mlp.fc2", "mlp.fc2", "mlp.fc2.accumulate", "mlp.fc1", "mlp.fc1", "mlp.fc1.accumulate", "mlp.norm.accumulate"));
    // Forward has none.
    for (const Kernel& k : cut.layer().forward) EXPECT_FALSE(k.weight_gradient) << k.name;
}

}  // namespace
}  // namespace sextant
