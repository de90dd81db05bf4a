// Where a network is cut into blocks must not show in what it costs: the blocks together run the kernels, and keep the activations, of the
// same network as one graph.
#include "model/cost/kernel.hpp"
#include "tests/cost/round_machine.hpp"
#include "tests/workload/joined_network.hpp"
#include "tests/workload/network_sums.hpp"

#include "model/workload/workload.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

struct Cost {
    std::int64_t forward_launches = 0, backward_launches = 0;
    double forward_bytes = 0, backward_bytes = 0, flops = 0, saved_bytes = 0, parameters = 0;

    void add(const BlockKernels& k) {
        for (const Kernel& f : k.forward) forward_launches += f.launches, forward_bytes += f.bytes.si(), flops += f.flops.si();
        for (const Kernel& b : k.backward) backward_launches += b.launches, backward_bytes += b.bytes.si(), flops += b.flops.si();
        saved_bytes += (k.saved + k.saved_logits).si();
        parameters += k.trained.dense;
    }
};

struct BoundaryCut {
    int tensor = 1;
    Fusion fusion = Fusion::none;
};

void expect_equal_costs(const Workload& workload, const BoundaryCut& cut) {
    Plan plan;
    plan.micro_batch = plan.global_batch = 4;
    plan.tp = cut.tensor;
    Framework framework = round_machine::framework();
    framework.fusion = cut.fusion;
    const Network network = build_network(workload, {.micro_batch = 4, .tensor = cut.tensor});
    Cost blocks, one;
    for (const int t : network.sequence)
        blocks.add(block_kernels(network.templates[static_cast<std::size_t>(t)].graph, BlockRole::layer, plan, framework));
    one.add(block_kernels(joined(network), BlockRole::layer, plan, framework));
    SCOPED_TRACE(workload.name + ", tp " + std::to_string(cut.tensor) + ", fusion " + std::to_string(static_cast<int>(cut.fusion)));
    EXPECT_EQ(blocks.forward_launches, one.forward_launches);
    EXPECT_EQ(blocks.backward_launches, one.backward_launches);
    EXPECT_DOUBLE_EQ(blocks.forward_bytes, one.forward_bytes);
    EXPECT_DOUBLE_EQ(blocks.backward_bytes, one.backward_bytes);
    EXPECT_DOUBLE_EQ(blocks.flops, one.flops);
    EXPECT_DOUBLE_EQ(blocks.saved_bytes, one.saved_bytes);
    EXPECT_DOUBLE_EQ(blocks.parameters, one.parameters);
}

void expect_equal_costs(const Workload& workload) {
    for (const int tensor : {1, 2})
        for (const Fusion fusion : {Fusion::none, Fusion::pointwise, Fusion::compiler}) expect_equal_costs(workload, {tensor, fusion});
}

TEST(BlockBoundaries, AConvolutionalNetworkCostsWhatItCostsInOnePiece) {
    for (const std::string& name : convolutional_names()) {
        const Workload workload{name, name, ConvolutionalSpec{.name = name, .image_px = 299}, ""};
        for (int tensor = 1; tensor <= (has_odd_cut(name, 299) ? 1 : 2); ++tensor)
            for (const Fusion fusion : {Fusion::none, Fusion::pointwise, Fusion::compiler})
                if (fusion == Fusion::none || !begins_blocks_with_passes(name, 299, fusion == Fusion::compiler))
                    expect_equal_costs(workload, {tensor, fusion});
    }
}

TEST(BlockBoundaries, AMultilayerPerceptronCostsWhatItCostsInOnePiece) {
    for (const PointwiseKind activation : {PointwiseKind::relu, PointwiseKind::gelu})  // one needs its output, the other its input
        expect_equal_costs({"mlp", "mlp", MlpSpec{.widths = {784, 512, 512, 256, 10}, .activation = activation}, ""});
}

TEST(BlockBoundaries, AChainCostsWhatItCostsInOnePiece) {
    using Kind = ChainLayer::Kind;
    const ChainLayer conv{.kind = Kind::conv, .width = 16, .kernel = 3}, norm{.kind = Kind::norm}, relu{.kind = Kind::activation},
        begin{.kind = Kind::residual_begin}, end{.kind = Kind::residual_end}, pool{.kind = Kind::pool, .kernel = 2, .stride = 2},
        drop{.kind = Kind::dropout}, dense{.kind = Kind::dense, .width = 64};
    expect_equal_costs({"chain", "chain",
                        ChainSpec{.input_shape = {3, 32, 32},
                                  .layers = {norm, conv, norm, relu, begin, conv, norm, relu, conv, end, relu, pool, conv, pool, relu,
                                             dense, relu, drop, dense}},
                        ""});
    const auto named = [](ChainLayer layer, std::string name, std::vector<std::string> from = {}) {
        layer.name = std::move(name);
        layer.from = std::move(from);
        return layer;
    };
    const ChainLayer up{.kind = Kind::conv, .width = 16, .kernel = 2, .stride = 2, .transposed = true}, join{.kind = Kind::concat};
    expect_equal_costs({"encoder and decoder", "",
                        ChainSpec{.input_shape = {3, 32, 32},
                                  .layers = {conv,
                                             norm,
                                             named(relu, "a"),
                                             pool,
                                             conv,
                                             norm,
                                             named(relu, "b"),
                                             pool,
                                             conv,
                                             norm,
                                             relu,
                                             named(up, "up"),
                                             named(join, "", {"b", "up"}),
                                             conv,
                                             norm,
                                             relu,
                                             named(up, "top"),
                                             named(join, "", {"a", "top"}),
                                             conv,
                                             norm,
                                             relu},
                                  .per_pixel = true},
                        ""});
}

}  // namespace
}  // namespace sextant
