// Gradients against differences of the loss: for what no fixture covers, and for every family of networks on images.
#include "tests/backend/arrays.hpp"
#include "tests/backend/engine.hpp"
#include "tests/backend/networks.hpp"
#include "tests/backend/single_rank.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace sextant {
namespace {

double norm_of(const std::vector<float>& v) { return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0)); }

// Moves parameters along their gradients and back.
class Slope {
public:
    // `others`: what losses of other blocks than the last weigh.
    Slope(ComputeDevice& device, WholeNetwork& network, WholeNetwork::Data data, double others = 0)
        : device_(device), network_(network), data_(std::move(data)), others_(others) {
        network_.clear_gradients();
        network_.forward_and_backward(data_);
        network_.for_each_parameter([&](std::size_t, const ParameterTensor& p, const Array& weights, const Array& gradients) {
            list_.push_back({p.name, weights, from_device(device_, weights), from_device(device_, gradients)});
        });
    }
    [[nodiscard]] std::size_t size() const { return list_.size(); }
    [[nodiscard]] const std::string& name(std::size_t i) const { return list_[i].name; }
    // Of the gradient of parameters first .. last - 1 together: how fast the loss should rise along it.
    [[nodiscard]] double norm(std::size_t first, std::size_t last) const {
        double sum = 0;
        for (std::size_t i = first; i < last; ++i) sum += std::pow(norm_of(list_[i].gradient), 2);
        return std::sqrt(sum);
    }
    // How fast it does, over so long a way to both sides.
    double measure(std::size_t first, std::size_t last, double way) {
        const double unit = way / norm(first, last);
        const double rise = loss_at(first, last, unit) - loss_at(first, last, -unit);
        loss_at(first, last, 0);
        return rise / (2 * way);
    }

private:
    struct Parameter {
        std::string name;
        Array weights;
        std::vector<float> begin, gradient;
    };
    double loss_at(std::size_t first, std::size_t last, double factor) {
        for (std::size_t i = first; i < last; ++i) {
            std::vector<float> moved = list_[i].begin;
            for (std::size_t k = 0; k < moved.size(); ++k) moved[k] += static_cast<float>(factor) * list_[i].gradient[k];
            device_.upload(moved.data(), list_[i].weights);
        }
        const double of_last = network_.forward_and_backward(data_);
        return of_last + others_ * std::accumulate(network_.losses().begin(), network_.losses().end() - 1, 0.0);
    }
    ComputeDevice& device_;
    WholeNetwork& network_;
    WholeNetwork::Data data_;
    double others_;
    std::vector<Parameter> list_;
};

void expect_gradient_of_each_parameter(const Workload& w, double others = 0, double way = 0.01) {
    for (const bool flash : {true, false}) {
        const std::unique_ptr<ComputeDevice> made = make_device();
        ComputeDevice& device = *made;
        SingleRank alone;
        WholeNetwork net(device, alone, w, {.shard = {.micro_batch = 3, .flash_attention = flash}});
        set_made_weights(device, net);
        Slope slope(device, net, made_data(device, w.name), others);
        for (std::size_t i = 0; i < slope.size(); ++i)
            EXPECT_NEAR(slope.measure(i, i + 1, way), slope.norm(i, i + 1), 0.01 * slope.norm(i, i + 1) + 1e-3)
                << slope.name(i) << (flash ? "" : ", scores written out");
    }
}

// A sliding window, grouped heads, rotary positions, a gate of gelu, dropout.
TEST(Differences, ShowTheGradientOfEachParameterOfAWindowedTransformer) {
    Workload w = small_network("llama").workload;
    auto& spec = std::get<TransformerSpec>(w.spec);
    spec.sliding_window = 3;
    spec.mlp = MlpKind::geglu;
    spec.dropout = true;
    expect_gradient_of_each_parameter(w);
}

TEST(Differences, ShowTheGradientOfEachParameterWhereScoresFallWithDistance) {
    Workload w = small_network("llama").workload;
    std::get<TransformerSpec>(w.spec).position = PositionKind::alibi;
    expect_gradient_of_each_parameter(w);
}

// Heads whose keys share the columns that are rotated, and whose values are narrower.
TEST(Differences, ShowTheGradientOfEachParameterOfLatentAttention) {
    Workload w = small_network("llama").workload;
    std::get<TransformerSpec>(w.spec).mla =
        LatentAttention{.q_rank = 12, .kv_rank = 10, .qk_nope_dim = 4, .qk_rope_dim = 4, .value_dim = 6};
    expect_gradient_of_each_parameter(w);
}

TEST(Differences, ShowTheGradientOfEachParameterOfAttentionWithNormsOfItsHeadsAndAGate) {
    Workload w = small_network("llama").workload;
    auto& spec = std::get<TransformerSpec>(w.spec);
    spec.qk_norm = spec.attention_gate = true;
    expect_gradient_of_each_parameter(w);
}

// Norms in front and behind, or behind alone, and of all heads together; attention and MLP side by side; logits that are capped.
TEST(Differences, ShowTheGradientOfEachParameterHoweverALayerIsArranged) {
    Workload w = small_network("llama").workload;
    auto& spec = std::get<TransformerSpec>(w.spec);
    spec.norm_placement = NormPlacement::both;
    spec.logit_softcap = 2;
    expect_gradient_of_each_parameter(w);
    spec.norm_placement = NormPlacement::output;
    spec.qk_norm = spec.qk_norm_whole = true;
    expect_gradient_of_each_parameter(w, 0, 0.003);  // the embedding goes to attention as it is, which bends with it
    for (const bool shared : {false, true}) {
        w = small_network("llama").workload;
        spec.parallel_residual = true;
        spec.shared_norm = shared;
        expect_gradient_of_each_parameter(w);
    }
}

// Of two modules for multi-token prediction, with what they share with the network; they weigh 0.5 together.
TEST(Differences, ShowTheGradientOfEachParameterOfMultiTokenPrediction) {
    for (const bool tied : {false, true}) {
        Workload w = small_network("llama").workload;
        auto& spec = std::get<TransformerSpec>(w.spec);
        spec.mtp_layers = 2;
        spec.mtp_loss_weight = 0.5;
        spec.tied_embeddings = tied;
        expect_gradient_of_each_parameter(w, 0.25);
    }
}

TEST(Differences, ShowTheGradientOfEveryFamilyOfNetworksOnImages) {
    for (const char* name :
         {"googlenet", "densenet121", "mobilenetv2_100", "efficientnet_b0", "convnext_tiny", "resnext50_32x4d", "hrnet_w18", "unet"}) {
        Workload w = small_network("resnet18").workload;
        w.spec = ConvolutionalSpec{.name = name, .image_px = 64, .classes = 10};
        const std::unique_ptr<ComputeDevice> made = make_device();
        ComputeDevice& device = *made;
        SingleRank alone;
        WholeNetwork net(device, alone, w, {.shard = {.micro_batch = 4}});
        net.draw_weights(3);
        Slope slope(device, net, made_data(device, w.name));
        // All at once, so far that the loss changes by 0.01: kinks and curvature then leave a few percent.
        const double norm = slope.norm(0, slope.size());
        EXPECT_NEAR(slope.measure(0, slope.size(), 0.005 / norm), norm, 0.05 * norm) << name;
    }
}

}  // namespace
}  // namespace sextant
