// Kernels of networks that work on images.
#include "model/cost/elementwise.hpp"
#include "model/cost/kernel.hpp"
#include "tests/cost/round_machine.hpp"
#include "tests/cost/small_gpt.hpp"

#include "model/workload/workload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

namespace sextant {
namespace {

using testing::ElementsAre;

TEST(ImageKernels, OfBatchNormReadTheirInputOnceMoreForItsStatisticsInTraining) {
    Plan training;
    training.micro_batch = training.global_batch = 4;
    Plan inference = training;
    inference.forward_only = true;
    const Framework framework = round_machine::framework();
    const Network network = build_network({"resnet18", "", ConvolutionalSpec{.name = "resnet18", .image_px = 64}, ""}, {.micro_batch = 4});
    for (const Block& b : network.templates) {
        const BlockKernels train = block_kernels(b.graph, b.role, training, framework);
        const BlockKernels infer = block_kernels(b.graph, b.role, inference, framework);
        Bytes less, read;
        ASSERT_EQ(train.forward.size(), infer.forward.size());
        for (std::size_t i = 0; i < train.forward.size(); ++i) less += train.forward[i].bytes - infer.forward[i].bytes;
        for (const Operator& op : b.graph.operators())
            if (std::holds_alternative<Normalization>(op.kind))
                read += b.graph.tensor(op.inputs.front()).elements() * size_of(training.precision.activation);
        EXPECT_DOUBLE_EQ(less.si(), read.si());
    }
}

// Of ResNet-18, by the kernels of its batch norms: forward a pass less, as in inference, backward what the framework takes instead of 5.
TEST(ImageKernels, OfFrozenBatchNormsReadTheirInputOnceAndTakeTheFrameworksPassesBack) {
    Plan measured;
    measured.micro_batch = measured.global_batch = 4;
    Plan frozen = measured;
    frozen.frozen_batch_norm = true;
    Framework framework = round_machine::framework();
    framework.frozen_batch_norm_passes.value = 11;
    framework.frozen_batch_norm_kernels = 7;
    const Network network = build_network({"resnet18", "", ConvolutionalSpec{.name = "resnet18", .image_px = 64}, ""}, {.micro_batch = 4});
    for (const Block& b : network.templates) {
        const BlockKernels before = block_kernels(b.graph, b.role, measured, framework);
        const BlockKernels now = block_kernels(b.graph, b.role, frozen, framework);
        const auto image = [&](const Kernel& k) {
            const Operator* op = k.op ? &b.graph.operators()[static_cast<std::size_t>(*k.op)] : nullptr;
            const bool normalizes = op != nullptr && std::holds_alternative<Normalization>(op->kind);
            return normalizes ? b.graph.tensor(op->inputs.front()).elements() * size_of(frozen.precision.activation) : Bytes{};
        };
        ASSERT_EQ(now.forward.size(), before.forward.size());
        for (std::size_t i = 0; i < now.forward.size(); ++i)
            EXPECT_DOUBLE_EQ((before.forward[i].bytes - now.forward[i].bytes).si(), image(now.forward[i]).si());
        ASSERT_EQ(now.backward.size(), before.backward.size());
        for (std::size_t i = 0; i < now.backward.size(); ++i) {
            EXPECT_DOUBLE_EQ((now.backward[i].bytes - before.backward[i].bytes).si(), 6 * image(now.backward[i]).si());
            EXPECT_EQ(now.backward[i].launches - before.backward[i].launches, image(now.backward[i]) > Bytes{} ? 6 : 0);
        }
    }
}

struct LayoutCopies {
    std::ptrdiff_t forward = 0, backward = 0;
    bool operator==(const LayoutCopies&) const = default;
};

// Of ResNet-18, which has 20 convolutions.
LayoutCopies copies_of_layouts(DataType type, ComputeUnit unit, bool channels_last) {
    Plan plan;
    plan.micro_batch = plan.global_batch = 4;
    plan.channels_last = channels_last;
    plan.precision.compute = plan.precision.activation = plan.precision.parameter = type;
    const Network network = build_network({"resnet18", "", ConvolutionalSpec{.name = "resnet18", .image_px = 64}, ""}, {.micro_batch = 4});
    const auto copies = [](const std::vector<Kernel>& list) {
        return std::ranges::count_if(list, [](const Kernel& k) { return k.name.ends_with(".layout"); });
    };
    LayoutCopies count;
    for (const int t : network.sequence) {
        const Block& b = network.templates[static_cast<std::size_t>(t)];
        const BlockKernels kernels = block_kernels(b.graph, b.role, plan, round_machine::framework(), false, unit);
        count.forward += copies(kernels.forward);
        count.backward += copies(kernels.backward);
    }
    return count;
}

TEST(ImageKernels, CopyLayoutsWhereTensorUnitsMultiply16BitsAndChannelsLieApart) {
    // Each for its filters and its input, but for the first one's images.
    EXPECT_EQ(copies_of_layouts(DataType::fp16, ComputeUnit::tensor, false), (LayoutCopies{20, 20 + 19}));
    EXPECT_EQ(copies_of_layouts(DataType::fp16, ComputeUnit::tensor, true), LayoutCopies{});
    EXPECT_EQ(copies_of_layouts(DataType::fp16, ComputeUnit::vector, false), LayoutCopies{});  // a GTX 1080 Ti multiplies FP16 as FP32
    EXPECT_EQ(copies_of_layouts(DataType::fp32, ComputeUnit::tensor, false), LayoutCopies{});  // TF32 has kernels for either
}

// One operator that reads and makes images of the extents that its kind says.
BlockKernels kernels_of(const Convolution& c, const Plan& plan, const Framework& framework = round_machine::framework()) {
    OperatorGraphBuilder b;
    const TensorId x = b.input("x", {c.batch, c.in_channels, c.in_h, c.in_w});
    const auto weights = static_cast<double>(c.in_channels * c.out_channels * c.kernel_h * c.kernel_w);
    b.output(b.add({.name = "conv", .kind = c, .inputs = {x}, .parameters = weights}, {c.batch, c.out_channels, c.out_h, c.out_w}));
    return block_kernels(std::move(b).build(), BlockRole::layer, plan, framework);
}

TEST(ImageKernels, OfATransposedConvolutionAreThoseOfTheUnderlyingOneInOtherRoles) {
    Plan plan;
    plan.micro_batch = plan.global_batch = 4;
    const Convolution up{.batch = 4,
                         .in_channels = 64,
                         .out_channels = 32,
                         .in_h = 8,
                         .in_w = 8,
                         .out_h = 16,
                         .out_w = 16,
                         .kernel_h = 2,
                         .kernel_w = 2,
                         .stride = 2,
                         .transposed = true};
    const BlockKernels found = kernels_of(up, plan), down = kernels_of(underlying(up), plan);
    ASSERT_EQ(found.forward.size(), 1);
    ASSERT_EQ(down.backward.size(), 2);  // of the image, of the filters
    ASSERT_EQ(found.backward.size(), 2);
    const auto expect_same = [](const Kernel& a, const Kernel& b) {
        EXPECT_EQ(std::tuple(a.m, a.n, a.k, a.backward, a.weight_gradient, a.strided),
                  std::tuple(b.m, b.n, b.k, b.backward, b.weight_gradient, b.strided));
        EXPECT_EQ(a.flops.si(), b.flops.si());
        EXPECT_EQ(a.bytes.si(), b.bytes.si());
    };
    expect_same(found.forward[0], down.backward[0]);
    expect_same(found.backward[0], down.forward[0]);
    expect_same(found.backward[1], down.backward[1]);
    // 4 x 8 x 8 pixels of 64 channels times 2 x 2 of 32.
    EXPECT_EQ(found.forward[0].flops.si(), 2.0 * 4 * 8 * 8 * 64 * 2 * 2 * 32);
}

TEST(ImageKernels, LayFiltersOutForEachCall) {
    Framework framework = round_machine::framework();
    framework.rearranges_filters = true;
    Convolution c{.in_channels = 64, .out_channels = 32, .in_h = 9, .in_w = 9, .out_h = 9, .out_w = 9, .kernel_h = 3, .kernel_w = 3};
    const auto bytes = [&](auto pass) {
        std::vector<double> of_filters;
        for (const Kernel& k : named(kernels_of(c, {}, framework).*pass, "conv.filters")) of_filters.push_back(k.bytes.si());
        return of_filters;
    };
    // 32 x 64 x 3 x 3 of two bytes are read and written; their gradients are read, and added to others.
    EXPECT_THAT(bytes(&BlockKernels::forward), ElementsAre(4 * 18432));
    EXPECT_THAT(bytes(&BlockKernels::backward), ElementsAre(4 * 18432, 6 * 18432));
    EXPECT_EQ(kernels_of(c, {}, framework).forward.back().exponentials, 18432 * laid_out_filter);
    // Those of one pixel as well, but where they lie as plain kernels want them.
    c.kernel_h = c.kernel_w = 1;
    EXPECT_THAT(bytes(&BlockKernels::forward), ElementsAre(4 * 2048));
    framework.plain_kernels = true;
    EXPECT_THAT(bytes(&BlockKernels::forward), ElementsAre());
    EXPECT_THAT(bytes(&BlockKernels::backward), ElementsAre(6 * 2048));
}

TEST(ImageKernels, OfFewSinglePixelsReadFiltersAsTheyLie) {
    Framework framework = round_machine::framework();
    framework.rearranges_filters = true;
    framework.products_of_pixels = 128;
    Plan plan;
    plan.precision = precision_policy(DataType::fp32);
    const auto laid_out = [&](const Convolution& c) { return !named(kernels_of(c, plan, framework).forward, "conv.filters").empty(); };
    const Convolution few{.batch = 2, .in_channels = 64, .out_channels = 32, .in_h = 8, .in_w = 8, .out_h = 8, .out_w = 8};
    EXPECT_FALSE(laid_out(few));
    Convolution other = few;
    other.batch = 3;
    EXPECT_TRUE(laid_out(other)) << "192 pixels";
    other = few;
    other.kernel_h = other.kernel_w = 3;
    EXPECT_TRUE(laid_out(other));
    plan.precision = precision_policy(DataType::bf16);
    EXPECT_TRUE(laid_out(few));
}

TEST(ImageKernels, OfMaxPoolingLookForTheLargestAgainWhereNobodyKeptIt) {
    Framework framework = round_machine::framework();
    Plan plan;
    plan.precision = precision_policy(DataType::fp32);
    const auto backward = [&](PoolingKind kind) {
        OperatorGraphBuilder b;
        const TensorId x = b.input("x", {2, 4, 8, 8});
        b.output(
            b.add({.name = "pool", .kind = Pooling{.kind = kind, .window = 4, .kernel = 2, .stride = 2}, .inputs = {x}}, {2, 4, 4, 4}));
        std::vector<double> bytes;
        for (const Kernel& k : block_kernels(std::move(b).build(), BlockRole::layer, plan, framework).backward)
            bytes.push_back(k.bytes.si());
        return bytes;
    };
    // An image of 2048 bytes, which is written, and two results of 512, which are read.
    EXPECT_THAT(backward(PoolingKind::max), ElementsAre(3072));
    framework.finds_largest_again = true;  // reads the image, and makes another result
    EXPECT_THAT(backward(PoolingKind::max), ElementsAre(3072, 2560));
    EXPECT_THAT(backward(PoolingKind::average), ElementsAre(3072));
}

TEST(ImageKernels, WhatIsOverwrittenIsKeptFirstWhereBackwardReadsIt) {
    Plan plan;
    plan.micro_batch = plan.global_batch = 1;
    Framework framework = round_machine::framework();
    const auto forward_of = [&](PointwiseKind function, bool in_place, bool eager) {
        framework.composes_functions = eager;
        OperatorGraphBuilder graph;
        const TensorId x = graph.input("x", {1, 1000});
        graph.output(graph.add({.name = "function", .kind = Pointwise{function, 1000, in_place}, .inputs = {x}}, {1, 1000}));
        Bytes bytes;
        for (const Kernel& k : block_kernels(std::move(graph).build(), BlockRole::layer, plan, framework).forward) bytes += k.bytes;
        return bytes / size_of(plan.precision.activation);
    };
    EXPECT_EQ(forward_of(PointwiseKind::silu, false, true), 2000);
    EXPECT_EQ(forward_of(PointwiseKind::silu, true, true), 4000);
    EXPECT_EQ(forward_of(PointwiseKind::silu, true, false), 2000);
    EXPECT_EQ(forward_of(PointwiseKind::relu, true, true), 2000);  // which goes back from what it makes
}

TEST(ImageKernels, OfViewsThereAreNoneForward) {
    Plan plan;
    plan.micro_batch = plan.global_batch = 1;
    OperatorGraphBuilder graph;
    const TensorId x = graph.input("x", {1, 1000});
    graph.output(graph.add({.name = "half", .kind = Pointwise{PointwiseKind::view, 1000}, .inputs = {x}}, {1, 500}));
    const BlockKernels kernels = block_kernels(std::move(graph).build(), BlockRole::layer, plan, round_machine::framework());
    EXPECT_TRUE(kernels.forward.empty());
    ASSERT_EQ(kernels.backward.size(), 1U);  // the gradient of the half is read, that of the whole is written
    EXPECT_EQ(kernels.backward.front().bytes / size_of(plan.precision.activation), 1500);
}

TEST(ImageKernels, OfADilatedConvolutionAreNoneOfWinogradsDomain) {
    Convolution c{.in_channels = 64, .out_channels = 64, .in_h = 9, .in_w = 9, .out_h = 9, .out_w = 9, .kernel_h = 3, .kernel_w = 3};
    c.padding_h = c.padding_w = 1;
    EXPECT_EQ(kernels_of(c, {}).forward[0].window, Window::winograd);
    c.dilation = c.padding_h = c.padding_w = 2;
    EXPECT_EQ(kernels_of(c, {}).forward[0].window, Window::other);
}

// Under full recomputation a block keeps what it reads, not what goes past it.
TEST(ImageKernels, WhatABlockOnlyHandsOnIsKeptByTheOneThatReadsIt) {
    Plan plan;
    const Network network = build_network({"unet", "", ConvolutionalSpec{.name = "unet", .image_px = 32, .classes = 2}, ""}, {});
    const auto kept = [&](std::size_t position) {
        const Block& b = network.templates[static_cast<std::size_t>(network.sequence[position])];
        return block_kernels(b.graph, b.role, plan, round_machine::framework()).kept_input / size_of(plan.precision.activation);
    };
    EXPECT_EQ(kept(9), 1024 * 2 * 2);                 // four larger images go past it
    EXPECT_EQ(kept(10), 1024 * 2 * 2 + 512 * 4 * 4);  // reads one of them
}

}  // namespace
}  // namespace sextant
