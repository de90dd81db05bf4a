// What a block keeps, draws, drops and refuses.
#include "backend/exec/block_program.hpp"

#include "backend/exec/executable_graph.hpp"
#include "tests/backend/arrays.hpp"
#include "tests/backend/engine.hpp"
#include "tests/backend/networks.hpp"
#include "tests/backend/single_rank.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sextant {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

// Bytes that saved_for_backward says, in fp32, and what execution adds: the labels of networks on images and the statistics of the losses.
double bytes_to_keep(const BlockProgram& program) {
    double bytes = 0;
    for (const TensorId id : saved_for_backward(program.graph())) {
        const Tensor& t = program.graph().tensor(id);
        bytes += t.elements() * static_cast<double>(bytes_of(element_of(t.role, Element::real)));
    }
    return bytes;
}

// What a block hands on and needs again itself, where the block behind does not keep it for its own backward.
double bytes_kept_for(const BlockProgram& writer, const BlockProgram& behind) {
    if (!leaves_needed_output(writer.graph())) return 0;
    const std::vector<TensorId> saved = saved_for_backward(behind.graph());
    if (std::ranges::find(saved, behind.graph().inputs().front()) != saved.end()) return 0;
    const Tensor& t = writer.graph().tensor(writer.graph().outputs().front());
    return t.elements() * static_cast<double>(bytes_of(element_of(t.role, Element::real)));
}

// Of 32 columns 16 are sines, of waves of 2 pi to nearly 20000 pi positions, and 16 their cosines.
TEST(BlockProgram, DrawsTablesOfSinusoidsThatAreNotTrained) {
    Workload w = small_network("gpt").workload;
    std::get<TransformerSpec>(w.spec).position = PositionKind::sinusoidal;
    const OperatorGraph graph = build_network(w, {}).templates.front().graph;
    const BlockProgram program(graph, graph, {}, {});
    const auto table = std::ranges::find(program.parameters(), "positions.rows", &ParameterTensor::name);
    ASSERT_NE(table, program.parameters().end());
    EXPECT_EQ(table->run, RunKind::frozen);
    std::vector<float> rows(static_cast<std::size_t>(table->elements()));
    draw(*table, 7, rows);
    for (std::size_t row = 0; row < 8; ++row) {
        EXPECT_NEAR(rows[32 * row], std::sin(static_cast<double>(row)), 1e-6);
        EXPECT_NEAR(rows[32 * row + 8], std::sin(static_cast<double>(row) / 100), 1e-6);
        EXPECT_NEAR(rows[32 * row + 24], std::cos(static_cast<double>(row) / 100), 1e-6);
    }
}

TEST(BlockProgram, KeepsWhatTheModelSaysThatBackwardReads) {
    for (const char* name : {"mlp", "resnet18", "gpt", "llama", "bert", "vit"}) {
        const std::unique_ptr<ComputeDevice> made = make_device();
        ComputeDevice& device = *made;
        SingleRank alone;
        const SmallNetwork small = small_network(name);
        WholeNetwork net(device, alone, small.workload, {.shard = {.micro_batch = small.samples}});
        net.draw_weights(1);
        net.clear_gradients();
        net.forward_and_backward(made_data(device, name));
        double expected = 0;
        for (std::size_t b = 0; b < net.blocks(); ++b) {
            expected += bytes_to_keep(net.program(b));
            if (b + 1 < net.blocks()) expected += bytes_kept_for(net.program(b), net.program(b + 1));
        }
        EXPECT_EQ(static_cast<double>(net.kept_bytes()), expected) << name;
    }
}

TEST(BlockProgram, KeepsItsInputsAloneWhenItIsRecomputed) {
    const std::unique_ptr<ComputeDevice> made = make_device();
    ComputeDevice& device = *made;
    SingleRank alone;
    const SmallNetwork small = small_network("gpt");
    WholeNetwork net(device, alone, small.workload, {.shard = {.micro_batch = 3}, .recomputed = true});
    net.draw_weights(1);
    net.clear_gradients();
    net.forward_and_backward(made_data(device, "gpt"));
    // 24 token ids of 8 bytes, three hidden states [24, 32] of fp32 in front of two layers and the head, 24 labels.
    EXPECT_EQ(net.kept_bytes(), 24 * 8 + 3 * 24 * 32 * 4 + 24 * 8);
}

TEST(BlockProgram, LeavesNothingBehindButParametersAndGradients) {
    const std::unique_ptr<ComputeDevice> made = make_device();
    ComputeDevice& device = *made;
    SingleRank alone;
    const SmallNetwork small = small_network("gpt");
    WholeNetwork net(device, alone, small.workload, {.shard = {.micro_batch = 3}});
    net.draw_weights(1);
    net.clear_gradients();
    const std::int64_t before = device.bytes_in_use();
    net.forward_and_backward(made_data(device, "gpt"));
    EXPECT_EQ(device.bytes_in_use(), before);
    EXPECT_GT(device.peak_bytes(), before + net.kept_bytes());
}

TEST(BlockProgram, DropsEachSamplesElementsWhateverTheMicroBatch) {
    OperatorGraphBuilder two, one;
    const Pointwise dropout{.kind = PointwiseKind::dropout, .constant = 0.25};
    const auto build = [&](OperatorGraphBuilder& b, std::int64_t samples) {
        const TensorId x = b.input("x", {samples, 1000});
        const TensorId y = b.add({.name = "dropout", .kind = dropout, .inputs = {x}}, {samples, 1000});
        b.also("mask", {samples, 1000}, TensorRole::mask);
        b.output(y);
        return std::move(b).build();
    };
    const OperatorGraph both = build(two, 2), single = build(one, 1);
    const std::unique_ptr<ComputeDevice> made = make_device();
    ComputeDevice& device = *made;
    SingleRank alone;
    const auto run = [&](const OperatorGraph& graph, std::int64_t samples, std::int64_t first, std::uint64_t step) {
        const BlockProgram program(graph, graph, Plan{}, {.samples = samples});
        const BlockContext context{device, alone, {}, {}, {.seed = 1, .step = step, .first_sample = first}};
        const std::vector<Array> inputs{to_device(device, std::vector<float>(static_cast<std::size_t>(samples * 1000), 3.0F))};
        return from_device(device, program.forward(context, inputs, nullptr).front());
    };
    const std::vector<float> together = run(both, 2, 6, 0), apart = run(single, 1, 7, 0), later = run(single, 1, 7, 1);
    EXPECT_EQ(std::vector<float>(together.begin() + 1000, together.end()), apart);
    EXPECT_NE(apart, later);
    EXPECT_NE(std::vector<float>(together.begin(), together.begin() + 1000), apart);
    // A quarter is zero (of 1000 draws 250, give or take four deviations of 14), the rest 3 / 0.75 = 4.
    const auto zeros = std::count(apart.begin(), apart.end(), 0.0F), fours = std::count(apart.begin(), apart.end(), 4.0F);
    EXPECT_EQ(zeros + fours, 1000);
    EXPECT_NEAR(static_cast<double>(zeros), 250, 56);
}

TEST(BlockProgram, DrawsWeightsAsTheirKindBegins) {
    const std::unique_ptr<ComputeDevice> made = make_device();
    ComputeDevice& device = *made;
    SingleRank alone;
    WholeNetwork net(device, alone, small_network("gpt").workload, {.shard = {.micro_batch = 3}});
    net.draw_weights(5);
    net.for_each_parameter([&](std::size_t, const ParameterTensor& p, const Array& weights, const Array&) {
        const std::vector<float> w = from_device(device, weights);
        const double n = static_cast<double>(w.size()), mean = std::accumulate(w.begin(), w.end(), 0.0) / n;
        const double deviation = std::sqrt(std::inner_product(w.begin(), w.end(), w.begin(), 0.0) / n - mean * mean);
        const auto is = [&](const char* kind) { return p.name.ends_with(kind); };
        if (is(".gain")) {
            EXPECT_THAT(w, testing::Each(1.0F));
        } else if (is(".shift") || is(".bias")) {
            EXPECT_THAT(w, testing::Each(0.0F));
        } else if (is(".weight")) {
            // Uniform in 1 / sqrt(inputs) has the deviation 1 / sqrt(3 inputs); 1024 values and more show it to a few percent.
            EXPECT_NEAR(deviation * std::sqrt(3.0 * static_cast<double>(p.columns)), 1, 0.05) << p.name;
        } else {
            EXPECT_NEAR(deviation, 0.02, 0.003) << p.name;  // 256 values and more
        }
    });
}

TEST(BlockProgram, RefusesWhatCannotRunWithItsReason) {
    TransformerSpec s = std::get<TransformerSpec>(small_network("gpt").workload.spec);
    const auto reasons = [](const TransformerSpec& spec, const Shard& shard) {
        Workload w;
        w.spec = spec;
        std::vector<Diagnostic> all;
        for (const Block& b : build_network(w, shard).templates)
            for (Diagnostic& d : unsupported(b.graph)) all.push_back(std::move(d));
        return all;
    };
    const auto says = [](const char* words) { return Field(&Diagnostic::what, HasSubstr(words)); };
    EXPECT_THAT(reasons(s, {}), IsEmpty());
    EXPECT_THAT(reasons(s, {.context = 2}), IsEmpty());
    TransformerSpec experts = s, latent = s, relative = s, alibi = s, predicting = s;
    experts.moe = MixtureOfExperts{.ffn_hidden = 32};
    EXPECT_THAT(reasons(experts, {}), IsEmpty());
    EXPECT_THAT(reasons(experts, {.tensor = 2, .expert = 4, .sequence_parallel = true}), IsEmpty());
    experts.moe->sigmoid_router = true;
    EXPECT_THAT(reasons(experts, {}), IsEmpty());
    experts.moe = MixtureOfExperts{.ffn_hidden = 32};
    experts.mlp = MlpKind::relu;
    EXPECT_THAT(reasons(experts, {}), ElementsAre(says("ReLU")));
    latent.position = PositionKind::rotary;
    latent.mla = LatentAttention{.kv_rank = 16, .qk_nope_dim = 8, .qk_rope_dim = 4, .value_dim = 8};
    EXPECT_THAT(reasons(latent, {.tensor = 2}), IsEmpty());
    relative.position = PositionKind::relative;
    EXPECT_THAT(reasons(relative, {.flash_attention = false}), testing::Contains(says("relative")));
    alibi.position = PositionKind::alibi;
    EXPECT_THAT(reasons(alibi, {}), IsEmpty());
    EXPECT_THAT(reasons(alibi, {.flash_attention = false}), IsEmpty());
    predicting.mtp_layers = 1;
    EXPECT_THAT(reasons(predicting, {}), IsEmpty());
}

}  // namespace
}  // namespace sextant
