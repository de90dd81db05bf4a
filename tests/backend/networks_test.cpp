// One training step of each kind of network, loss and every gradient, and the losses of a few steps, against PyTorch
// (fixtures/networks.json). Single precision here, double there: losses agree to 1e-5 (after a few steps 2e-5, of the ResNet with its batch
// norms over eight values 2e-4), gradients to 1e-4 of their norm.
#include "tests/backend/networks.hpp"
#include "tests/backend/arrays.hpp"
#include "tests/backend/engine.hpp"
#include "tests/backend/single_rank.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>

namespace sextant {
namespace {

constexpr double gradient_tolerance = 1e-4;

const nlohmann::json& network_fixtures() {
    static const nlohmann::json all = nlohmann::json::parse(std::ifstream(SEXTANT_SOURCE_DIR "/tests/backend/fixtures/networks.json"));
    return all;
}

// Norm, and products with two vectors of made numbers.
std::array<double, 3> fingerprint(const std::vector<float>& g, std::uint64_t index) {
    std::array<double, 3> found{};
    const auto count = static_cast<std::int64_t>(g.size());
    const std::vector<float> a = made_reals(Made::probe, {0, index}, count), b = made_reals(Made::probe, {1, index}, count);
    for (std::size_t i = 0; i < g.size(); ++i) {
        found[0] += static_cast<double>(g[i]) * g[i];
        found[1] += static_cast<double>(g[i]) * a[i];
        found[2] += static_cast<double>(g[i]) * b[i];
    }
    found[0] = std::sqrt(found[0]);
    return found;
}

void expect_gradients(ComputeDevice& device, const WholeNetwork& network, const nlohmann::json& expected, double tolerance) {
    std::uint64_t index = 0, block = 0, ordinal = 0;
    network.for_each_parameter([&](std::size_t b, const ParameterTensor& p, const Array&, const Array& gradients) {
        if (b != block) ordinal = 0;
        block = b;
        const auto& e = expected.at(std::to_string(b) + "." + std::to_string(ordinal++));
        const auto found = fingerprint(from_device(device, gradients), index++);
        for (std::size_t i = 0; i < found.size(); ++i)
            EXPECT_NEAR(found[i], e[i].get<double>(), tolerance * e[0].get<double>() + 1e-6) << "block " << b << ", " << p.name;
    });
    EXPECT_EQ(index, expected.size());
}

struct Way {
    const char* name;
    bool flash = true;
    Recompute recompute = Recompute::none;
};

void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

class NetworkAgainstPyTorch : public testing::TestWithParam<std::tuple<const char*, Way>> {
protected:
    static std::string name() { return std::get<0>(GetParam()); }
    [[nodiscard]] WholeNetwork network() {
        const Way& way = std::get<1>(GetParam());
        const SmallNetwork small = small_network(name());
        NetworkCut cut{.shard = {.micro_batch = small.samples, .flash_attention = way.flash},
                       .recomputed = way.recompute == Recompute::full};
        cut.plan.recompute = way.recompute;
        return {device, alone, small.workload, cut};
    }
    const std::unique_ptr<ComputeDevice> made = make_device();
    ComputeDevice& device = *made;
    SingleRank alone;
};

TEST_P(NetworkAgainstPyTorch, HasTheSameLossAndGradients) {
    WholeNetwork net = network();
    set_made_weights(device, net);
    net.clear_gradients();
    const nlohmann::json& expected = network_fixtures().at(name());
    const double loss = net.forward_and_backward(made_data(device, name(), expected["data"]));
    EXPECT_NEAR(loss, expected["loss"].get<double>(), 1e-5);
    expect_gradients(device, net, expected["gradients"], gradient_tolerance);
}

constexpr Way plain{"as it is"}, written_out{"scores written out", false}, full{"full recompute", true, Recompute::full},
    selective{"selective recompute", false, Recompute::selective};
INSTANTIATE_TEST_SUITE_P(Kinds, NetworkAgainstPyTorch,
                         testing::Combine(testing::Values("mlp", "resnet18", "gpt", "llama", "bert", "vit"), testing::Values(plain)));
INSTANTIATE_TEST_SUITE_P(Ways, NetworkAgainstPyTorch,
                         testing::Combine(testing::Values("gpt", "llama"), testing::Values(written_out, full, selective)));
INSTANTIATE_TEST_SUITE_P(Recomputed, NetworkAgainstPyTorch,
                         testing::Combine(testing::Values("mlp", "resnet18", "bert"), testing::Values(full)));

OptimizerSettings settings(const std::string& name) {
    if (name == "sgd") return {.kind = Optimizer::sgd, .learning_rate = 0.05};
    if (name == "momentum") return {.kind = Optimizer::momentum, .learning_rate = 0.05, .weight_decay = 0.01};
    if (name == "adam") return {.kind = Optimizer::adam, .learning_rate = 0.002, .weight_decay = 0.01};
    return {.kind = Optimizer::adamw, .learning_rate = 0.002, .weight_decay = 0.1};
}

TEST(NetworksAgainstPyTorch, HaveTheSameLossesOverAFewSteps) {
    for (const auto& [name, expected] : network_fixtures().items())
        for (const auto& [optimizer, losses] : expected["training"].items()) {
            const std::unique_ptr<ComputeDevice> made = make_device();
            ComputeDevice& device = *made;
            SingleRank alone;
            const SmallNetwork small = small_network(name);
            WholeNetwork net(device, alone, small.workload, {.shard = {.micro_batch = small.samples}});
            set_made_weights(device, net);
            for (const auto& loss : losses) {
                net.clear_gradients();
                const double found = net.forward_and_backward(made_data(device, name, expected["data"]));
                EXPECT_NEAR(found, loss.get<double>(), name == "resnet18" ? 2e-4 : 2e-5) << name << " with " << optimizer;
                net.update(settings(optimizer));
            }
        }
}

}  // namespace
}  // namespace sextant
