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

const Shard inference{.micro_batch = 1, .training = false};

// Parameters and multiply-adds (in 1e9) as torchvision states them for its pretrained weights: "num_params" and "_ops" in
// torchvision/models/*.py of github.com/pytorch/vision, shown on pytorch.org/vision/stable/models.html. Inception v3 without its
// auxiliary classifier, which its "num_params" counts: see the test below.
struct Published {
    const char* name;
    std::int64_t parameters;
    double giga_macs = 0;
    std::int64_t image_px = 224;
};
void PrintTo(const Published& p, std::ostream* out) { *out << p.name; }

const Published torchvision[] = {
    {"alexnet", 61'100'840, 0.714},
    {"vgg11", 132'863'336, 7.609},
    {"vgg11_bn", 132'868'840, 7.609},
    {"vgg13", 133'047'848, 11.308},
    {"vgg13_bn", 133'053'736, 11.308},
    {"vgg16", 138'357'544, 15.47},
    {"vgg16_bn", 138'365'992, 15.47},
    {"vgg19", 143'667'240, 19.632},
    {"vgg19_bn", 143'678'248, 19.632},
    {"resnet18", 11'689'512, 1.814},
    {"resnet34", 21'797'672, 3.664},
    {"resnet50", 25'557'032, 4.089},
    {"resnet101", 44'549'160, 7.801},
    {"resnet152", 60'192'808, 11.514},
    {"wide_resnet50_2", 68'883'240, 11.398},
    {"wide_resnet101_2", 126'886'696, 22.753},
    {"resnext50_32x4d", 25'028'904, 4.230},
    {"resnext101_32x8d", 88'791'336, 16.414},
    {"resnext101_64x4d", 83'455'272, 15.46},
    {"googlenet", 6'624'904, 1.498},
    {"inception_v3", 23'834'568, 5.713, 299},
    {"densenet121", 7'978'856, 2.834},
    {"densenet161", 28'681'000, 7.728},
    {"densenet169", 14'149'480, 3.36},
    {"densenet201", 20'013'928, 4.291},
    {"mobilenet_v2", 3'504'872, 0.301},
    {"mobilenet_v3_large", 5'483'032, 0.217},
    {"mobilenet_v3_small", 2'542'856, 0.057},
    {"efficientnet_b0", 5'288'548, 0.386},
    {"efficientnet_b1", 7'794'184, 0.687, 240},
    {"efficientnet_b2", 9'109'994, 1.088, 288},
    {"efficientnet_b3", 12'233'232, 1.827, 300},
    {"efficientnet_b4", 19'341'616, 4.394, 380},
    {"efficientnet_b5", 30'389'784, 10.266, 456},
    {"efficientnet_b6", 43'040'704, 19.068, 528},
    {"efficientnet_b7", 66'347'960, 37.746, 600},
    {"efficientnet_v2_s", 21'458'488, 8.366, 384},
    {"efficientnet_v2_m", 54'139'356, 24.582, 480},
    {"efficientnet_v2_l", 118'515'272, 56.08, 480},
    {"mnasnet0_5", 2'218'512, 0.104},
    {"mnasnet0_75", 3'170'208, 0.215},
    {"mnasnet1_0", 4'383'312, 0.314},
    {"mnasnet1_3", 6'282'256, 0.526},
    {"shufflenet_v2_x0_5", 1'366'792, 0.04},
    {"shufflenet_v2_x1_0", 2'278'604, 0.145},
    {"shufflenet_v2_x1_5", 3'503'624, 0.296},
    {"shufflenet_v2_x2_0", 7'393'996, 0.583},
    {"squeezenet1_0", 1'248'424, 0.819},
    {"squeezenet1_1", 1'235'496, 0.349},
    {"convnext_tiny", 28'589'128, 4.456},
    {"convnext_small", 50'223'688, 8.684},
    {"convnext_base", 88'591'464, 15.355},
    {"convnext_large", 197'767'336, 34.361},
    {"swin_t", 28'288'354, 4.491},
    {"swin_s", 49'606'258, 8.741},
    {"swin_b", 87'768'224, 15.431},
    {"maxvit_t", 30'919'624, 5.558},
    {"regnet_x_400mf", 5'495'976, 0.414},
    {"regnet_x_800mf", 7'259'656, 0.8},
    {"regnet_x_1_6gf", 9'190'136, 1.603},
    {"regnet_x_3_2gf", 15'296'552, 3.177},
    {"regnet_x_8gf", 39'572'648, 7.995},
    {"regnet_x_16gf", 54'278'536, 15.941},
    {"regnet_x_32gf", 107'811'560, 31.736},
    {"regnet_y_400mf", 4'344'144, 0.402},
    {"regnet_y_800mf", 6'432'512, 0.834},
    {"regnet_y_1_6gf", 11'202'430, 1.612},
    {"regnet_y_3_2gf", 19'436'338, 3.176},
    {"regnet_y_8gf", 39'381'472, 8.473},
    {"regnet_y_16gf", 83'590'140, 15.912},
    {"regnet_y_32gf", 145'046'770, 32.28},
    {"regnet_y_128gf", 644'812'894, 127.518},
};

class PublishedNetwork : public testing::TestWithParam<Published> {};

TEST_P(PublishedNetwork, HasThePublishedNumberOfParametersAndOperations) {
    const Published& p = GetParam();
    const Network network = build_convolutional({.name = p.name, .image_px = p.image_px}, inference);
    EXPECT_EQ(static_cast<std::int64_t>(network.parameters()), p.parameters);
    EXPECT_NEAR(sum_forward_flops(network) / (2 * GFLOP), p.giga_macs, 0.001);  // published with three digits behind the point
}

INSTANTIATE_TEST_SUITE_P(Torchvision, PublishedNetwork, testing::ValuesIn(torchvision),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

TEST(Convolutional, NetworksOutsideTorchvisionHaveTheParametersThatOthersCount) {
    const auto parameters = [](const char* name) { return build_convolutional({.name = name}, inference).parameters(); };
    // GoogLeNet as Caffe has it: github.com/HewlettPackard/dlcookbook-dlbs, docs/models/models.md.
    EXPECT_EQ(parameters("inceptionv1"), 6'998'552);
    // github.com/huggingface/pytorch-image-models, results/benchmark-infer-amp-nhwc-pt113-cu117-rtx3090.csv, in millions.
    EXPECT_NEAR(parameters("mobilenetv2_110d") / 1e6, 4.52, 0.005);
    EXPECT_NEAR(parameters("mobilenetv2_120d") / 1e6, 5.83, 0.005);
    EXPECT_NEAR(parameters("mobilenetv2_140") / 1e6, 6.11, 0.005);
}

// github.com/osmr/imgclsmob: parameters as the tests in gluon/gluoncv2/models and in chainer_/chainercv2/models count them, and operations
// (1e9) where gluon/README.md has those of the same network: there biases, batch norms and activations count, too, up to a hundredth.
const Published of_imgclsmob[] = {
    {"resnet26", 15'995'176},
    {"resnet200", 64'673'832},
    {"resnet50c", 25'576'264},
    {"resnet101d", 44'568'392, 8.073},
    {"resnet50s", 25'680'808},
    {"resnet101s", 44'672'936},
    {"resnet152s", 60'316'584},
    {"resnext101_32x4d", 44'177'704},
    {"seresnet18", 11'778'592, 1.821},
    {"seresnet34", 21'958'868},
    {"seresnet50", 28'088'024, 4.113},
    {"seresnet101", 49'326'872, 7.835},
    {"seresnet152", 66'821'848},
    {"legacy_seresnet50", 28'088'024, 3.88},
    {"legacy_seresnet101", 49'326'872, 7.603},
    {"legacy_seresnet152", 66'821'848, 11.329},
    {"seresnext50_32x4d", 27'559'896, 4.258},
    {"seresnext101_32x4d", 48'955'416, 8.008},
    {"seresnext101_64x4d", 88'232'984, 15.505},
    {"senet154", 115'088'984, 20.746},
    {"mobilenet_v1", 4'231'976},
    {"semnasnet_100", 3'887'038},
    {"mnasnet_small", 2'030'264},
    {"fbnetc_100", 5'572'200},
    {"spnasnet_100", 4'421'616},
    {"efficientnet_b8", 87'413'142},
    {"efficientnet_es", 5'438'392},
    {"efficientnet_em", 6'899'496},
    {"efficientnet_el", 10'589'712},
    {"inception_v4", 42'679'816, 0, 299},
    {"inception_resnet_v2", 55'843'464, 13.189, 299},
    {"xception", 22'855'952, 0, 299},
    {"hrnet_w18_small", 13'187'464, 1.615},
    {"hrnet_w18_small_v2", 15'597'464, 2.619},
    {"darknet53", 41'609'928, 7.134},
    {"dla34", 15'742'104, 3.071},
    {"dla46_c", 1'301'400},
    {"dla46x_c", 1'068'440},
    {"dla60x_c", 1'319'832},
    {"dla60", 22'036'632, 4.255},
    {"dla60x", 17'352'344, 3.544},
    {"dla102", 33'268'888, 7.191},
    {"dla102x", 26'309'272, 5.885},
    {"dla102x2", 41'282'200, 9.341},
    {"dla169", 53'389'720, 11.593},
    {"vovnet39a", 22'600'296, 7.086},
    {"vovnet57a", 36'640'296, 8.943},
    {"selecsls42", 30'354'952},
    {"selecsls42b", 32'458'248, 2.981},
    {"selecsls60", 30'670'768, 3.592},
    {"selecsls60b", 32'774'064, 3.629},
};

class NetworkOfImgclsmob : public testing::TestWithParam<Published> {};
TEST_P(NetworkOfImgclsmob, HasThePublishedNumberOfParametersAndOperations) {
    const Published& p = GetParam();
    const Network network = build_convolutional({.name = p.name, .image_px = p.image_px}, inference);
    EXPECT_EQ(network.parameters(), p.parameters);
    if (p.giga_macs == 0) return;
    EXPECT_NEAR(sum_forward_flops(network) / (2 * GFLOP) / p.giga_macs, 0.9945, 0.0055);
}
INSTANTIATE_TEST_SUITE_P(Gluon, NetworkOfImgclsmob, testing::ValuesIn(of_imgclsmob));

// github.com/huggingface/pytorch-image-models, results/results-imagenet.csv, "param_count" in millions.
struct Millions {
    const char* name;
    double parameters;
};
void PrintTo(const Millions& m, std::ostream* out) { *out << m.name; }

class NetworkOfTimm : public testing::TestWithParam<Millions> {};
TEST_P(NetworkOfTimm, HasThePublishedNumberOfParameters) {
    const Millions& m = GetParam();
    EXPECT_NEAR(build_convolutional({.name = m.name}, inference).parameters() / 1e6, m.parameters, 0.005);
}
constexpr Millions of_timm[] = {{"resnet200d", 64.69},
                                {"resnetrs50", 35.69},
                                {"resnetrs101", 63.62},
                                {"resnetrs152", 86.62},
                                {"resnetrs200", 93.21},
                                {"resnetrs270", 129.86},
                                {"resnetrs350", 163.96},
                                {"resnetrs420", 191.89},
                                {"convnext_atto", 3.70},
                                {"convnext_femto", 5.22},
                                {"convnext_pico", 9.05},
                                {"convnext_nano", 15.59},
                                {"convnext_xlarge", 350.20},
                                {"swin_l", 196.53},
                                {"efficientnet_lite0", 4.65},
                                {"efficientnet_lite1", 5.42},
                                {"efficientnet_lite2", 6.09},
                                {"efficientnet_lite3", 8.20},
                                {"efficientnet_lite4", 13.01},
                                {"mobilenetv2_035", 1.68},
                                {"mobilenetv2_050", 1.97},
                                {"mobilenetv2_075", 2.64},
                                {"mnasnet_140", 7.12},
                                {"resnetv2_50", 25.55},
                                {"resnetv2_101", 44.54},
                                {"resnetv2_152", 60.19},
                                {"hrnet_w18", 21.30},
                                {"hrnet_w30", 37.71},
                                {"hrnet_w32", 41.23},
                                {"hrnet_w40", 57.56},
                                {"hrnet_w44", 67.06},
                                {"hrnet_w48", 77.47},
                                {"hrnet_w64", 128.06},
                                {"mixer_s32_224", 19.10},
                                {"mixer_s16_224", 18.53},
                                {"mixer_b32_224", 60.29},
                                {"mixer_b16_224", 59.88},
                                {"mixer_l32_224", 206.94},
                                {"mixer_l16_224", 208.20},
                                {"swin_base_patch4_window12_384", 87.90},
                                {"swin_large_patch4_window12_384", 196.74},
                                {"swinv2_tiny_window16_256", 28.35},
                                {"maxvit_small_tf_224", 68.93},
                                {"maxvit_base_tf_224", 119.47},
                                {"pvt_v2_b0", 3.67},
                                {"pvt_v2_b1", 14.01},
                                {"pvt_v2_b2", 25.36},
                                {"pvt_v2_b3", 45.24},
                                {"pvt_v2_b4", 62.56},
                                {"pvt_v2_b5", 81.96},
                                {"gmlp_ti16_224", 5.87},
                                {"gmlp_s16_224", 19.42},
                                {"gmlp_b16_224", 73.08},
                                {"convmixer_768_32", 21.11},
                                {"convmixer_1024_20_ks9_p14", 24.38},
                                {"convmixer_1536_20", 51.63},
                                {"resnet10t", 5.44},
                                {"resnet14t", 10.08},
                                {"resnet26t", 16.01},
                                {"resnext50d_32x4d", 25.05},
                                {"resnext101_32x16d", 194.03},
                                {"resnext101_32x32d", 468.53},
                                {"seresnext26_32x4d", 16.79},
                                {"seresnext101_32x8d", 93.57},
                                {"seresnet152d", 66.84},
                                {"seresnext26d_32x4d", 16.81},
                                {"seresnext26t_32x4d", 16.81},
                                {"seresnext101d_32x8d", 93.59},
                                {"resnetaa50", 25.56},
                                {"resnetaa50d", 25.58},
                                {"resnetaa101d", 44.57},
                                {"seresnextaa101d_32x8d", 93.59},
                                {"resnetv2_18", 11.69},
                                {"resnetv2_34", 21.80},
                                {"semnasnet_075", 2.91},
                                {"efficientnet_l2", 480.31},
                                {"tinynet_a", 6.19},
                                {"tinynet_b", 3.73},
                                {"tinynet_c", 2.46},
                                {"tinynet_d", 2.34},
                                {"tinynet_e", 2.04},
                                {"efficientnetv2_b0", 7.14},
                                {"efficientnetv2_b1", 8.14},
                                {"efficientnetv2_b2", 10.10},
                                {"efficientnetv2_b3", 14.36},
                                {"efficientnetv2_xl", 208.12},
                                {"mobilenetv3_large_075", 3.99},
                                {"mobilenetv3_small_050", 1.59},
                                {"mobilenetv3_small_075", 2.04},
                                {"cspdarknet53", 27.64},
                                {"cspresnet50", 21.62},
                                {"cspresnext50", 20.57},
                                {"repvgg_a0", 9.11},
                                {"repvgg_a1", 14.09},
                                {"repvgg_a2", 28.21},
                                {"repvgg_b0", 15.82},
                                {"repvgg_b1", 57.42},
                                {"repvgg_b1g4", 39.97},
                                {"repvgg_b2", 89.02},
                                {"repvgg_b2g4", 61.76},
                                {"repvgg_b3", 123.09},
                                {"repvgg_b3g4", 83.83},
                                {"gernet_s", 8.17},
                                {"gernet_m", 21.14},
                                {"gernet_l", 31.08},
                                {"ese_vovnet19b_dw", 6.54},
                                {"ese_vovnet39b", 24.57},
                                {"ese_vovnet57b", 38.61},
                                {"ghostnet_100", 5.18},
                                {"xception41", 26.97},
                                {"xception65", 39.92},
                                {"xception71", 42.34}};
INSTANTIATE_TEST_SUITE_P(Results, NetworkOfTimm, testing::ValuesIn(of_timm));

// Multiply-adds (1e9) that round to what is printed, or are less by up to a hundredth where batch norms were counted, too.
struct PrintedOperations {
    const char* name;
    std::int64_t image_px;
    double at_least, at_most;
};
void PrintTo(const PrintedOperations& p, std::ostream* out) { *out << p.name; }

class NetworkWithPrintedOperations : public testing::TestWithParam<PrintedOperations> {};
TEST_P(NetworkWithPrintedOperations, HasThem) {
    const PrintedOperations& p = GetParam();
    const double giga_macs = sum_forward_flops(build_convolutional({.name = p.name, .image_px = p.image_px}, inference)) / (2 * GFLOP);
    EXPECT_GE(giga_macs, p.at_least);
    EXPECT_LE(giga_macs, p.at_most);
}
constexpr PrintedOperations rounded(const char* name, std::int64_t px, double printed, double half_digit) {
    return {name, px, printed - half_digit, printed + half_digit};
}
constexpr PrintedOperations with_norms(const char* name, double printed) { return {name, 224, 0.985 * printed, printed}; }
// github.com/google/automl, efficientnetv2/README.md; abstract of arXiv 2010.14819; arXiv 1911.11907, table 7, whose 1.3 is off by one in
// the last digit.
INSTANTIATE_TEST_SUITE_P(Authors, NetworkWithPrintedOperations,
                         testing::Values(rounded("efficientnetv2_b0", 224, 0.72, 0.005), rounded("efficientnetv2_b1", 240, 1.2, 0.05),
                                         rounded("efficientnetv2_b2", 260, 1.7, 0.05), rounded("efficientnetv2_b3", 300, 3, 0.05),
                                         rounded("tinynet_e", 106, 0.024, 0.0005), rounded("ghostnet_050", 224, 0.042, 0.0005),
                                         rounded("ghostnet_100", 224, 0.141, 0.0005), rounded("ghostnet_130", 224, 0.226, 0.0015)));
// github.com/open-mmlab/mmpretrain, README.md of configs/repvgg ("train") and configs/cspnet.
INSTANTIATE_TEST_SUITE_P(MmPretrain, NetworkWithPrintedOperations,
                         testing::Values(with_norms("repvgg_a0", 1.52), with_norms("repvgg_a1", 2.64), with_norms("repvgg_a2", 5.7),
                                         with_norms("repvgg_b0", 3.42), with_norms("repvgg_b1", 13.16), with_norms("repvgg_b1g4", 8.15),
                                         with_norms("repvgg_b2", 20.46), with_norms("repvgg_b2g4", 12.63), with_norms("repvgg_b3", 29.17),
                                         with_norms("repvgg_b3g4", 17.9), with_norms("cspdarknet53", 5.04), with_norms("cspresnet50", 3.48),
                                         with_norms("cspresnext50", 3.11)));

TEST(Convolutional, UNetHasTheParametersThatOthersCount) {
    // github.com/milesial/Pytorch-UNet with transposed convolutions, of two classes and of one: torchsummary of many who train it counts
    // so, with two numbers for each channel of 18 batch norms and biases in transposed convolutions and at the end alone.
    EXPECT_EQ(build_convolutional({.name = "unet", .image_px = 512, .classes = 2}, inference).parameters(), 31'037'698);
    EXPECT_EQ(build_convolutional({.name = "unet", .image_px = 512, .classes = 1}, inference).parameters(), 31'037'633);
}

TEST(Convolutional, UNetHasTheOperationsThatOneCountsByHand) {
    // Multiply-adds of a pixel of the image. A convolution of 3x3 from c to d channels costs 9 c d on each pixel of its size, of which
    // there are 1, 1/4, 1/16, 1/64 and 1/256 of the image's. Down: 9 (3 + 64) 64; then 9 (64 + 128) 128 / 4 four times over, as twice the
    // channels on a quarter of the pixels cost the same: 38,592 + 4 x 55,296. Up: 9 (128 + 64) 64 four times; transposed, each pixel that
    // is made takes one from each of twice its channels: 128 x 64 at full size, four times. At the end 64 x 2.
    const double of_pixel = 38'592 + 4 * 55'296 + 4 * 110'592 + 4 * 8'192 + 128;
    const Network network = build_convolutional({.name = "unet", .image_px = 64, .classes = 2}, inference);
    EXPECT_EQ(sum_forward_flops(network) / FLOP, 2 * of_pixel * 64 * 64);
}

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

TEST(Convolutional, FcnAndDeepLabHaveThePublishedParametersAndOperations) {
    // torchvision's "num_params" and "_ops" at 520 px, both with an auxiliary classifier behind stage 3, of 65 x 65 pixels and 1024
    // channels: 3x3 to 256, a batch norm, 1x1 to 21.
    constexpr double in_both = 1024 * 256 * 9 + 256 * 21, parameters = in_both + 2 * 256 + 21, giga_macs = in_both * 65 * 65 / 1e9;
    for (const auto& [name, all_parameters, all_giga_macs] : {std::tuple{"fcn_resnet50", 35'322'218, 152.717},
                                                              {"fcn_resnet101", 54'314'346, 232.738},
                                                              {"deeplabv3_resnet50", 42'004'074, 178.722},
                                                              {"deeplabv3_resnet101", 60'996'202, 258.743}}) {
        const Network network = build_convolutional({.name = name, .image_px = 520, .classes = 21}, inference);
        EXPECT_EQ(network.parameters(), all_parameters - parameters) << name;
        EXPECT_NEAR(sum_forward_flops(network) / (2 * GFLOP), all_giga_macs - giga_macs, 0.001) << name;
    }
}

TEST(Convolutional, SecondSwinHasThePublishedParametersAndOperations) {
    // torchvision's count the perceptrons that make biases of distances too, in 24 and 12 layers: 15 x 15 rows of 2 to 512 and on to all
    // heads.
    const auto biases = [](int deep, double heads) { return 225.0 * 512 * (2 * (6 + deep) + heads * (2 + 4 + 4 * deep + 16)) / 1e9; };
    for (const auto& [name, parameters, giga_macs] : {std::tuple{"swin_v2_t", 28'351'570, 5.94 - biases(6, 3)},
                                                      {"swin_v2_s", 49'737'442, 11.546 - biases(18, 3)},
                                                      {"swin_v2_b", 87'930'848, 20.325 - biases(18, 4)}}) {
        const Network network = build_convolutional({.name = name, .image_px = 256}, inference);
        EXPECT_EQ(network.parameters(), parameters) << name;
        EXPECT_NEAR(sum_forward_flops(network) / (2 * GFLOP), giga_macs, 0.001) << name;
    }
}

TEST(Convolutional, SegFormersHaveThePublishedParameters) {
    // arXiv 2105.15203, table 1 a, in millions, encoder and decoder; 150 classes.
    for (const auto& [name, millions] : {std::pair{"segformer_b0", 3.4 + 0.4},
                                         {"segformer_b1", 13.1 + 0.6},
                                         {"segformer_b2", 24.2 + 3.3},
                                         {"segformer_b3", 44.0 + 3.3},
                                         {"segformer_b4", 60.8 + 3.3},
                                         {"segformer_b5", 81.4 + 3.3}})
        EXPECT_NEAR(build_convolutional({.name = name, .image_px = 512, .classes = 150}, inference).parameters() / 1e6, millions, 0.1)
            << name;
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

// Which parameters RegNets have without torchvision's rounding: appendix D of arXiv 2003.13678, in millions.
class RegNetOfItsPaper : public testing::TestWithParam<Millions> {};
TEST_P(RegNetOfItsPaper, HasThePublishedNumberOfParameters) {
    const Millions& m = GetParam();
    EXPECT_NEAR(build_convolutional({.name = m.name}, inference).parameters() / 1e6, m.parameters, 0.05);
}
constexpr Millions regnets[] = {{"regnetx_002", 2.7},  {"regnetx_004", 5.2},  {"regnetx_006", 6.2},  {"regnetx_008", 7.3},
                                {"regnetx_016", 9.2},  {"regnetx_032", 15.3}, {"regnetx_040", 22.1}, {"regnetx_064", 26.2},
                                {"regnetx_080", 39.6}, {"regnetx_120", 46.1}, {"regnetx_160", 54.3}, {"regnetx_320", 107.8},
                                {"regnety_002", 3.2},  {"regnety_004", 4.3},  {"regnety_006", 6.1},  {"regnety_008", 6.3},
                                {"regnety_016", 11.2}, {"regnety_032", 19.4}, {"regnety_040", 20.6}, {"regnety_064", 30.6},
                                {"regnety_080", 39.2}, {"regnety_120", 51.8}, {"regnety_160", 83.6}, {"regnety_320", 145.0}};
INSTANTIATE_TEST_SUITE_P(Timm, RegNetOfItsPaper, testing::ValuesIn(regnets));

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
            if (tp == 2 && has_odd_cut(name)) continue;
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
