#include "model/workload/builders.hpp"
#include "model/workload/images/layers.hpp"
#include "tests/base/refusal.hpp"
#include "tests/workload/network_sums.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;
using testing::ElementsAre;

TEST(Convolutional, WhatAnEncoderHandsToItsDecoderIsKeptOnceByTheBlockThatMadeIt) {
    // At 16 px: the first size has images of 64 x 256 elements, s. Kept of it on the way down are the two convolutions (which batch norms
    // read), the first ReLU, the second one that pooling reads, and goes past eighteen blocks; the data, 3 x 256, too.
    const Network network = build_convolutional({.name = "unet", .image_px = 16, .classes = 2}, {});
    constexpr double s = 64 * 256;
    EXPECT_EQ(saved_elements(graph_at(network, 0)), 3 * 256 + s);
    EXPECT_EQ(saved_elements(graph_at(network, 1)), s + s + s);  // the ReLU in front, the convolution, its ReLU; not the pooled one
    EXPECT_EQ(graph_at(network, 1).outputs().size(), 2);
    EXPECT_EQ(graph_at(network, 2).inputs().size(), 2);
    EXPECT_EQ(graph_at(network, 9).inputs().size(), 5) << "all four sizes beside the smallest";
    // The last "up": of what comes beside it reads, but keeps, nothing.
    const OperatorGraph& up = graph_at(network, network.sequence.size() - 4);
    EXPECT_EQ(up.outputs().size(), 1);
    EXPECT_EQ(saved_elements(up), 2 * s / 4);  // 128 channels of a quarter of the pixels
}

TEST(Convolutional, ALargerImageOfAPyramidAsksFewerKeys) {
    // Of 224 px stage 1 has 56 x 56 pixels, which ask 7 x 7 of an image eight times smaller; stage 4 has 7 x 7 that ask all of them.
    const Network network = build_convolutional({.name = "pvt_v2_b0"}, {.micro_batch = 2});
    const auto of_stage = [&](std::size_t i) { return operators_of<Attention>(graph_at(network, i)).front(); };
    EXPECT_EQ(of_stage(0).query_len, 56 * 56);
    EXPECT_EQ(of_stage(0).key_len, 7 * 7);
    EXPECT_EQ(of_stage(3).query_len, 7 * 7);
    EXPECT_EQ(of_stage(3).key_len, 7 * 7);
    // Where scores are written out, they are a product: behind those that make queries, and keys and values.
    const Network plain = build_convolutional({.name = "pvt_v2_b0"}, {.micro_batch = 2, .flash_attention = false});
    const auto products = operators_of<Gemm>(graph_at(plain, 0));
    EXPECT_EQ(products[2].batch, 2);
    EXPECT_EQ(products[2].m, 56 * 56);
    EXPECT_EQ(products[2].n, 7 * 7);
    EXPECT_EQ(products[2].k, 32);
}

TEST(Convolutional, AModelIsOfTheClassesThatItWasMadeForUnlessToldOtherwise) {
    const auto classes = [](const char* name) { return std::get<ConvolutionalSpec>(find_workload(name)->spec).classes; };
    EXPECT_EQ(classes("resnet50"), 1000);
    EXPECT_EQ(classes("fcn_resnet50"), 21);
    EXPECT_EQ(classes("U-Net"), 2);
}

TEST(Convolutional, ResnetDHasThreeConvolutionsOf3x3InThePlaceOfOneOf7x7) {
    // 3 x 32 x 9 + 32 x 32 x 9 + 32 x 64 x 9 = 864 + 9,216 + 18,432, and two more batch norms of 32 channels; gone are 3 x 64 x 49 = 9,408.
    // Where shortcuts pool they have no parameters. imgclsmob (resneta.py) counts the same sums: 25,576,264 and 44,568,392.
    const double more = 864 + 9'216 + 18'432 + 2 * 2 * 32 - 9'408;
    EXPECT_EQ(build_convolutional({.name = "resnet50d"}, inference).parameters(), 25'557'032 + more);
    EXPECT_EQ(build_convolutional({.name = "resnet101d"}, inference).parameters(), 44'549'160 + more);
    EXPECT_EQ(build_convolutional({.name = "resnet34d"}, inference).parameters(), 21'797'672 + more);
    // At 224 px stage 2 begins with 256 x 56 x 56 images: the shortcut pools them to 28 x 28 and convolves that.
    const Network network = build_convolutional({.name = "resnet50d"}, {});
    const OperatorGraph& block = graph_at(network, 4);
    const auto pools = operators_of<Pooling>(block);
    ASSERT_EQ(pools.size(), 1);
    EXPECT_EQ(pools[0].kind, PoolingKind::average);
    EXPECT_EQ(operators_of<Convolution>(block).back().in_h, 28);
}

TEST(Convolutional, AShortcutThatPoolsRoundsUpAsTheStridedConvolutionBesideItDoes) {
    // 150 px: 75 behind the stem, 38 behind its pooling, 19 in stage 2 and 10 in stage 3, where (19 - 2) / 2 + 1 would be 9.
    const Network network = build_convolutional({.name = "resnet50d", .image_px = 150}, {});
    EXPECT_EQ(operators_of<Convolution>(graph_at(network, 1 + 3 + 4)).back().in_h, 10);
}

TEST(Convolutional, SwinAttendsAmongThePixelsOfWindowsAndShiftsEveryOtherTime) {
    // Two images of 224 px, 56 behind the stem: 8 x 8 windows of 49 pixels for each, by 3 heads of 32 channels.
    const Network network = build_convolutional({.name = "swin_t"}, {.micro_batch = 2});
    const OperatorGraph& stage = graph_at(network, 1);
    const auto products = operators_of<Gemm>(stage);
    EXPECT_EQ(products[0].m, 2 * 64 * 49);  // queries, keys and values
    EXPECT_EQ(products[0].n, 3 * 96);
    EXPECT_EQ(products[1].batch, 2 * 64 * 3);  // scores
    EXPECT_EQ(products[1].m, 49);
    EXPECT_EQ(products[1].k, 32);
    const auto passes = operators_of<Pointwise>(stage);
    EXPECT_EQ(std::ranges::count(passes, PointwiseKind::mask, &Pointwise::kind), 1);
    EXPECT_EQ(std::ranges::count(passes, PointwiseKind::copy, &Pointwise::kind), 2 + 4 + 1);  // windows and back, shifts, merging
}

TEST(Convolutional, SwinDoesNotShiftAnImageOfOneWindow) {
    // At 224 px stage 4 has 7 x 7 pixels, at 256 px 8 x 8.
    const auto masks = [](std::int64_t px) {
        const auto passes = operators_of<Pointwise>(graph_at(build_convolutional({.name = "swin_t", .image_px = px}, {}), 4));
        return std::ranges::count(passes, PointwiseKind::mask, &Pointwise::kind);
    };
    EXPECT_EQ(masks(224), 0);
    EXPECT_EQ(masks(256), 1);
}

TEST(Convolutional, AWindowIsNoLargerThanTheImageThatItsStageWasMadeFor) {
    // Of 256 px: 64 x 64 pixels in stage 1, in windows of 16 x 16; 8 x 8 in stage 4, in one.
    const Network network = build_convolutional({.name = "swinv2_tiny_window16_256", .image_px = 256}, {});
    const auto pixels_of_window = [&](std::size_t stage) {
        const auto products = operators_of<Gemm>(graph_at(network, stage));
        return std::ranges::find(products, false, &Gemm::weight)->m;
    };
    EXPECT_EQ(pixels_of_window(1), 256);
    EXPECT_EQ(pixels_of_window(4), 64);
}

TEST(Convolutional, EvaRotatesQueriesAndKeysInFivePassesEach) {
    // Two products, a sum, and two copies, of which a gated perceptron has a third that parts what it widened.
    const auto passes = operators_of<Pointwise>(graph_at(build_convolutional({.name = "eva02_tiny_patch14_224"}, {}), 1));
    EXPECT_EQ(std::ranges::count(passes, PointwiseKind::scale, &Pointwise::kind), 2 * 2);
    EXPECT_EQ(std::ranges::count(passes, PointwiseKind::copy, &Pointwise::kind), 2 * 2 + 1);
    EXPECT_EQ(std::ranges::count(passes, PointwiseKind::add, &Pointwise::kind), 2 * 1 + 2);  // and two residuals
}

TEST(Convolutional, BeitLooksUpABiasForTheDistanceOfTwoPatches) {
    // 14 x 14 patches are up to 13 apart each way: 27 x 27 distances, and three with the class token, for each of 12 heads.
    const Network network = build_convolutional({.name = "beit_base_patch16_224"}, {});
    const auto operators = graph_at(network, 1).operators();
    const auto bias = std::ranges::find(operators, "position bias", &Operator::name);
    ASSERT_NE(bias, operators.end());
    EXPECT_EQ(bias->parameters, (27 * 27 + 3) * 12);
    EXPECT_EQ(std::get<Pointwise>(bias->kind).elements, 12 * 197 * 197);
}

TEST(Convolutional, TheSecondConvnextScalesResponsesWhereTheFirstScalesLayers) {
    // Gain and shift of 160 channels for the gain of 40.
    const auto of_block = [](const char* name) { return graph_at(build_convolutional({.name = name}, {}), 1).parameters(); };
    EXPECT_EQ(of_block("convnextv2_atto") - of_block("convnext_atto"), 2 * 160 - 40);
}

TEST(Convolutional, AResidualThatPartsItsChannelsFirstBelongsToTheBlockBefore) {
    // MixNet-S has 16 residuals, of which 2 + 3 + 1 + 2 expand by two products.
    EXPECT_EQ(build_convolutional({.name = "mixnet_s"}, {}).sequence.size(), 1 + 16 - 8 + 1);
}

// The element that a copy takes its element `to` from.
std::int64_t source(const Pointwise& copy, std::int64_t to) {
    std::int64_t from = 0;
    for (auto axis = copy.order.rbegin(); axis != copy.order.rend(); ++axis) {
        from += (to % axis->extent + axis->start) % axis->extent * axis->stride;
        to /= axis->extent;
    }
    return from;
}
std::vector<Pointwise> copies_of(const OperatorGraph& graph) {
    std::vector<Pointwise> copies = operators_of<Pointwise>(graph);
    std::erase_if(copies, [](const Pointwise& p) { return p.kind != PointwiseKind::copy; });
    return copies;
}

TEST(Convolutional, ACopyIntoWindowsTakesEachPixelToItsWindowAndBack) {
    // Two images of 56 x 56 pixels of 96 channels in windows of 7 x 7; the second attention rolls them by three first.
    constexpr std::int64_t image = 56 * 56 * 96;
    const auto at = [](std::int64_t y, std::int64_t x) { return (y * 56 + x) * 96; };
    const std::vector<Pointwise> copies = copies_of(graph_at(build_convolutional({.name = "swin_t"}, {.micro_batch = 2}), 1));
    const Pointwise &windows = copies[0], &back = copies[1], &roll = copies[2], &roll_back = copies[5], &merge = copies[6];
    // The second image, window 2 down and 3 across, its pixel 4 down and 5 across, channel 10.
    const std::int64_t in_window = image + ((2 * 8 + 3) * 49 + 4 * 7 + 5) * 96 + 10;
    EXPECT_EQ(source(windows, in_window), image + at(2 * 7 + 4, 3 * 7 + 5) + 10);
    EXPECT_EQ(source(roll, image + at(0, 55) + 10), image + at(3, 2) + 10);
    // Of the merged image the pixel at (2, 1) has (4, 2), (5, 2), (4, 3) and (5, 3) side by side.
    for (const auto& [part, pixel] : {std::pair{0, at(4, 2)}, {1, at(5, 2)}, {2, at(4, 3)}, {3, at(5, 3)}})
        EXPECT_EQ(source(merge, (2 * 28 + 1) * 384 + part * 96 + 7), pixel + 7);
    for (std::int64_t i = 0; i < 2 * image; i += 1001) {
        EXPECT_EQ(source(windows, source(back, i)), i);
        EXPECT_EQ(source(roll, source(roll_back, i)), i);
    }
}

TEST(Convolutional, AGridTakesPixelsFromEvenlyOverTheImage) {
    // Of MaxViT's first stage, 56 x 56 pixels of 64 channels: a group takes every eighth row and column.
    const std::vector<Pointwise> copies = copies_of(graph_at(build_convolutional({.name = "maxvit_t"}, {}), 1));
    const Pointwise &grid = copies[2], &back = copies[3];
    EXPECT_EQ(source(grid, ((2 * 8 + 3) * 49 + 4 * 7 + 5) * 64), ((4 * 8 + 2) * 56 + 5 * 8 + 3) * 64);
    for (std::int64_t i = 0; i < 56 * 56 * 64; i += 101) EXPECT_EQ(source(grid, source(back, i)), i);
}

TEST(Convolutional, ChannelsOfBothHalvesTakeTurnsBehindAShuffle) {
    const std::vector<Pointwise> copies = copies_of(graph_at(build_convolutional({.name = "shufflenet_v2_x1_0"}, {}), 1));
    const auto shuffle = std::ranges::find_if(copies, [](const Pointwise& p) { return p.order.size() == 3 && p.order[1].extent == 58; });
    ASSERT_NE(shuffle, copies.end());
    EXPECT_EQ(source(*shuffle, 116 + 0), 116 + 0);
    EXPECT_EQ(source(*shuffle, 116 + 1), 116 + 58);
    EXPECT_EQ(source(*shuffle, 116 + 2), 116 + 1);
}

TEST(Convolutional, HalfOfTheChannelsGoPastAShuffleUnit) {
    // Stage 2 of the network of 1.0, 116 channels: the first unit has a convolution of all on either side, and convolves 58 of its own;
    // three more convolve 58 of 116. Each joins both halves and shuffles, and those three part them first.
    const Network network = build_convolutional({.name = "shufflenet_v2_x1_0"}, {});
    const OperatorGraph& stage = graph_at(network, 1);
    const auto convolutions = operators_of<Convolution>(stage);
    EXPECT_EQ(convolutions.size(), 5 + 3 * 3);
    EXPECT_EQ(convolutions.back().in_channels, 58);
    EXPECT_EQ(std::ranges::count(operators_of<Pointwise>(stage), PointwiseKind::copy, &Pointwise::kind), 2 + 3 * 3);
}

TEST(Convolutional, AMixerMixesThePatchesOfEachChannelAndThenTheChannelsOfEachPatch) {
    const auto products = operators_of<Gemm>(graph_at(build_convolutional({.name = "mixer_b16_224"}, {.micro_batch = 2}), 1));
    ASSERT_EQ(products.size(), 4);
    EXPECT_EQ(products[0].m, 2 * 768);  // rows of 14 x 14 patches
    EXPECT_EQ(products[0].k, 196);
    EXPECT_EQ(products[0].n, 384);
    EXPECT_EQ(products[1].n, 196);
    EXPECT_EQ(products[2].m, 2 * 196);
    EXPECT_EQ(products[2].k, 768);
    EXPECT_EQ(products[2].n, 3072);
}

TEST(Convolutional, AModuleOfHrnetEnlargesEverySmallerImageForEveryLargerOne) {
    // Of two sizes one pair, of three three, of four six: in one, four and three modules.
    const Network network = build_convolutional({.name = "hrnet_w18"}, {});
    const auto passes = operators_of<Pointwise>(graph_at(network, 5));
    EXPECT_EQ(std::ranges::count(passes, PointwiseKind::repeat, &Pointwise::kind), 1 + 4 * 3 + 3 * 6);
}

TEST(Convolutional, TheSecondResnetNormalizesInFrontOfItsConvolutions) {
    const Network network = build_convolutional({.name = "resnetv2_50"}, {});
    EXPECT_EQ(operators_of<Normalization>(graph_at(network, 0)).size(), 0);  // the stem
    EXPECT_EQ(operators_of<Normalization>(graph_at(network, 1)).size(), 3);  // none behind the shortcut's convolution
    EXPECT_EQ(operators_of<Normalization>(network.templates.back().graph).size(), 1);
}

TEST(Convolutional, SqueezeAndExcitationAddsTwoProductsOfAveragesToEachBottleneck) {
    // Of stage 1, 256 channels squeezed to 16: 256 x 16 + 16 and 16 x 256 + 256 parameters.
    const auto stage_1 = [](const char* name) { return graph_at(build_convolutional({.name = name}, {.micro_batch = 2}), 2); };
    EXPECT_EQ(stage_1("seresnet50").parameters() - stage_1("resnet50").parameters(), 2 * 256 * 16 + 16 + 256);
    const auto products = operators_of<Gemm>(stage_1("seresnet50"));
    ASSERT_EQ(products.size(), 2);
    EXPECT_EQ(products[0].m, 2);
    EXPECT_EQ(products[0].n, 16);
    EXPECT_EQ(products[1].n, 256);
}

TEST(Convolutional, ANetworkHasImagesOfTheSizeItWasMadeForUnlessToldOtherwise) {
    const auto px = [](const char* name) { return std::get<ConvolutionalSpec>(find_workload(name)->spec).image_px; };
    EXPECT_EQ(px("resnet50"), 224);
    EXPECT_EQ(px("inception_v3"), 299);
    EXPECT_EQ(px("efficientnet_b0"), 224);
    EXPECT_EQ(px("efficientnet_b7"), 600);
    EXPECT_EQ(std::get<TransformerSpec>(find_workload("vit_base_patch16_384")->spec).image_px, 384);
}

TEST(Convolutional, TheAuxiliaryClassifierOfInceptionV3ExistsInTrainingOnly) {
    // torchvision's "num_params" of inception_v3.
    EXPECT_EQ(build_convolutional({.name = "inception_v3_aux", .image_px = 299}, {}).parameters(), 27'161'264);
    EXPECT_EQ(build_convolutional({.name = "inception_v3_aux", .image_px = 299}, inference).parameters(), 23'834'568);
}

TEST(Convolutional, AConvolutionHasTheSizeAndOperationsThatOneCountsByHand) {
    // The stem of ResNet: 7x7, stride 2, padding 3, from 3 to 64 channels, at 224 px: (224 + 2*3 - 7) / 2 = 111.5, rounded down, plus 1:
    // 112. Two images: 2 * 2 * 64 * 112 * 112 * 3 * 7 * 7 = 472,055,808 operations. Weights: 64 * 3 * 7 * 7 = 9,408, and 2 * 64 of batch
    // norm.
    const Network network = build_convolutional({.name = "resnet18"}, {.micro_batch = 2});
    const OperatorGraph& stem = graph_at(network, 0);
    const Operator& conv = stem.operators()[0];
    EXPECT_THAT(stem.tensor(conv.outputs[0]).shape, ElementsAre(2, 64, 112, 112));
    EXPECT_EQ(forward_flops(conv.kind) / FLOP, 472'055'808);
    EXPECT_EQ(stem.parameters(), 9'408 + 128);
}

TEST(Convolutional, WindowsAreCountedAsTorchCountsThem) {
    EXPECT_EQ(window_count(112, 3, 2, 0, false), 55);  // (112 - 3) / 2 = 54.5
    EXPECT_EQ(window_count(112, 3, 2, 0, true), 56);
    EXPECT_EQ(window_count(3, 1, 2, 1, false), 3);  // windows start at -1, 1 and 3
    EXPECT_EQ(window_count(3, 1, 2, 1, true), 2);   // rounding up drops the one that starts in the right padding
    EXPECT_EQ(window_count(2, 3, 1, 0, true), std::nullopt);
}

TEST(Convolutional, ABasicBlockKeepsFourTensorsForBackward) {
    // r -> conv1 -> c1 -> bn1 -> b1 -> relu -> r1 -> conv2 -> c2 -> bn2 -> b2; s = b2 + r -> relu -> r2, which leaves.
    // Convolutions read r and r1, batch norms c1 and c2; ReLU needs its output r1; b1, b2 and s are free. The last ReLU needs r2, which
    // the next block reads and keeps.
    // Each is 64 x 56 x 56 = 200,704 elements of an image. Each batch norm keeps mean and deviation of 64 channels.
    const Network network = build_convolutional({.name = "resnet18"}, {.micro_batch = 2});
    const OperatorGraph& block = graph_at(network, 2);
    EXPECT_EQ(saved_elements(block), 2 * 4 * 200'704);
    EXPECT_EQ(saved_elements(block, TensorRole::statistic), 2 * 2 * 64);
}

TEST(Convolutional, ABasicBlockWithADownsampledShortcutKeepsItsConvolutionToo) {
    // r has 64 x 56 x 56 = 200,704 elements; c1, r1, c2 and the shortcut's convolution 128 x 28 x 28 = 100,352 each.
    const Network network = build_convolutional({.name = "resnet18"}, {.micro_batch = 1});
    EXPECT_EQ(saved_elements(graph_at(network, 3)), 200'704 + 4 * 100'352);
}

TEST(Convolutional, AHeadKeepsWhatTheActivationBeforeItNeeds) {
    // Global pooling needs nothing for backward, but ReLU behind the last addition needs its output, 512 x 7 x 7 of an image: the head
    // reads it, so the head keeps it, beside the 512 averages that the classifier needs.
    const Network network = build_convolutional({.name = "resnet18"}, {.micro_batch = 2});
    EXPECT_EQ(saved_elements(network.templates.back().graph), 2 * (512 * 7 * 7 + 512));
}

std::vector<std::string> block_names(const Network& network) {
    std::vector<std::string> names;
    for (const int t : network.sequence) names.push_back(network.templates[static_cast<std::size_t>(t)].name);
    return names;
}

TEST(Convolutional, ABlockIsAResidualAModuleAConvolutionOrADenseStage) {
    const auto blocks_of = [](const char* name) { return build_convolutional({.name = name, .image_px = 299}, {}).sequence.size(); };
    EXPECT_EQ(blocks_of("resnet50"), 1 + (3 + 4 + 6 + 3) + 1);        // stem, bottlenecks, head
    EXPECT_EQ(blocks_of("vgg16"), (2 + 2 + 3 + 3 + 3) + 2 + 1);       // convolutions, dense layers, head
    EXPECT_EQ(blocks_of("inception_v3"), 2 + 3 + 1 + 4 + 1 + 2 + 1);  // stem in two, modules and the two reductions, head
    EXPECT_EQ(blocks_of("mobilenet_v2"), 1 + (1 + 2 + 3 + 4 + 3 + 3 + 1) + 1);
    EXPECT_EQ(blocks_of("mobilenetv3_large_100"), 1 + 15 + 1);
    EXPECT_EQ(blocks_of("efficientnet_b4"), 1 + (2 + 4 + 4 + 6 + 6 + 8 + 2) + 1);  // depth 1.8 times that of B0, rounded up
    EXPECT_THAT(block_names(build_convolutional({.name = "densenet121"}, {})),
                ElementsAre("stem", "stage 1", "stage 2", "stage 3", "stage 4", "head"));
}

TEST(Convolutional, EveryBlockHasParameters) {  // a block of an activation or a pooling alone would be nothing to send or gather
    for (const std::string& name : convolutional_names())
        for (const Block& block : build_convolutional({.name = name, .image_px = 299}, {}).templates)
            EXPECT_GT(block.graph.parameters(), 0) << name << ", " << block.name;
}

TEST(Convolutional, WhatABlockWritesIsWhatTheNextOneReads) {
    for (const std::string& name : convolutional_names())
        for (const int tp : {1, 2}) {
            if (tp == 2 && has_odd_cut(name, 160)) continue;
            const Network network =
                build_convolutional({.name = name, .image_px = 160, .channels = 4, .classes = 10}, {.tensor = tp, .training = false});
            for (std::size_t i = 0; i + 1 < network.sequence.size(); ++i) {
                const OperatorGraph &before = graph_at(network, i), &after = graph_at(network, i + 1);
                ASSERT_EQ(before.outputs().size(), after.inputs().size()) << name << ", block " << i;
                for (std::size_t k = 0; k < before.outputs().size(); ++k)
                    EXPECT_EQ(before.tensor(before.outputs()[k]).shape, after.tensor(after.inputs()[k]).shape) << name << ", block " << i;
            }
        }
}

TEST(Convolutional, EqualBlocksShareATemplate) {
    // Stem; stage 1: one block that widens, two equal ones; stages 2 to 4: one that shrinks, 7, 35 and 2 equal ones; head.
    const Network network = build_convolutional({.name = "resnet152"}, {});
    EXPECT_EQ(network.sequence.size(), 1 + 3 + 8 + 36 + 3 + 1);
    EXPECT_EQ(network.templates.size(), 1 + 4 * 2 + 1);
}

TEST(Convolutional, AliasesNameTheSameNetwork) {
    for (const auto& [alias, name] : {std::pair{"mobilenetv2_100", "mobilenet_v2"},
                                      {"mobilenet_v3_large", "mobilenetv3_large_100"},
                                      {"inception3", "inception_v3"},
                                      {"regnety_160", "regnet_y_16gf"}}) {
        const Network a = build_convolutional({.name = alias}, {}), b = build_convolutional({.name = name}, {});
        EXPECT_EQ(a.parameters(), b.parameters());
        EXPECT_EQ(sum_forward_flops(a), sum_forward_flops(b));
    }
}

TEST(Convolutional, TensorParallelismCutsTheWorkEvenly) {
    for (const char* name : {"alexnet", "vgg16", "resnet50", "resnext50_32x4d", "googlenet", "inception_v3", "densenet121", "mobilenet_v2",
                             "mobilenetv3_small_100", "efficientnet_b0", "seresnext50_32x4d", "resnet50d"}) {
        const Flops serial = sum_forward_flops(build_convolutional({.name = name}, {}));
        const Flops half = sum_forward_flops(build_convolutional({.name = name}, {.tensor = 2}));
        EXPECT_DOUBLE_EQ(half / serial, 0.5) << name;
    }
}

TEST(Convolutional, TensorParallelismCutsAllParametersButTheBiasBehindTheSum) {
    // The classifier of ResNet is cut by input: its bias of 1000 is on both devices.
    EXPECT_EQ(2 * build_convolutional({.name = "resnet50"}, {.tensor = 2}).parameters(), 25'557'032 + 1000);
}

TEST(Convolutional, AConvolutionCutByOutputGathersWhatItReads) {
    // A basic block of stage 1 gathers before each of its two convolutions: 64 x 56 x 56 = 200,704 elements of an image.
    const Network network = build_convolutional({.name = "resnet18"}, {.micro_batch = 2, .tensor = 2});
    const auto exchanges = operators_of<Exchange>(graph_at(network, 2));
    ASSERT_EQ(exchanges.size(), 2);
    for (const Exchange& e : exchanges) {
        EXPECT_EQ(e.forward, ExchangeKind::all_gather);
        EXPECT_EQ(e.backward, ExchangeKind::reduce_scatter);
        EXPECT_EQ(e.group, ParallelGroup::tensor);
        EXPECT_EQ(e.elements, 2 * 200'704);
    }
}

TEST(Convolutional, BranchesThatReadOneImageGatherItOnce) {
    // Four branches of inception 3b read one image. Behind it, the 3x3, the 5x5 and the pooling branch each gather once more.
    const Network network = build_convolutional({.name = "googlenet"}, {.tensor = 2});
    EXPECT_EQ(operators_of<Exchange>(graph_at(network, 3)).size(), 1 + 3);
}

TEST(Convolutional, DepthwiseConvolutionsStayWhereTheirChannelsAre) {
    // Stage 2 of MobileNetV2 expands (gathers), filters each channel by itself, projects (gathers).
    const Network network = build_convolutional({.name = "mobilenet_v2"}, {.tensor = 2});
    EXPECT_EQ(operators_of<Exchange>(graph_at(network, 3)).size(), 2);
}

TEST(Convolutional, AConvnextBlockExchangesAroundItsTwoLinearLayersOnly) {
    // Norm and depthwise convolution work on the whole image, on every device; the linear layers are cut by output, then by input.
    // Backward sums the gradient of what the first reads, forward what the second writes: 96 x 56 x 56 = 301,056 elements of an image.
    const Network network = build_convolutional({.name = "convnext_tiny"}, {.micro_batch = 2, .tensor = 2});
    const auto exchanges = operators_of<Exchange>(graph_at(network, 1));
    ASSERT_EQ(exchanges.size(), 2);
    EXPECT_EQ(exchanges[0].forward, ExchangeKind::none);
    EXPECT_EQ(exchanges[0].backward, ExchangeKind::all_reduce);
    EXPECT_EQ(exchanges[1].forward, ExchangeKind::all_reduce);
    EXPECT_EQ(exchanges[1].backward, ExchangeKind::none);
    for (const Exchange& e : exchanges) EXPECT_EQ(e.elements, 2 * 301'056);
}

TEST(Convolutional, EveryImpossibleChoiceIsReported) {
    const auto build = [](ConvolutionalSpec spec, Shard shard) { return [=] { build_convolutional(spec, shard); }; };
    EXPECT_THAT(
        refused_pointers(build({.name = "resnet51", .image_px = 0, .channels = 0, .classes = 0}, {.micro_batch = 0, .context = 2})),
        ElementsAre("/plan/micro_batch", "/plan/cp", "/workload/image_px", "/workload/channels", "/workload/classes", "/workload/name"));
    EXPECT_THAT(refused_pointers(build({.name = "resnet18"}, {.tensor = 96})),
                ElementsAre("/plan/tp", "/plan/tp", "/plan/tp", "/plan/tp"));  // 64, 128, 256, 512
    EXPECT_THAT(refused_pointers(build({.name = "alexnet", .image_px = 32}, {})),
                ElementsAre("/workload/image_px"));  // nothing left to pool
}

TEST(Convolutional, DropoutAndLossExistInTrainingOnly) {
    const Network training = build_convolutional({.name = "vgg16"}, {}), forward_only = build_convolutional({.name = "vgg16"}, inference);
    EXPECT_EQ(operators_of<CrossEntropy>(graph_at(training, training.sequence.size() - 1)).size(), 1);
    EXPECT_EQ(operators_of<CrossEntropy>(graph_at(forward_only, forward_only.sequence.size() - 1)).size(), 0);
    // The second dense layer is dropped out of.
    EXPECT_EQ(saved_elements(graph_at(training, training.sequence.size() - 2), TensorRole::mask), 4096);
    EXPECT_EQ(saved_elements(graph_at(forward_only, forward_only.sequence.size() - 2), TensorRole::mask), 0);
}

}  // namespace
}  // namespace sextant
