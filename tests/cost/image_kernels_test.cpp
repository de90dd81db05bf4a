// Kernels of networks that work on images.
#include "model/cost/kernel.hpp"
#include "tests/cost/round_machine.hpp"

#include "model/workload/workload.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sextant {
namespace {

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

}  // namespace
}  // namespace sextant
