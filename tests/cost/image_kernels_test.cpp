// Kernels of networks that work on images.
#include "model/cost/kernel.hpp"
#include "tests/cost/round_machine.hpp"

#include "model/workload/workload.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sextant
