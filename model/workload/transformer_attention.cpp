#include "model/workload/transformer_writer.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace sextant {
namespace {

constexpr double rotary_base = 10000;  // RoFormer (arXiv 2104.09864), section 3.2.2

// Q, K and V of one attention on one device, and which keys a query sees.
struct AttentionCore {
    TensorId q{}, k{}, v{};
    std::optional<TensorId> gate{};
    std::int64_t heads = 1, kv_heads = 1, head_dim = 1, value_dim = 1;
    bool causal = true, masked = true;
    bool alibi = false;
    bool biased = false;  // a learned bias is added to the scores (T5)
    std::int64_t window = 0;
    TokenCut keys;  // of the sequence that keys come from
};

// Each rank of a context group has the queries of its part of the sequence, and gathers the keys and values of all parts.
void gather_context(TransformerWriter& w, AttentionCore& a) {
    if (w.shard.context == 1) return;
    const std::int64_t tokens = a.keys.batch * a.keys.full_sequence;
    const std::int64_t k_width = w.width_of(a.k), v_width = w.width_of(a.v);
    const Exchange exchange{.forward = ExchangeKind::all_gather,
                            .backward = ExchangeKind::reduce_scatter,
                            .group = ParallelGroup::context,
                            .elements = static_cast<double>(tokens) * static_cast<double>(k_width + v_width),
                            .regathered = true};
    a.k = w.write("attention.cp", exchange, {a.k, a.v}, {tokens, k_width});
    a.v = w.graph.also("attention.cp", {tokens, v_width}, TensorRole::activation);
}

TensorId flash_core(TransformerWriter& w, const AttentionCore& a) {
    const Attention attention{.batch = w.cut.batch,
                              .heads = a.heads,
                              .kv_heads = a.kv_heads,
                              .query_len = w.cut.sequence,
                              .key_len = a.keys.full_sequence,
                              .head_dim = a.head_dim,
                              .value_dim = a.value_dim,
                              .causal = a.causal,
                              .window = a.window,
                              .balanced = a.causal && w.shard.context > 1,
                              .alibi = a.alibi};
    const TensorId out = w.write("attention", attention, {a.q, a.k, a.v}, {w.cut.tokens(), a.heads * a.value_dim});
    w.graph.also("attention.lse", {w.cut.batch, a.heads, w.cut.sequence}, TensorRole::statistic);
    return out;
}

// Scores written out: every query against every key, whatever the mask.
TensorId plain_core(TransformerWriter& w, const AttentionCore& a) {
    const std::int64_t matrices = w.cut.batch * a.heads, queries = w.cut.sequence, keys = a.keys.full_sequence;
    const Gemm scores{.batch = matrices, .m = queries, .n = keys, .k = a.head_dim, .weight = false};
    TensorId p = w.write("attention.qk", scores, {a.q, a.k}, {matrices, queries, keys});
    const double scale = 1 / std::sqrt(static_cast<double>(a.head_dim));
    p = w.pointwise("attention.scale", Pointwise{.kind = PointwiseKind::scale, .constant = scale}, {p});
    if (a.biased) p = w.pointwise("attention.bias", PointwiseKind::add, {p});
    const Pointwise mask{.kind = PointwiseKind::mask, .causal = a.causal, .alibi = a.alibi, .window = a.window};
    if (a.masked) p = w.pointwise("attention.mask", mask, {p});
    p = w.write("softmax", Softmax{.rows = matrices * queries, .width = keys, .masked = false}, {p}, {matrices, queries, keys});
    p = w.dropout("attention.drop", p);
    const Gemm weighted{.batch = matrices, .m = queries, .n = a.value_dim, .k = keys, .weight = false};
    return w.write("attention.pv", weighted, {p, a.v}, {w.cut.tokens(), a.heads * a.value_dim});
}

// From Q, K, V back to the residual stream.
TensorId finish(TransformerWriter& w, AttentionCore a) {
    w.label.clear();
    gather_context(w, a);
    w.label = "core_attn";
    w.attention_core = true;
    TensorId x = w.shard.flash_attention ? flash_core(w, a) : plain_core(w, a);
    w.attention_core = false;
    w.label.clear();
    if (a.gate)
        x = w.pointwise("attention.gated", PointwiseKind::multiply, {x, w.pointwise("attention.open", PointwiseKind::sigmoid, {*a.gate})});
    x = w.adapted_linear("attention.proj", &LowRankAdapters::proj, x, w.spec.hidden, w.spec.bias);
    x = w.leave_tensor_parallel("attention.leave", x);
    return w.joined ? x : w.dropout("attention.out", x);
}

// Each head by itself; they share the gain.
TensorId norm_heads(TransformerWriter& w, std::string name, TensorId x, std::int64_t dim) {
    const std::int64_t rows = w.rows_of(x), width = w.width_of(x);
    return w.write(std::move(name), Normalization{.kind = NormKind::rms, .rows = rows * (width / dim), .width = dim, .of_heads = true}, {x},
                   {rows, width}, static_cast<double>(dim));
}

// All heads of queries, and all of keys, at once. Where tensor ranks share the heads out, each token's sums of squares are exchanged
// before, and what the gradients have along the norms going back: a number each.
void norm_whole(TransformerWriter& w, TensorId& q, TensorId& k) {
    const std::int64_t rows = w.rows_of(q), q_width = w.width_of(q), k_width = w.width_of(k);
    if (w.shard.tensor > 1) {
        const Exchange sums{.forward = ExchangeKind::all_reduce,
                            .backward = ExchangeKind::all_reduce,
                            .group = ParallelGroup::tensor,
                            .elements = 2 * static_cast<double>(rows)};
        q = w.write("attention.qk_sums", sums, {q, k}, {rows, q_width});
        k = w.graph.also("attention.qk_sums", {rows, k_width}, TensorRole::activation);
    }
    const auto norm = [&](std::string name, TensorId x, std::int64_t width) {
        return w.write(std::move(name), Normalization{NormKind::rms, rows, width}, {x}, {rows, width}, static_cast<double>(width));
    };
    q = norm("attention.q_norm", q, q_width);
    k = norm("attention.k_norm", k, k_width);
}

// A rank has at least one key-value head: below that, heads are copied.
std::int64_t local_kv_heads(const TransformerWriter& w) { return std::max<std::int64_t>(1, w.spec.kv_heads / w.shard.tensor); }

double parameters_of(const Gemm& g, bool bias = false) { return static_cast<double>(g.n) * static_cast<double>(g.k + (bias ? 1 : 0)); }

// What latent attention makes queries, keys and values of: a vector for each, and the part of a key that is rotated, which all heads share.
struct Latent {
    TensorId q, kv, k_rope;
};

// Down-projections are the same on every tensor rank; up-projections are cut by heads.
Latent project_down(TransformerWriter& w, TensorId x) {
    const LatentAttention& m = *w.spec.mla;
    TensorId q = x;
    if (m.q_rank > 0) {
        q = w.linear("mla.q_down", q, m.q_rank, false);
        q = w.norm("mla.q_norm", q);
    }
    const std::int64_t rows = w.rows_of(x);
    const Gemm down{.batch = 1, .m = rows, .n = m.kv_rank + m.qk_rope_dim, .k = w.spec.hidden, .weight = true};
    TensorId kv = w.write("mla.kv_down", down, {x}, {rows, m.kv_rank}, parameters_of(down));
    TensorId k_rope = w.graph.also("mla.k_rope", {rows, m.qk_rope_dim}, TensorRole::activation);
    kv = w.norm("mla.kv_norm", kv);
    q = w.enter_tensor_parallel("mla.q_enter", q);
    kv = w.enter_tensor_parallel("mla.kv_enter", kv);
    k_rope = w.enter_tensor_parallel("mla.rope_enter", k_rope);
    return {q, kv, k_rope};
}

TensorId latent_attention(TransformerWriter& w, TensorId x, bool causal, std::int64_t window) {
    const LatentAttention& m = *w.spec.mla;
    const std::int64_t heads = w.spec.heads / w.shard.tensor, qk_dim = m.qk_nope_dim + m.qk_rope_dim;
    AttentionCore a{.heads = heads,
                    .kv_heads = heads,
                    .head_dim = qk_dim,
                    .value_dim = m.value_dim,
                    .causal = causal,
                    .masked = causal,
                    .window = window,
                    .keys = w.cut};
    const Latent latent = project_down(w, x);
    w.label = "mla_up_proj";
    const TensorId q = w.linear("mla.q_up", latent.q, heads * qk_dim, false);
    const std::int64_t tokens = w.cut.tokens();
    const Gemm up{.batch = 1, .m = tokens, .n = heads * (m.qk_nope_dim + m.value_dim), .k = m.kv_rank, .weight = true};
    const TensorId k_nope = w.write("mla.kv_up", up, {latent.kv}, {tokens, heads * m.qk_nope_dim}, parameters_of(up));
    a.v = w.graph.also("mla.v", {tokens, heads * m.value_dim}, TensorRole::activation);
    const double rotated = static_cast<double>(tokens) * static_cast<double>((heads + 1) * m.qk_rope_dim);
    const Pointwise rotary{
        .kind = PointwiseKind::rotary, .elements = rotated, .constant = rotary_base, .head_dim = qk_dim, .rotated_dim = m.qk_rope_dim};
    a.q = w.write("mla.rotary", rotary, {q, latent.k_rope}, {tokens, heads * qk_dim});
    const TensorId k_rope = w.graph.also("mla.rotary", {tokens, m.qk_rope_dim}, TensorRole::activation);
    const double copied = static_cast<double>(tokens) * static_cast<double>(heads * qk_dim);
    const Pointwise joined{.kind = PointwiseKind::copy, .elements = copied, .head_dim = qk_dim};
    a.k = w.write("mla.k", joined, {k_nope, k_rope}, {tokens, heads * qk_dim});
    return finish(w, a);
}

bool has_qkv_bias(const TransformerSpec& spec) { return spec.qkv_bias.value_or(spec.bias); }

// One product makes queries, keys and values, and the gate of the output where there is one.
void project_qkv(TransformerWriter& w, TensorId x, AttentionCore& a) {
    const std::int64_t tokens = w.cut.tokens(), q_width = a.heads * a.head_dim, kv_width = a.kv_heads * a.head_dim;
    const bool gated = w.spec.attention_gate;
    const Gemm qkv{.batch = 1, .m = tokens, .n = (gated ? 2 : 1) * q_width + 2 * kv_width, .k = w.spec.hidden, .weight = true};
    w.label = "qkv";
    a.q = w.write("attention.qkv", qkv, {x}, {tokens, q_width}, parameters_of(qkv, has_qkv_bias(w.spec)));
    a.k = w.graph.also("attention.k", {tokens, kv_width}, TensorRole::activation);
    a.v = w.graph.also("attention.v", {tokens, kv_width}, TensorRole::activation);
    std::vector<TensorId*> made{&a.q, &a.k, &a.v};
    if (gated) made.push_back(&a.gate.emplace(w.graph.also("attention.gate", {tokens, q_width}, TensorRole::activation)));
    w.adapt("attention.qkv", &LowRankAdapters::qkv, x, made);
}

void rotate(TransformerWriter& w, AttentionCore& a) {
    const std::int64_t tokens = w.cut.tokens(), q_width = a.heads * a.head_dim, kv_width = a.kv_heads * a.head_dim;
    const double rotated = static_cast<double>(tokens) * static_cast<double>(q_width + kv_width);
    const Pointwise rotary{.kind = PointwiseKind::rotary, .elements = rotated, .constant = rotary_base, .head_dim = a.head_dim};
    a.q = w.write("rotary", rotary, {a.q, a.k}, {tokens, q_width});
    a.k = w.graph.also("rotary.k", {tokens, kv_width}, TensorRole::activation);
}

}  // namespace

TensorId write_self_attention(TransformerWriter& w, TensorId x, bool causal, std::int64_t window) {
    if (w.spec.mla) return latent_attention(w, x, causal, window);
    const std::int64_t dim = head_dim_of(w.spec);
    AttentionCore a{.heads = w.spec.heads / w.shard.tensor,
                    .kv_heads = local_kv_heads(w),
                    .head_dim = dim,
                    .value_dim = dim,
                    .causal = causal,
                    // Encoders mask the padding; a vision transformer has nothing to mask.
                    .masked = causal || w.spec.kind != TransformerKind::vision,
                    .alibi = w.spec.position == PositionKind::alibi,
                    .biased = w.spec.position == PositionKind::relative,
                    .window = window,
                    .keys = w.cut};
    project_qkv(w, w.enter_tensor_parallel("attention.enter", x), a);
    if (w.spec.qk_norm_whole) {
        norm_whole(w, a.q, a.k);
    } else if (w.spec.qk_norm) {
        a.q = norm_heads(w, "attention.q_norm", a.q, dim);
        a.k = norm_heads(w, "attention.k_norm", a.k, dim);
    }
    if (w.spec.position == PositionKind::rotary) rotate(w, a);
    return finish(w, a);
}

TensorId write_cross_attention(TransformerWriter& w, TensorId x, TensorId memory, const TokenCut& memory_cut) {
    const std::int64_t dim = head_dim_of(w.spec), heads = w.spec.heads / w.shard.tensor, kv_heads = local_kv_heads(w);
    AttentionCore a{.heads = heads,
                    .kv_heads = kv_heads,
                    .head_dim = dim,
                    .value_dim = dim,
                    .causal = false,
                    .masked = true,
                    .window = 0,
                    .keys = memory_cut};
    const bool bias = has_qkv_bias(w.spec);
    x = w.enter_tensor_parallel("cross.enter", x);
    memory = w.enter_tensor_parallel("cross.memory", memory);
    a.q = w.adapted_linear("cross.q", &LowRankAdapters::qkv, x, heads * dim, bias);
    const std::int64_t kv_width = kv_heads * dim, tokens = memory_cut.tokens();
    const Gemm kv{.batch = 1, .m = tokens, .n = 2 * kv_width, .k = w.spec.hidden, .weight = true};
    a.k = w.write("cross.kv", kv, {memory}, {tokens, kv_width}, parameters_of(kv, bias));
    a.v = w.graph.also("cross.v", {tokens, kv_width}, TensorRole::activation);
    w.adapt("cross.kv", &LowRankAdapters::qkv, memory, {&a.k, &a.v});
    return finish(w, a);
}

}  // namespace sextant
