// Gradients against differences of the loss: for what no fixture covers, and for networks on images.
#include "tests/backend/engine.hpp"
#include "tests/backend/networks.hpp"
#include "tests/backend/single_rank.hpp"
#include "tests/backend/slope.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

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

// As BART has it: norms behind the sums and the embeddings, a table of positions of either half; with the MLP of Marian.
TEST(Differences, ShowTheGradientOfEachParameterOfAnEncoderWithADecoder) {
    Workload w = small_network("gpt").workload;
    auto& spec = std::get<TransformerSpec>(w.spec);
    spec.kind = TransformerKind::encoder_decoder;
    spec.norm_placement = NormPlacement::sum;
    spec.embedding_norm = true;
    spec.mlp = MlpKind::silu;
    spec.decoder_seq_len = 6;
    expect_gradient_of_each_parameter(w);
}

// As ModernBERT has it: norms in front, no biases, rotary positions, windows to both sides in every second layer; and as ELECTRA: narrow
// embeddings, a class of each token.
TEST(Differences, ShowTheGradientOfEachParameterOfEncodersArrangedOtherwise) {
    Workload w = small_network("bert").workload;
    auto& spec = std::get<TransformerSpec>(w.spec);
    spec.pooler = spec.bias = false;
    spec.type_vocab = 0;
    spec.norm_placement = NormPlacement::input;
    spec.position = PositionKind::rotary;
    spec.mlp = MlpKind::geglu;
    spec.sliding_window = 3;
    spec.full_attention_every = 2;
    spec.full_attention_offset = 0;
    expect_gradient_of_each_parameter(w);
    w = small_network("bert").workload;
    spec.embedding_width = 12;
    spec.pooler = false;
    expect_gradient_of_each_parameter(w);
    spec.head = HeadKind::token_classifier;
    spec.pooler = true;
    spec.classes = 61;
    expect_gradient_of_each_parameter(w);
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

// Families whose operators are all among these: families_test.cpp.
TEST(Differences, ShowTheGradientOfNetworksOnImages) {
    for (const char* name : {"googlenet", "densenet121", "mobilenetv2_100", "efficientnet_b0", "convnext_tiny", "resnext50_32x4d",
                             "hrnet_w18", "unet", "shufflenet_v2_x0_5", "mixer_s32_224", "gmlp_ti16_224"})
        expect_gradient_of_all_parameters(name, 64, 4);
}

}  // namespace
}  // namespace sextant
