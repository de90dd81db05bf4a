// The fields of a network that is written out, operator by operator, in JSON: name, place and bounds. Reader and writer walk the same
// tables.
#pragma once

#include "model/io/workload/workload_fields.hpp"

namespace sextant {

inline constexpr Word<BlockRole> block_roles[] = {{"input", BlockRole::input}, {"layer", BlockRole::layer}, {"head", BlockRole::head}};
inline constexpr Word<TensorRole> tensor_roles[] = {{"activation", TensorRole::activation},
                                                    {"statistic", TensorRole::statistic},
                                                    {"logits", TensorRole::logits},
                                                    {"mask", TensorRole::mask},
                                                    {"index", TensorRole::index}};
inline constexpr Word<AdapterPart> adapter_parts[] = {{"none", AdapterPart::none}, {"down", AdapterPart::down}, {"up", AdapterPart::up}};
inline constexpr Word<SharedMatrix> shared_matrices[] = {{"embedding", SharedMatrix::embedding}, {"output", SharedMatrix::output}};
inline constexpr Word<PointwiseKind> pointwise_kinds[] = {{"add", PointwiseKind::add},
                                                          {"bias", PointwiseKind::bias},
                                                          {"scale", PointwiseKind::scale},
                                                          {"gelu", PointwiseKind::gelu},
                                                          {"relu", PointwiseKind::relu},
                                                          {"relu6", PointwiseKind::relu6},
                                                          {"squared_relu", PointwiseKind::squared_relu},
                                                          {"silu", PointwiseKind::silu},
                                                          {"sigmoid", PointwiseKind::sigmoid},
                                                          {"tanh", PointwiseKind::tanh},
                                                          {"gate", PointwiseKind::gate},
                                                          {"clamped_gate", PointwiseKind::clamped_gate},
                                                          {"dropout", PointwiseKind::dropout},
                                                          {"rotary", PointwiseKind::rotary},
                                                          {"mask", PointwiseKind::mask},
                                                          {"multiply", PointwiseKind::multiply},
                                                          {"cast", PointwiseKind::cast},
                                                          {"copy", PointwiseKind::copy},
                                                          {"repeat", PointwiseKind::repeat},
                                                          {"interpolate", PointwiseKind::interpolate},
                                                          {"view", PointwiseKind::view},
                                                          {"from_input", PointwiseKind::from_input},
                                                          {"from_output", PointwiseKind::from_output}};

inline constexpr Bounds extent_bound{1, 1e9}, optional_extent{0, 1e9}, parameter_bound{0, 1e12}, load_bound{1e-3, 1e3};
inline constexpr Bounds constant_bound{-1e12, 1e12}, element_bound{0, 1e12};

// The word for a kind of operator.
constexpr std::string_view kind_word(const Gemm&) { return "gemm"; }
constexpr std::string_view kind_word(const Convolution&) { return "convolution"; }
constexpr std::string_view kind_word(const Attention&) { return "attention"; }
constexpr std::string_view kind_word(const SequenceConvolution&) { return "sequence_convolution"; }
constexpr std::string_view kind_word(const StateSpaceScan&) { return "state_space_scan"; }
constexpr std::string_view kind_word(const DeltaRuleScan&) { return "delta_rule_scan"; }
constexpr std::string_view kind_word(const Normalization&) { return "normalization"; }
constexpr std::string_view kind_word(const Softmax&) { return "softmax"; }
constexpr std::string_view kind_word(const Pointwise&) { return "pointwise"; }
constexpr std::string_view kind_word(const Pooling&) { return "pooling"; }
constexpr std::string_view kind_word(const Embedding&) { return "embedding"; }
constexpr std::string_view kind_word(const CrossEntropy&) { return "cross_entropy"; }
constexpr std::string_view kind_word(const TokenPermute&) { return "token_permute"; }
constexpr std::string_view kind_word(const Exchange&) { return "exchange"; }

template <class Visit>
void kind_fields(const Gemm&, const Visit& visit) {
    visit("batch", &Gemm::batch, extent_bound);
    visit("m", &Gemm::m, extent_bound);
    visit("n", &Gemm::n, extent_bound);
    visit("k", &Gemm::k, extent_bound);
    visit("weight", &Gemm::weight);
}

template <class Visit>
void kind_fields(const Convolution&, const Visit& visit) {
    using T = Convolution;
    visit("batch", &T::batch, extent_bound);
    visit("in_channels", &T::in_channels, width_bound);
    visit("out_channels", &T::out_channels, width_bound);
    visit("in_h", &T::in_h, pixel_bound);
    visit("in_w", &T::in_w, pixel_bound);
    visit("out_h", &T::out_h, pixel_bound);
    visit("out_w", &T::out_w, pixel_bound);
    visit("kernel_h", &T::kernel_h, pixel_bound);
    visit("kernel_w", &T::kernel_w, pixel_bound);
    visit("stride", &T::stride, pixel_bound);
    visit("groups", &T::groups, width_bound);
    visit("padding_h", &T::padding_h, padding_bound);
    visit("padding_w", &T::padding_w, padding_bound);
    visit("dilation", &T::dilation, pixel_bound);
    visit("transposed", &T::transposed);
}

template <class Visit>
void kind_fields(const Attention&, const Visit& visit) {
    using T = Attention;
    visit("batch", &T::batch, extent_bound);
    visit("heads", &T::heads, width_bound);
    visit("kv_heads", &T::kv_heads, width_bound);
    visit("query_len", &T::query_len, length_bound);
    visit("key_len", &T::key_len, length_bound);
    visit("head_dim", &T::head_dim, width_bound);
    visit("value_dim", &T::value_dim, width_bound);
    visit("causal", &T::causal);
    visit("window", &T::window, optional_length);
    visit("balanced", &T::balanced);
    visit("alibi", &T::alibi);
}

template <class Visit>
void kind_fields(const SequenceConvolution&, const Visit& visit) {
    using T = SequenceConvolution;
    visit("batch", &T::batch, extent_bound);
    visit("sequence", &T::sequence, length_bound);
    visit("channels", &T::channels, width_bound);
    visit("kernel", &T::kernel, width_bound);
}

template <class Visit>
void kind_fields(const StateSpaceScan&, const Visit& visit) {
    using T = StateSpaceScan;
    visit("batch", &T::batch, extent_bound);
    visit("sequence", &T::sequence, length_bound);
    visit("heads", &T::heads, width_bound);
    visit("head_dim", &T::head_dim, width_bound);
    visit("groups", &T::groups, width_bound);
    visit("state", &T::state, width_bound);
    visit("chunk", &T::chunk, width_bound);
}

template <class Visit>
void kind_fields(const DeltaRuleScan&, const Visit& visit) {
    using T = DeltaRuleScan;
    visit("batch", &T::batch, extent_bound);
    visit("sequence", &T::sequence, length_bound);
    visit("heads", &T::heads, width_bound);
    visit("key_dim", &T::key_dim, width_bound);
    visit("value_dim", &T::value_dim, width_bound);
    visit("chunk", &T::chunk, width_bound);
}

template <class Visit>
void kind_fields(const Normalization&, const Visit& visit) {
    using T = Normalization;
    visit("kind", &T::kind, norm_kinds, Needed{});
    visit("rows", &T::rows, extent_bound);
    visit("width", &T::width, extent_bound);
    visit("parts", &T::parts, extent_bound);
    visit("gated", &T::gated);
    visit("of_heads", &T::of_heads);
}

template <class Visit>
void kind_fields(const Softmax&, const Visit& visit) {
    visit("rows", &Softmax::rows, extent_bound);
    visit("width", &Softmax::width, extent_bound);
    visit("masked", &Softmax::masked);
}

// But for `order`.
template <class Visit>
void kind_fields(const Pointwise&, const Visit& visit) {
    using T = Pointwise;
    visit("kind", &T::kind, pointwise_kinds, Needed{});
    visit("elements", &T::elements, element_bound);
    visit("in_place", &T::in_place);
    visit("constant", &T::constant, constant_bound);
    visit("head_dim", &T::head_dim, optional_width);
    visit("rotated_dim", &T::rotated_dim, optional_width);
    visit("gate", &T::gate, activation_kinds);
    visit("causal", &T::causal);
    visit("alibi", &T::alibi);
    visit("window", &T::window, optional_length);
    visit("shifted_windows", &T::shifted_windows, optional_width);
}

template <class Visit>
void kind_fields(const Pooling&, const Visit& visit) {
    using T = Pooling;
    visit("kind", &T::kind, pooling_kinds, Needed{});
    visit("window", &T::window, extent_bound);
    visit("kernel", &T::kernel, padding_bound);
    visit("stride", &T::stride, pixel_bound);
    visit("padding", &T::padding, padding_bound);
}

template <class Visit>
void kind_fields(const Embedding&, const Visit& visit) {
    using T = Embedding;
    visit("tokens", &T::tokens, extent_bound);
    visit("rows", &T::rows, extent_bound);
    visit("width", &T::width, width_bound);
    visit("ahead", &T::ahead, optional_length);
}

template <class Visit>
void kind_fields(const CrossEntropy&, const Visit& visit) {
    using T = CrossEntropy;
    visit("rows", &T::rows, extent_bound);
    visit("classes", &T::classes, extent_bound);
    visit("ahead", &T::ahead, optional_length);
    visit("weight", &T::weight, loss_weight);
}

template <class Visit>
void kind_fields(const TokenPermute&, const Visit& visit) {
    using T = TokenPermute;
    visit("tokens", &T::tokens, extent_bound);
    visit("width", &T::width, width_bound);
    visit("copies", &T::copies, expert_bound);
    visit("expert_groups", &T::expert_groups, expert_bound);
    visit("groups_per_token", &T::groups_per_token, expert_bound);
    visit("balance_loss", &T::balance_loss, loss_weight);
    visit("capacity", &T::capacity, optional_extent);
}

template <class Visit>
void kind_fields(const Exchange&, const Visit&) {}

template <class Visit>
void operator_fields(const Visit& visit) {
    using T = Operator;
    visit("parameters", &T::parameters, parameter_bound);
    visit("expert_parameters", &T::expert_parameters);
    visit("load", &T::load, load_bound);
    visit("frozen", &T::frozen);
    visit("adapter", &T::adapter, adapter_parts);
    visit("shared", &T::shared, shared_matrices);
    visit("tied", &T::tied);
    visit("attention_core", &T::attention_core);
    visit("label", &T::label);
    visit("stands_for", &T::stands_for);
}

}  // namespace sextant
