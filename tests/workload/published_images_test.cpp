// Networks on images have the parameters and the operations that others print.
#include "model/workload/builders.hpp"
#include "tests/workload/network_sums.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;

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

}  // namespace
}  // namespace sextant
