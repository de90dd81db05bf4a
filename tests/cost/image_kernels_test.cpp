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

std::size_t copies_of_layouts(DataType type, ComputeUnit unit, bool channels_last) {
    Plan plan;
    plan.micro_batch = plan.global_batch = 4;
    plan.channels_last = channels_last;
    plan.precision.compute = plan.precision.activation = plan.precision.parameter = type;
    const Network network = build_network({"resnet18", "", ConvolutionalSpec{.name = "resnet18", .image_px = 64}, ""}, {.micro_batch = 4});
    std::size_t count = 0;
    for (const Block& b : network.templates) {
        const BlockKernels kernels = block_kernels(b.graph, b.role, plan, round_machine::framework(), false, unit);
        count +=
            static_cast<std::size_t>(std::ranges::count_if(kernels.forward, [](const Kernel& k) { return k.name.ends_with(".layout"); }));
    }
    return count;
}

TEST(ImageKernels, CopyLayoutsWhereTensorUnitsMultiply16BitsAndChannelsLieApart) {
    EXPECT_GT(copies_of_layouts(DataType::fp16, ComputeUnit::tensor, false), 0U);
    EXPECT_EQ(copies_of_layouts(DataType::fp16, ComputeUnit::tensor, true), 0U);
    EXPECT_EQ(copies_of_layouts(DataType::fp16, ComputeUnit::vector, false), 0U);  // a GTX 1080 Ti multiplies FP16 as FP32
    EXPECT_EQ(copies_of_layouts(DataType::fp32, ComputeUnit::tensor, false), 0U);  // TF32 has kernels for either
}

}  // namespace
}  // namespace sextant
