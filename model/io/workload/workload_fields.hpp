// The fields of a workload in JSON: name, place and bounds. Reader and writer walk the same tables, so that what one writes the other
// reads.
#pragma once

#include "model/io/format/json_reader.hpp"
#include "model/workload/workload.hpp"

namespace sextant {

inline constexpr Word<TransformerKind> transformer_kinds[] = {{"decoder", TransformerKind::decoder},
                                                              {"encoder", TransformerKind::encoder},
                                                              {"encoder_decoder", TransformerKind::encoder_decoder},
                                                              {"vision", TransformerKind::vision}};
inline constexpr Word<MlpKind> mlp_kinds[] = {
    {"gelu", MlpKind::gelu},     {"relu", MlpKind::relu},   {"squared_relu", MlpKind::squared_relu},    {"silu", MlpKind::silu},
    {"swiglu", MlpKind::swiglu}, {"geglu", MlpKind::geglu}, {"clamped_swiglu", MlpKind::clamped_swiglu}};
inline constexpr Word<NormKind> norm_kinds[] = {
    {"layer", NormKind::layer}, {"rms", NormKind::rms}, {"batch", NormKind::batch}, {"group", NormKind::group}};
inline constexpr Word<NormPlacement> norm_placements[] = {
    {"input", NormPlacement::input}, {"output", NormPlacement::output}, {"both", NormPlacement::both}, {"sum", NormPlacement::sum}};
inline constexpr Word<PositionKind> position_kinds[] = {{"learned", PositionKind::learned},   {"sinusoidal", PositionKind::sinusoidal},
                                                        {"rotary", PositionKind::rotary},     {"alibi", PositionKind::alibi},
                                                        {"relative", PositionKind::relative}, {"none", PositionKind::none}};
inline constexpr Word<HeadKind> head_kinds[] = {{"language_model", HeadKind::language_model},
                                                {"masked_lm_nsp", HeadKind::masked_lm_nsp},
                                                {"question_answering", HeadKind::question_answering},
                                                {"classifier", HeadKind::classifier},
                                                {"token_classifier", HeadKind::token_classifier}};
inline constexpr Word<PointwiseKind> activation_kinds[] = {{"relu", PointwiseKind::relu},   {"gelu", PointwiseKind::gelu},
                                                           {"silu", PointwiseKind::silu},   {"sigmoid", PointwiseKind::sigmoid},
                                                           {"relu6", PointwiseKind::relu6}, {"squared_relu", PointwiseKind::squared_relu},
                                                           {"tanh", PointwiseKind::tanh}};
// Layers of a chain that need nothing: those that stand as a word, and those that join others.
inline constexpr Word<ChainLayer::Kind> bare_layers[] = {{"dropout", ChainLayer::Kind::dropout},
                                                         {"residual_begin", ChainLayer::Kind::residual_begin},
                                                         {"residual_end", ChainLayer::Kind::residual_end}};
inline constexpr Word<ChainLayer::Kind> joining_layers[] = {
    {"add", ChainLayer::Kind::add}, {"concat", ChainLayer::Kind::concat}, {"multiply", ChainLayer::Kind::multiply}};
inline constexpr Word<PointwiseKind> upsampling_kinds[] = {{"nearest", PointwiseKind::repeat}, {"bilinear", PointwiseKind::interpolate}};
inline constexpr Word<PoolingKind> pooling_kinds[] = {
    {"max", PoolingKind::max}, {"average", PoolingKind::average}, {"global_average", PoolingKind::global_average}};

// Of a field that has no usual value.
struct Needed {};

// Bounds far beyond any real network, so that a slip of the keyboard is caught before it is built.
inline constexpr Bounds layer_count{1, 1e4}, width_bound{1, 1 << 24}, length_bound{1, 1e8}, optional_length{0, 1e8},
    optional_width{0, 1 << 24};
inline constexpr Bounds pixel_bound{1, 1 << 16}, padding_bound{0, 1 << 16}, expert_bound{1, 1 << 16}, loss_weight{0, 100},
    softcap_bound{0, 1e6};

template <class Visit>
void transformer_fields(const Visit& visit) {
    using T = TransformerSpec;
    visit("kind", &T::kind, transformer_kinds);
    visit("layers", &T::layers, layer_count);
    visit("hidden", &T::hidden, width_bound);
    visit("ffn_hidden", &T::ffn_hidden, width_bound);
    visit("heads", &T::heads, width_bound);
    visit("kv_heads", &T::kv_heads, width_bound);
    visit("head_dim", &T::head_dim, optional_width);
    visit("vocab", &T::vocab, width_bound);
    visit("seq_len", &T::seq_len, length_bound);
    visit("max_positions", &T::max_positions, optional_length);
    visit("decoder_layers", &T::decoder_layers, Bounds{0, layer_count.high});
    visit("decoder_seq_len", &T::decoder_seq_len, optional_length);
    visit("mlp", &T::mlp, mlp_kinds);
    visit("norm", &T::norm, norm_kinds);
    visit("position", &T::position, position_kinds);
    visit("head", &T::head, head_kinds);
    visit("tied_embeddings", &T::tied_embeddings);
    visit("bias", &T::bias);
    visit("qkv_bias", &T::qkv_bias);
    visit("norm_bias", &T::norm_bias);
    visit("norm_placement", &T::norm_placement, norm_placements);
    visit("parallel_residual", &T::parallel_residual);
    visit("shared_norm", &T::shared_norm);
    visit("qk_norm", &T::qk_norm);
    visit("qk_norm_whole", &T::qk_norm_whole);
    visit("attention_gate", &T::attention_gate);
    visit("dropout", &T::dropout);
    visit("bidirectional", &T::bidirectional);
    visit("type_vocab", &T::type_vocab, optional_width);
    visit("pooler", &T::pooler);
    visit("embedding_norm", &T::embedding_norm);
    visit("embedding_width", &T::embedding_width, optional_width);
    visit("sliding_window", &T::sliding_window, optional_length);
    visit("sliding_window_every", &T::sliding_window_every, layer_count);
    visit("full_attention_every", &T::full_attention_every, Bounds{0, layer_count.high});
    visit("full_attention_offset", &T::full_attention_offset, Bounds{0, layer_count.high});
    visit("logit_softcap", &T::logit_softcap, softcap_bound);
    visit("mtp_layers", &T::mtp_layers, Bounds{0, layer_count.high});
    visit("mtp_loss_weight", &T::mtp_loss_weight, loss_weight);
    visit("predicted_tokens", &T::predicted_tokens, optional_length);
    visit("image_px", &T::image_px, pixel_bound);
    visit("patch_px", &T::patch_px, pixel_bound);
    visit("channels", &T::channels, pixel_bound);
    visit("classes", &T::classes, width_bound);
    visit("layer_pattern", &T::layer_pattern);
}

template <class Visit>
void state_space_fields(const Visit& visit) {
    using T = StateSpace;
    visit("heads", &T::heads, width_bound);
    visit("head_dim", &T::head_dim, width_bound);
    visit("groups", &T::groups, width_bound);
    visit("state", &T::state, width_bound);
    visit("kernel", &T::kernel, width_bound);
    visit("chunk", &T::chunk, width_bound);
}

template <class Visit>
void delta_rule_fields(const Visit& visit) {
    using T = DeltaRule;
    visit("key_heads", &T::key_heads, width_bound);
    visit("value_heads", &T::value_heads, width_bound);
    visit("key_dim", &T::key_dim, width_bound);
    visit("value_dim", &T::value_dim, width_bound);
    visit("kernel", &T::kernel, width_bound);
    visit("chunk", &T::chunk, width_bound);
}

template <class Visit>
void latent_attention_fields(const Visit& visit) {
    using T = LatentAttention;
    visit("q_rank", &T::q_rank, optional_width);
    visit("kv_rank", &T::kv_rank, width_bound);
    visit("qk_nope_dim", &T::qk_nope_dim, width_bound);
    visit("qk_rope_dim", &T::qk_rope_dim, width_bound);
    visit("value_dim", &T::value_dim, width_bound);
}

template <class Visit>
void mixture_fields(const Visit& visit) {
    using T = MixtureOfExperts;
    visit("experts", &T::experts, expert_bound);
    visit("topk", &T::topk, expert_bound);
    visit("ffn_hidden", &T::ffn_hidden, width_bound);
    visit("shared_ffn_hidden", &T::shared_ffn_hidden, optional_width);
    visit("shared_gate", &T::shared_gate);
    visit("latent", &T::latent, optional_width);
    visit("dense_layers", &T::dense_layers, Bounds{0, layer_count.high});
    visit("every", &T::every, layer_count);
    visit("expert_groups", &T::expert_groups, expert_bound);
    visit("groups_per_token", &T::groups_per_token, expert_bound);
    visit("sigmoid_router", &T::sigmoid_router);
    visit("bias_update_speed", &T::bias_update_speed, Bounds{0, 1});
    visit("capacity_factor", &T::capacity_factor, Bounds{0, 1000});
    visit("imbalance", &T::imbalance, Bounds{1, 1000});
    visit("balance_loss", &T::balance_loss, loss_weight);
}

template <class Visit>
void adapter_fields(const Visit& visit) {
    using T = LowRankAdapters;
    visit("rank", &T::rank, width_bound);
    visit("alpha", &T::alpha, optional_width);
    visit("qkv", &T::qkv);
    visit("proj", &T::proj);
    visit("fc1", &T::fc1);
    visit("fc2", &T::fc2);
}

template <class Visit>
void convolutional_fields(const Visit& visit) {
    using T = ConvolutionalSpec;
    visit("name", &T::name);
    visit("image_px", &T::image_px, pixel_bound);
    visit("channels", &T::channels, pixel_bound);
    visit("classes", &T::classes, width_bound);
}

}  // namespace sextant
