#include "model/workload/builders.hpp"
#include "tests/base/refusal.hpp"
#include "tests/workload/network_sums.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;
using testing::ElementsAre;
using Kind = ChainLayer::Kind;

const ChainLayer batch_norm{.kind = Kind::norm}, relu{.kind = Kind::activation}, begin{.kind = Kind::residual_begin},
    end{.kind = Kind::residual_end}, global_pool{.kind = Kind::pool, .pooling = PoolingKind::global_average};
ChainLayer conv(std::int64_t width, std::int64_t stride = 1) { return {.kind = Kind::conv, .width = width, .kernel = 3, .stride = stride}; }
ChainLayer dense(std::int64_t width) { return {.kind = Kind::dense, .width = width}; }

TEST(Chain, HasTheParametersAndSavedTensorsThatOneCountsByHand) {
    // Convolutions with bias: 3*16*9 + 16 = 448, then 16*16*9 + 16 = 2,320 twice; batch norms 2*16 = 32 thrice; classifier 16*10 + 10 =
    // 170. Saved, of 16 x 32 x 32 = 16,384 elements each: the outputs of three convolutions (read by batch norms) and of three ReLUs; the
    // data, 3 x 32 x 32 = 3,072; and the 16 averages that the classifier reads.
    const Network network = build_chain(
        {.input_shape = {3, 32, 32},
         .layers = {conv(16), batch_norm, relu, begin, conv(16), batch_norm, relu, conv(16), batch_norm, end, relu, global_pool}},
        {});
    EXPECT_EQ(network.parameters(), 448 + 2 * 2'320 + 3 * 32 + 170);
    EXPECT_EQ(sum_saved_elements(network), 6 * 16'384 + 3'072 + 16);
}

TEST(Chain, ABlockBeginsAtAMatrixOrAResidualAndEqualOnesShareATemplate) {
    std::vector<ChainLayer> layers{conv(16), batch_norm, relu};
    for (int i = 0; i < 3; ++i) layers.insert(layers.end(), {begin, conv(16), batch_norm, relu, conv(16), end, relu});
    const Network network = build_chain({.input_shape = {3, 32, 32}, .layers = layers}, {});
    std::vector<std::string> names;
    for (const int t : network.sequence) names.push_back(network.templates[static_cast<std::size_t>(t)].name);
    const std::string residual = "(, conv 16 3x3/1, batch norm, relu, conv 16 3x3/1, ), relu";
    EXPECT_THAT(names, ElementsAre("conv 16 3x3/1, batch norm, relu", residual, residual, residual, "head"));
    EXPECT_EQ(network.templates.size(), 3);
}

TEST(Chain, DenseLayersMakeTheSameNetworkAsAnMlp) {
    for (const int tp : {1, 2}) {
        const Shard shard{.micro_batch = 8, .tensor = tp};
        const Network chain = build_chain({.input_shape = {784}, .layers = {dense(512), relu, dense(512), relu}}, shard);
        const Network mlp = build_mlp({.widths = {784, 512, 512, 10}}, shard);
        EXPECT_EQ(chain.parameters(), mlp.parameters());
        EXPECT_EQ(sum_forward_flops(chain), sum_forward_flops(mlp));
        EXPECT_EQ(sum_saved_elements(chain), sum_saved_elements(mlp));
    }
}

TEST(Chain, ResidualsNest) {
    const Network network =
        build_chain({.input_shape = {8, 4, 4}, .layers = {begin, conv(8), begin, conv(8), end, end, relu}}, {.micro_batch = 2});
    std::size_t additions = 0;
    for (const Pointwise& p : operators_of<Pointwise>(graph_at(network, 0))) additions += p.kind == PointwiseKind::add ? 1 : 0;
    EXPECT_EQ(additions, 2);
}

TEST(Chain, ADenseLayerFlattensTheImageThatReachesIt) {
    // 3 x 8 x 8 -> conv, stride 2 -> 4 x 4 x 4 -> dense 5: 64*5 + 5 weights.
    const Network network = build_chain({.input_shape = {3, 8, 8}, .layers = {conv(4, 2), dense(5)}}, {});
    EXPECT_EQ(graph_at(network, 1).parameters(), 64 * 5 + 5);
}

ChainLayer named(ChainLayer layer, std::string name, std::vector<std::string> from = {}) {
    layer.name = std::move(name);
    layer.from = std::move(from);
    return layer;
}
ChainLayer join(Kind kind, std::vector<std::string> from) { return named({.kind = kind}, "", std::move(from)); }

TEST(Chain, LayersReadWhatTheyName) {
    // 8*4*9 + 4 = 292 and 8*12*9 + 12 = 876 side by side make 16 channels; a gate of 16*16*9 + 16 = 2,320; the classifier 16*10 + 10.
    const Network network = build_chain({.input_shape = {8, 16, 16},
                                         .layers = {named(conv(4), "left"), named(conv(12), "right", {"input"}),
                                                    named(join(Kind::concat, {"left", "right"}), "both", {"left", "right"}), global_pool,
                                                    named(conv(16), "factor"), join(Kind::multiply, {"both", "factor"}), global_pool}},
                                        {});
    EXPECT_EQ(network.parameters(), 292 + 876 + 2'320 + 170);
    EXPECT_EQ(network.sequence.size(), 2) << "two images are read further on: nothing can be cut off but the head";
}

TEST(Chain, AResidualMayBeWrittenOut) {
    const std::vector<ChainLayer> marked{conv(16), relu, begin, conv(16), conv(16), end, relu, conv(16), global_pool};
    const std::vector<ChainLayer> wired{conv(16), named(relu, "x"), conv(16),   named(conv(16), "y"), join(Kind::add, {"y", "x"}),
                                        relu,     conv(16),         global_pool};
    for (const int tp : {1, 2}) {
        const Network a = build_chain({.input_shape = {3, 16, 16}, .layers = marked}, {.tensor = tp});
        const Network b = build_chain({.input_shape = {3, 16, 16}, .layers = wired}, {.tensor = tp});
        EXPECT_EQ(a.parameters(), b.parameters());
        EXPECT_EQ(sum_forward_flops(a), sum_forward_flops(b));
        EXPECT_EQ(sum_saved_elements(a), sum_saved_elements(b));
        EXPECT_EQ(a.sequence.size(), b.sequence.size());
    }
}

ChainLayer up(std::int64_t width) { return {.kind = Kind::conv, .width = width, .kernel = 2, .stride = 2, .transposed = true}; }
const ChainLayer halve{.kind = Kind::pool, .kernel = 2, .stride = 2};

// A U-Net of three sizes, 8 x 16 x 16 at the first.
std::vector<ChainLayer> small_unet() {
    return {conv(8),
            named(relu, "large"),
            halve,
            conv(16),
            named(relu, "middle"),
            halve,
            conv(32),
            relu,
            named(up(16), "up"),
            join(Kind::concat, {"middle", "up"}),
            conv(16),
            relu,
            named(up(8), "top"),
            join(Kind::concat, {"large", "top"}),
            conv(8),
            relu};
}

TEST(Chain, WhatADecoderJoinsGoesPastTheBlocksInBetween) {
    const Network network =
        build_chain({.input_shape = {3, 16, 16}, .layers = small_unet(), .classes = 5, .per_pixel = true}, {.micro_batch = 2});
    // One block for each of seven convolutions, and the head.
    ASSERT_EQ(network.sequence.size(), 8);
    const std::vector<std::size_t> beside{1, 2, 2, 1, 1, 0, 0};  // images, behind each block
    for (std::size_t i = 0; i < beside.size(); ++i) EXPECT_EQ(graph_at(network, i).outputs().size(), 1 + beside[i]) << i;
    // Weights and biases: 3x3 from 3 to 8 to 16 to 32, 2x2 from 32 to 16, 3x3 from 32 to 16, 2x2 from 16 to 8, 3x3 from 16 to 8, 8 to 5.
    EXPECT_EQ(network.parameters(),
              27 * 8 + 8 + 72 * 16 + 16 + 144 * 32 + 32 + 128 * 16 + 16 + 288 * 16 + 16 + 64 * 8 + 8 + 144 * 8 + 8 + 45);
    const auto losses = operators_of<CrossEntropy>(network.templates.back().graph);
    ASSERT_EQ(losses.size(), 1);
    EXPECT_EQ(losses[0].rows, 2 * 16 * 16);
    EXPECT_EQ(losses[0].classes, 5);
}

TEST(Chain, ATransposedConvolutionMakesAnImageThatOneCountsByHand) {
    const auto size_behind = [](ChainLayer layer) {
        layer.kind = Kind::conv;
        layer.width = 4;
        layer.transposed = true;
        const Network network = build_chain({.input_shape = {3, 7, 7}, .layers = {conv(4), layer, conv(4)}}, {});
        return operators_of<Convolution>(graph_at(network, 1)).front().out_h;
    };
    EXPECT_EQ(size_behind({.kernel = 2, .stride = 2}), 14);
    EXPECT_EQ(size_behind({.kernel = 3, .stride = 2}), 14);                // padded by one, and one more behind
    EXPECT_EQ(size_behind({.kernel = 4, .stride = 2}), 14);                // padded by one
    EXPECT_EQ(size_behind({.kernel = 3, .stride = 2, .padding = 0}), 15);  // 6 x 2 + 3
    EXPECT_EQ(size_behind({.kernel = 16, .stride = 8}), 56);               // FCN's (arXiv 1411.4038)
    EXPECT_EQ(size_behind({.kernel = 3}), 7);
}

TEST(Chain, AnUpsampledImageIsAsManyTimesAsLarge) {
    const Network network =
        build_chain({.input_shape = {3, 7, 7}, .layers = {conv(4), {.kind = Kind::upsample, .stride = 3}, conv(4)}}, {});
    EXPECT_EQ(operators_of<Convolution>(graph_at(network, 1)).front().in_h, 21);
}

TEST(Chain, ADilatedConvolutionKeepsTheSizeUnlessTold) {
    ChainLayer wide = conv(4), bare = conv(4);
    wide.dilation = bare.dilation = 3;
    bare.padding = 0;
    const Network network = build_chain({.input_shape = {3, 16, 16}, .layers = {wide, bare, conv(4)}}, {});
    EXPECT_EQ(operators_of<Convolution>(graph_at(network, 1)).front().in_h, 16);
    EXPECT_EQ(operators_of<Convolution>(graph_at(network, 2)).front().in_h, 10);  // windows reach over 7
}

TEST(Chain, WhatCannotBeMadeLargerIsReportedWhereItIs) {
    const auto build = [](ChainSpec spec) { return [=] { build_chain(spec, {}); }; };
    ChainLayer grouped = up(8), gone = up(8);
    grouped.groups = 4;
    gone.padding = 20;
    EXPECT_THAT(
        refused_pointers(
            build({.input_shape = {8, 16, 16}, .layers = {grouped, gone, {.kind = Kind::upsample, .stride = 10'000}, dense(4), up(4)}})),
        ElementsAre("/workload/chain/layers/0", "/workload/chain/layers/1", "/workload/chain/layers/2", "/workload/chain/layers/4"));
    EXPECT_THAT(refused_pointers(build({.input_shape = {8}, .layers = {dense(4)}, .per_pixel = true})),
                ElementsAre("/workload/chain/per_pixel"));
    EXPECT_THAT(refused_pointers(build({.input_shape = {8, 4, 4}, .layers = {dense(4)}, .per_pixel = true})),
                ElementsAre("/workload/chain/per_pixel"));
}

TEST(Chain, WiringThatMakesNoSenseIsReportedWhereItIs) {
    const auto build = [](std::vector<ChainLayer> layers) {
        return [=] { build_chain({.input_shape = {8, 16, 16}, .layers = layers}, {}); };
    };
    EXPECT_THAT(refused_pointers(build({named(conv(8), "a"), named(conv(8), "a", {"b"}), join(Kind::add, {"a"}), conv(8), conv(4),
                                        named(relu, "", {"input"})})),
                ElementsAre("/workload/chain/layers/1/from/0", "/workload/chain/layers/1/name", "/workload/chain/layers/2/from",
                            "/workload/chain/layers/4"));
    EXPECT_THAT(refused_pointers(build({named(conv(8), "a"), named(conv(4, 2), "b"), join(Kind::add, {"a", "b"})})),
                ElementsAre("/workload/chain/layers/2"));
    EXPECT_THAT(refused_pointers(build({named(conv(8), "a"), named(conv(8), "b"), join(Kind::multiply, {"a", "b"})})),
                ElementsAre("/workload/chain/layers/2"));
}

TEST(Chain, EveryProblemIsReportedWhereItIs) {
    const auto build = [](ChainSpec spec, Shard shard = {}) { return [=] { build_chain(spec, shard); }; };
    EXPECT_THAT(refused_pointers(build({.input_shape = {3, 0}, .layers = {}, .classes = 0}, {.context = 2})),
                ElementsAre("/plan/cp", "/workload/chain/classes", "/workload/chain/input_shape", "/workload/chain/input_shape/1"));

    ChainLayer no_function = relu, odd_groups = conv(16);
    no_function.function = PointwiseKind::gate;
    odd_groups.groups = 5;
    EXPECT_THAT(refused_pointers(build({.input_shape = {8, 16, 16},
                                        .layers = {end,
                                                   conv(0),
                                                   no_function,
                                                   odd_groups,  // 0 to 3
                                                   begin,
                                                   conv(8, 2),
                                                   end,  // 4 to 6: shrinks
                                                   {.kind = Kind::pool, .kernel = 99},
                                                   dense(7),
                                                   conv(3),  // 7 to 9
                                                   begin,
                                                   relu}})),
                ElementsAre("/workload/chain/layers/0", "/workload/chain/layers/1/width", "/workload/chain/layers/2/function",
                            "/workload/chain/layers/3/groups", "/workload/chain/layers/3/groups", "/workload/chain/layers/6",
                            "/workload/chain/layers/7", "/workload/chain/layers/9", "/workload/chain/layers/10"));
}

TEST(Chain, TheSameMistakeInTwoEqualBlocksIsReportedTwice) {
    EXPECT_THAT(refused_pointers([] {
                    build_chain({.input_shape = {4}, .layers = {dense(0), dense(0)}}, {});
                }),
                ElementsAre("/workload/chain/layers/0/width", "/workload/chain/layers/1/width"));
}

}  // namespace
}  // namespace sextant
