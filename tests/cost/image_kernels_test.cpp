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
    const Framework framework = round_machine::framework();  // one kernel an operator
    const Network network = build_network({"resnet18", "", ConvolutionalSpec{.name = "resnet18", .image_px = 64}, ""}, {.micro_batch = 4});
    for (const Block& b : network.templates) {
        const BlockKernels train = block_kernels(b.graph, b.role, training, framework);
        const BlockKernels infer = block_kernels(b.graph, b.role, inference, framework);
        ASSERT_EQ(train.forward.size(), infer.forward.size());
        std::ptrdiff_t less = 0;
        for (std::size_t i = 0; i < train.forward.size(); ++i) {
            if (train.forward[i].bytes == infer.forward[i].bytes) continue;
            ++less;
            EXPECT_DOUBLE_EQ(infer.forward[i].bytes / train.forward[i].bytes, 2.0 / 3) << train.forward[i].name;
        }
        EXPECT_EQ(less, std::ranges::count_if(b.graph.operators(),
                                              [](const Operator& op) { return std::holds_alternative<Normalization>(op.kind); }));
    }
}

}  // namespace
}  // namespace sextant
