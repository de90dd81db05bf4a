// Attention by cuDNN in 16 bits against that of backend/kernels/ in fp32, at the same rounded numbers. Takes a GPU.
#include "backend/cuda/fused_attention.hpp"
#include "backend/cuda/gpu.hpp"
#include "backend/exec/reals.hpp"
#include "tests/backend/arrays.hpp"
#include "tests/backend/engine.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace sextant {
namespace {

OperatorGraph graph_of(const Attention& a) {
    OperatorGraphBuilder b;
    const TensorId q = b.input("q", {a.batch * a.query_len, a.heads * a.head_dim}, TensorRole::activation);
    const TensorId k = b.input("k", {a.batch * a.key_len, a.kv_heads * a.head_dim}, TensorRole::activation);
    const TensorId v = b.input("v", {a.batch * a.key_len, a.kv_heads * a.value_dim}, TensorRole::activation);
    b.output(b.add({.name = "attention", .kind = a, .inputs = {q, k, v}}, {a.batch * a.query_len, a.heads * a.value_dim}));
    b.also("lse", {a.batch, a.heads, a.query_len}, TensorRole::statistic);
    return std::move(b).build();
}

struct Operands {
    std::vector<Array> inputs, outputs, input_gradients, output_gradients;

    // The numbers are such that `rounded` has.
    Operands(ComputeDevice& device, const OperatorGraph& graph, Element element, Element rounded) {
        const auto put = [&](const std::vector<float>& values) {
            return uploaded(device, downloaded(device, uploaded(device, values, rounded)), element);
        };
        for (const TensorId id : graph.inputs()) {
            const auto count = static_cast<std::int64_t>(graph.tensor(id).elements());
            inputs.push_back(put(made_reals(Made::input, {inputs.size()}, count)));
            input_gradients.push_back(device.allocate(count, element));
        }
        for (const TensorId id : graph.operators().front().outputs) {
            const Tensor& t = graph.tensor(id);
            outputs.push_back(device.allocate(static_cast<std::int64_t>(t.elements()), element_of(t.role, element)));
        }
        output_gradients = {put(made_reals(Made::gradient, {0}, outputs[0].elements)), {}};
    }
    [[nodiscard]] OperatorCall call(const OperatorGraph& graph) const {
        return {.graph = graph,
                .op = graph.operators().front(),
                .inputs = inputs,
                .outputs = outputs,
                .weights = {},
                .input_gradients = input_gradients,
                .output_gradients = output_gradients,
                .weight_gradients = {},
                .place = {}};
    }
    [[nodiscard]] std::vector<std::vector<float>> results(ComputeDevice& device) const {
        std::vector<std::vector<float>> all;
        for (const auto& list : {outputs, input_gradients})
            for (const Array& a : list) all.push_back(downloaded(device, a));
        return all;
    }
};

class FusedAttentionOnGpu : public testing::TestWithParam<Attention> {};

TEST_P(FusedAttentionOnGpu, AgreesWithItselfInFp32AndIsTheSameEveryTime) {
    const Attention& a = GetParam();
    const kernels::AttentionPart part = kernels::parts_of(a, {}).front();
    const OperatorGraph graph = graph_of(a);
    const std::unique_ptr<ComputeDevice> device = make_device();
    if (cuda::facts_of(0).capability < 80) GTEST_SKIP() << "fused attention takes a GPU of compute capability 8.0";
    for (const auto& [element, tolerance] : {std::pair{Element::bf16, 0x1p-6}, std::pair{Element::fp16, 0x1p-9}}) {
        SCOPED_TRACE(element == Element::bf16 ? "bf16" : "fp16");
        const Operands wide(*device, graph, Element::real, element), half(*device, graph, element, element);
        device->forward(wide.call(graph));
        device->backward(wide.call(graph));
        device->finish();

        const cuda::WorkStream stream(0);
        std::vector<Array> in_use;  // by the stream, until it is through
        cuda::Launches launches(cuda::GraphStream(0, stream), false);
        cuda::FusedAttention fused(launches, cuda::cudnn_on(stream.get()),
                                   [&](std::int64_t reals) { return in_use.emplace_back(device->allocate(reals)); });
        std::vector<std::vector<float>> first;
        for (int time = 0; time < 2; ++time) {
            ASSERT_TRUE(fused.forward(part, half.call(graph))) << "cuDNN refuses; CUDNN_LOGLEVEL_DBG=2 says why";
            ASSERT_TRUE(fused.backward(part, half.call(graph), half.input_gradients[1], half.input_gradients[2]))
                << "cuDNN refuses; CUDNN_LOGLEVEL_DBG=2 says why";
            EXPECT_EQ(fused.passes(), "forward and backward");
            stream.wait();
            const auto found = half.results(*device), expected = wide.results(*device);
            for (std::size_t i = 0; i < found.size(); ++i) EXPECT_LT(relative_error(found[i], expected[i]), tolerance) << i;
            if (time == 0)
                first = found;
            else
                EXPECT_EQ(found, first);
        }
    }
}

// Samples, heads, key-value heads, queries, keys, widths. Of the last one, backward takes a key-value head at a time.
INSTANTIATE_TEST_SUITE_P(Shapes, FusedAttentionOnGpu,
                         testing::Values(Attention{2, 4, 4, 128, 128, 64, 64, true}, Attention{2, 8, 2, 197, 197, 64, 64, false},
                                         Attention{3, 6, 2, 70, 70, 128, 128, true}, Attention{2, 4, 4, 64, 200, 64, 64, false},
                                         Attention{1, 16, 4, 1024, 1024, 128, 128, true}, Attention{1, 16, 4, 8192, 8192, 64, 64, true},
                                         Attention{2, 8, 2, 600, 600, 64, 64, true, 100}, Attention{2, 4, 2, 100, 300, 64, 64, true},
                                         Attention{2, 4, 2, 100, 300, 64, 64, true, 70}));

}  // namespace
}  // namespace sextant
