#include "model/workload/builders.hpp"
#include "model/workload/convolutional_layers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;

double parameters(const Network& network) {
    double sum = 0;
    for (const int t : network.sequence) sum += network.templates[static_cast<std::size_t>(t)].graph.parameters();
    return sum;
}

Flops forward(const Network& network) {
    Flops sum;
    for (const int t : network.sequence)
        for (const Operator& op : network.templates[static_cast<std::size_t>(t)].graph.operators()) sum += forward_flops(op.kind);
    return sum;
}

double saved_elements(const OperatorGraph& graph, TensorRole role) {
    double sum = 0;
    for (const TensorId id : saved_for_backward(graph))
        if (graph.tensor(id).role == role) sum += graph.tensor(id).elements();
    return sum;
}

const OperatorGraph& block(const Network& network, std::string_view name) {
    for (const Block& b : network.templates)
        if (b.name == name) return b.graph;
    throw std::out_of_range(std::string(name));
}

const Shard inference{.micro_batch = 1, .training = false};

// Parameters and multiply-adds (in 1e9, here as `gmacs`) as torchvision states them for its pretrained weights: "num_params" and "_ops" in
// torchvision/models/*.py (github.com/pytorch/vision), shown on pytorch.org/vision/stable/models.html. Without auxiliary classifiers.
struct Published {
    const char* name;
    std::int64_t parameters;
    double gmacs;
    std::int64_t image_px = 224;
};
void PrintTo(const Published& p, std::ostream* out) { *out << p.name; }

const Published torchvision[] = {
    {"alexnet", 61'100'840, 0.714},          {"vgg11", 132'863'336, 7.609},
    {"vgg11_bn", 132'868'840, 7.609},        {"vgg13", 133'047'848, 11.308},
    {"vgg13_bn", 133'053'736, 11.308},       {"vgg16", 138'357'544, 15.47},
    {"vgg16_bn", 138'365'992, 15.47},        {"vgg19", 143'667'240, 19.632},
    {"vgg19_bn", 143'678'248, 19.632},       {"resnet18", 11'689'512, 1.814},
    {"resnet34", 21'797'672, 3.664},         {"resnet50", 25'557'032, 4.089},
    {"resnet101", 44'549'160, 7.801},        {"resnet152", 60'192'808, 11.514},
    {"wide_resnet50_2", 68'883'240, 11.398}, {"wide_resnet101_2", 126'886'696, 22.753},
    {"resnext50_32x4d", 25'028'904, 4.230},  {"resnext101_32x8d", 88'791'336, 16.414},
    {"googlenet", 6'624'904, 1.498},         {"inception_v3", 23'834'568, 5.713, 299},
    {"densenet121", 7'978'856, 2.834},       {"densenet161", 28'681'000, 7.728},
    {"densenet169", 14'149'480, 3.36},       {"densenet201", 20'013'928, 4.291},
    {"mobilenet_v2", 3'504'872, 0.301},      {"efficientnet_b0", 5'288'548, 0.386},
    {"convnext_tiny", 28'589'128, 4.456},    {"convnext_small", 50'223'688, 8.684},
    {"convnext_base", 88'591'464, 15.355},   {"convnext_large", 197'767'336, 34.361},
};

class PublishedNetwork : public testing::TestWithParam<Published> {};

TEST_P(PublishedNetwork, has_the_published_number_of_parameters_and_operations) {
    const Published& p = GetParam();
    const Network network = build_convolutional({.name = p.name, .image_px = p.image_px}, inference);
    EXPECT_EQ(static_cast<std::int64_t>(parameters(network)), p.parameters);
    EXPECT_NEAR(forward(network) / (2 * GFLOP), p.gmacs, 0.01 * p.gmacs);
}

INSTANTIATE_TEST_SUITE_P(torchvision, PublishedNetwork, testing::ValuesIn(torchvision),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

}  // namespace
}  // namespace sextant
