#include "model/workload/builders.hpp"
#include "model/workload/transformer_writer.hpp"

#include <algorithm>

namespace sextant {
namespace {

// Beside largest_extent, so that tokens x heads x tokens and tokens x experts stay countable.
constexpr std::int64_t most_layers = 100'000;
constexpr std::int64_t most_prediction_layers = 100;
constexpr std::int64_t most_heads = 10'000;
constexpr std::int64_t most_experts = 10'000;
constexpr std::int64_t most_tokens = 10'000'000'000;  // of a micro-batch
constexpr double largest_capacity = 100, largest_loss_weight = 100, largest_softcap = 1e6;

void extent(Diagnostics& problems, std::string_view field, std::int64_t value, std::int64_t low = 1, std::int64_t high = largest_extent) {
    require_between(problems, "/workload/" + std::string(field), field, value, low, high);
}

void refuse(Diagnostics& problems, std::string pointer, std::string what, std::string hint = {}) {
    problems.add({.file = {}, .pointer = std::move(pointer), .what = std::move(what), .hint = std::move(hint)});
}

void check_image(Diagnostics& problems, const TransformerSpec& spec) {
    if (spec.kind != TransformerKind::vision) return;
    extent(problems, "patch_px", spec.patch_px, 1, 10'000);
    extent(problems, "image_px", spec.image_px, spec.patch_px, 10'000);
    extent(problems, "channels", spec.channels, 1, 10'000);
    require_divides(problems, "/workload/patch_px", "patch_px", spec.patch_px, "image side", spec.image_px);
}

void check_latent_attention(Diagnostics& problems, const LatentAttention& a) {
    extent(problems, "mla/q_rank", a.q_rank, 0);
    extent(problems, "mla/kv_rank", a.kv_rank);
    extent(problems, "mla/qk_nope_dim", a.qk_nope_dim);
    extent(problems, "mla/qk_rope_dim", a.qk_rope_dim);
    extent(problems, "mla/value_dim", a.value_dim);
}

void check_adapter_sizes(Diagnostics& problems, const LowRankAdapters& a) {
    extent(problems, "adapters/rank", a.rank);
    extent(problems, "adapters/alpha", a.alpha, 0);
}

void check_state_space(Diagnostics& problems, const StateSpace& m) {
    extent(problems, "ssm/heads", m.heads, 1, most_heads);
    extent(problems, "ssm/head_dim", m.head_dim);
    extent(problems, "ssm/groups", m.groups, 1, m.heads);
    extent(problems, "ssm/state", m.state);
    extent(problems, "ssm/kernel", m.kernel, 1, 1000);
    extent(problems, "ssm/chunk", m.chunk);
}

void check_delta_rule(Diagnostics& problems, const DeltaRule& d) {
    extent(problems, "delta_rule/key_heads", d.key_heads, 1, most_heads);
    extent(problems, "delta_rule/value_heads", d.value_heads, 1, most_heads);
    extent(problems, "delta_rule/key_dim", d.key_dim);
    extent(problems, "delta_rule/value_dim", d.value_dim);
    extent(problems, "delta_rule/kernel", d.kernel, 1, 1000);
    extent(problems, "delta_rule/chunk", d.chunk);
}

void check_experts(Diagnostics& problems, const TransformerSpec& spec) {
    const MixtureOfExperts& e = *spec.moe;
    extent(problems, "moe/latent", e.latent, 0);
    extent(problems, "moe/experts", e.experts, 1, most_experts);
    extent(problems, "moe/topk", e.topk, 1, e.experts);
    extent(problems, "moe/ffn_hidden", e.ffn_hidden);
    extent(problems, "moe/shared_ffn_hidden", e.shared_ffn_hidden, 0);
    extent(problems, "moe/dense_layers", e.dense_layers, 0, spec.layers);
    extent(problems, "moe/every", e.every);
    extent(problems, "moe/expert_groups", e.expert_groups, 1, e.experts);
    extent(problems, "moe/groups_per_token", e.groups_per_token, 1, e.expert_groups);
    if (!(e.capacity_factor >= 0 && e.capacity_factor <= largest_capacity))
        refuse(problems, "/workload/moe/capacity_factor", "capacity_factor must be between 0 and 100", "0: no token is dropped");
    if (!(e.balance_loss >= 0 && e.balance_loss <= largest_loss_weight))
        refuse(problems, "/workload/moe/balance_loss", "balance_loss must be between 0 and 100", "0.01 is usual");
    if (!(e.bias_update_speed >= 0 && e.bias_update_speed <= 1))
        refuse(problems, "/workload/moe/bias_update_speed", "bias_update_speed must be between 0 and 1", "0.001 is usual");
    if (!(e.imbalance >= 1 && e.imbalance <= static_cast<double>(e.experts)))
        refuse(problems, "/workload/moe/imbalance", "imbalance must be between 1 and the number of experts",
               "1: every rank has as many rows for its experts");
}

void check_extents(Diagnostics& problems, const TransformerSpec& spec) {
    extent(problems, "layers", spec.layers, 1, most_layers);
    extent(problems, "hidden", spec.hidden);
    extent(problems, "ffn_hidden", spec.ffn_hidden);
    extent(problems, "heads", spec.heads, 1, most_heads);
    extent(problems, "kv_heads", spec.kv_heads, 1, most_heads);
    extent(problems, "head_dim", spec.head_dim, 0);
    extent(problems, "vocab", spec.vocab);
    extent(problems, "seq_len", spec.seq_len);
    extent(problems, "max_positions", spec.max_positions, 0);
    extent(problems, "decoder_layers", spec.decoder_layers, 0, most_layers);
    extent(problems, "decoder_seq_len", spec.decoder_seq_len, 0);
    extent(problems, "type_vocab", spec.type_vocab, 0);
    extent(problems, "sliding_window", spec.sliding_window, 0);
    extent(problems, "sliding_window_every", spec.sliding_window_every);
    extent(problems, "full_attention_every", spec.full_attention_every, 0);
    extent(problems, "full_attention_offset", spec.full_attention_offset.value_or(0), 0,
           std::max<std::int64_t>(0, spec.full_attention_every - 1));
    extent(problems, "embedding_width", spec.embedding_width, 0);
    extent(problems, "mtp_layers", spec.mtp_layers, 0, most_prediction_layers);
    extent(problems, "predicted_tokens", spec.predicted_tokens, 0, spec.seq_len);
    check_image(problems, spec);
    extent(problems, "classes", spec.classes);
    if (spec.mla) check_latent_attention(problems, *spec.mla);
    if (spec.adapters) check_adapter_sizes(problems, *spec.adapters);
    if (spec.ssm) check_state_space(problems, *spec.ssm);
    if (spec.mla && (spec.qk_norm || spec.attention_gate))
        refuse(problems, spec.qk_norm ? "/workload/qk_norm" : "/workload/attention_gate",
               "latent attention has norms of its own and no gate", "no mla, or neither of both");
    if (spec.delta_rule) check_delta_rule(problems, *spec.delta_rule);
    if (spec.moe) check_experts(problems, spec);
}

void check_adapters(Diagnostics& problems, const TransformerSpec& spec) {
    if (!spec.adapters) return;
    const LowRankAdapters& a = *spec.adapters;
    constexpr auto at = "/workload/adapters";
    if (!a.qkv && !a.proj && !a.fc1 && !a.fc2)
        refuse(problems, at, "no product has an adapter, so nothing is trained", "qkv, proj, fc1 or fc2: true");
    if (spec.mla && a.qkv)
        refuse(problems, "/workload/adapters/qkv", "adapters of queries and keys that are compressed (mla) are not modeled",
               "\"qkv\": false; proj, fc1 and fc2 are");
    const bool all_routed = spec.moe && spec.moe->dense_layers == 0 && spec.moe->every == 1 && spec.moe->shared_ffn_hidden == 0;
    if (all_routed && (a.fc1 || a.fc2))
        refuse(problems, at, "adapters of routed experts are not modeled, and this network has no other MLP",
               "\"fc1\": false, \"fc2\": false; qkv and proj are");
}

void check_consistency(Diagnostics& problems, const TransformerSpec& spec) {
    if (spec.head_dim == 0 && !spec.mla) require_divides(problems, "/workload/heads", "heads", spec.heads, "hidden size", spec.hidden);
    if (!spec.mla) require_divides(problems, "/workload/kv_heads", "kv_heads", spec.kv_heads, "attention heads", spec.heads);
    if (spec.norm != NormKind::layer && spec.norm != NormKind::rms)
        refuse(problems, "/workload/norm", "a transformer has layer or rms normalization");
    const bool encoder = spec.kind == TransformerKind::encoder;
    if (spec.head == HeadKind::language_model && (encoder || spec.kind == TransformerKind::vision))
        refuse(problems, "/workload/head", "a language-model head needs a decoder", encoder ? "masked_lm_nsp" : "classifier");
    if (!encoder && spec.head != HeadKind::language_model && spec.head != HeadKind::classifier)
        refuse(problems, "/workload/head", "this head needs an encoder");
    if (!encoder && spec.embedding_width > 0)
        refuse(problems, "/workload/embedding_width", "embeddings of another width than the layers are modeled in encoders alone");
    if (spec.mtp_layers > 0 && spec.kind != TransformerKind::decoder)
        refuse(problems, "/workload/mtp_layers", "multi-token prediction needs a decoder");
    if (!(spec.mtp_loss_weight >= 0 && spec.mtp_loss_weight <= largest_loss_weight))
        refuse(problems, "/workload/mtp_loss_weight", "mtp_loss_weight must be between 0 and 100", "0.3 and 0.1 are usual");
    if (!spec.moe) return;
    const MixtureOfExperts& moe = *spec.moe;
    require_divides(problems, "/workload/moe/expert_groups", "expert_groups", moe.expert_groups, "experts", moe.experts);
    if (moe.topk > moe.experts / moe.expert_groups * moe.groups_per_token)
        refuse(problems, "/workload/moe/groups_per_token",
               "the groups that a token may go to have fewer experts than it has to find (topk)",
               "more groups_per_token, or no expert_groups");
}

// Where norms stand, and what stands side by side.
void check_arrangement(Diagnostics& problems, const TransformerSpec& spec) {
    if (spec.parallel_residual && norm_placement_of(spec) != NormPlacement::input)
        refuse(problems, "/workload/norm_placement", "beside an MLP attention has its norm in front of it", "\"input\"");
    if (spec.shared_norm && !spec.parallel_residual)
        refuse(problems, "/workload/shared_norm", "attention and MLP share a norm where they stand side by side alone",
               "\"parallel_residual\": true");
    const bool plain = spec.kind == TransformerKind::decoder && !spec.moe && !spec.mla && spec.layer_pattern.empty();
    if (spec.parallel_residual && !plain)
        refuse(problems, "/workload/parallel_residual",
               "attention and MLP side by side are modeled for decoders whose layers have both, without experts or latent attention");
    if (spec.qk_norm_whole && !spec.qk_norm)
        refuse(problems, "/workload/qk_norm_whole", "there are no norms of queries and keys", "\"qk_norm\": true");
    if (spec.full_attention_every > 0 && spec.sliding_window_every > 1)
        refuse(problems, "/workload/full_attention_every", "which layers have the window is said twice", "no sliding_window_every");
    if (!(spec.logit_softcap >= 0 && spec.logit_softcap <= largest_softcap))
        refuse(problems, "/workload/logit_softcap", "logit_softcap must be between 0 and 10^6", "30, as Gemma 2 has it; 0: none");
}

bool has_letter(const TransformerSpec& spec, char letter) { return spec.layer_pattern.find(letter) != std::string::npos; }

void check_hybrid(Diagnostics& problems, const TransformerSpec& spec, const Shard& shard) {
    constexpr auto at = "/workload/layer_pattern";
    if (spec.layer_pattern.empty()) {
        if (spec.ssm) refuse(problems, at, "which layers have the state space is not said", "as in \"M-M-M*-\": a letter for each layer");
        if (spec.delta_rule)
            refuse(problems, at, "which layers have the delta rule is not said", "as in \"GEGEGE*E\": a letter for each layer");
        return;
    }
    if (const auto wrong = spec.layer_pattern.find_first_not_of("MG*-E"); wrong != std::string::npos)
        refuse(problems, at, std::string("no layer is called ") + spec.layer_pattern[wrong],
               "M a state space, G a gated delta rule, * attention, - an MLP, E experts");
    if (static_cast<std::int64_t>(spec.layer_pattern.size()) != spec.layers)
        refuse(problems, at,
               "layers and letters differ: " + std::to_string(spec.layers) + " and " + std::to_string(spec.layer_pattern.size()));
    if (spec.kind != TransformerKind::decoder || spec.bidirectional)
        refuse(problems, at, "a hybrid is a decoder that sees what came before");
    if (has_letter(spec, 'M') && !spec.ssm) refuse(problems, "/workload/ssm", "the state space of the layers M is not described");
    if (has_letter(spec, 'G') && !spec.delta_rule)
        refuse(problems, "/workload/delta_rule", "the delta rule of the layers G is not described");
    if (has_letter(spec, 'E') && !spec.moe) refuse(problems, "/workload/moe", "the experts of the layers E are not described");
    if (spec.moe && (spec.moe->dense_layers > 0 || spec.moe->every > 1))
        refuse(problems, "/workload/moe", "the pattern says which layers have experts, not dense_layers and every");
    if (spec.sliding_window > 0) refuse(problems, "/workload/sliding_window", "windows in a hybrid are not modeled");
    const bool state_space = has_letter(spec, 'M') && spec.ssm, delta_rule = has_letter(spec, 'G') && spec.delta_rule;
    if (!state_space && !delta_rule) return;
    if (spec.adapters) refuse(problems, "/workload/adapters", "adapters beside state spaces and delta rules are not modeled");
    if (state_space) {
        require_divides(problems, "/workload/ssm/groups", "groups", spec.ssm->groups, "heads of the state space", spec.ssm->heads);
        require_divides(problems, "/plan/tp", "tp", shard.tensor, "groups of the state space", spec.ssm->groups);
    }
    if (delta_rule) {
        const DeltaRule& d = *spec.delta_rule;
        require_divides(problems, "/workload/delta_rule/key_heads", "key heads", d.key_heads, "value heads of the delta rule",
                        d.value_heads);
        require_divides(problems, "/plan/tp", "tp", shard.tensor, "key heads of the delta rule", d.key_heads);
    }
    if (shard.context > 1)
        refuse(problems, "/plan/cp", "a state goes from token to token through the whole sequence, which no cut of it is modeled for",
               "tp cuts the heads of state spaces and delta rules");
}

void check_tensor_cut(Diagnostics& problems, const TransformerSpec& spec, const Shard& shard) {
    const std::int64_t tp = shard.tensor;
    const bool hybrid = !spec.layer_pattern.empty();
    if (!hybrid || has_letter(spec, '*')) {
        require_divides(problems, "/plan/tp", "tp", tp, "attention heads", spec.heads);
        if (!spec.mla && spec.kv_heads % tp != 0 && tp % spec.kv_heads != 0)
            refuse(problems, "/plan/tp",
                   "tp and the key-value heads must divide one another: " + std::to_string(tp) + " and " + std::to_string(spec.kv_heads));
    }
    const bool dense_mlp = hybrid ? has_letter(spec, '-') : !spec.moe || spec.moe->dense_layers > 0 || spec.moe->every > 1;
    if (dense_mlp) require_divides(problems, "/plan/tp", "tp", tp, "MLP columns (ffn_hidden)", spec.ffn_hidden);
    if (spec.moe && spec.moe->shared_ffn_hidden > 0)
        require_divides(problems, "/plan/tp", "tp", tp, "columns of the shared experts", spec.moe->shared_ffn_hidden);
    if (tp > spec.vocab && spec.kind != TransformerKind::vision)
        refuse(problems, "/plan/tp", "tp is larger than the vocabulary: " + std::to_string(tp) + " and " + std::to_string(spec.vocab));
}

std::int64_t decoder_sequence(const TransformerSpec& spec) { return spec.decoder_seq_len > 0 ? spec.decoder_seq_len : spec.seq_len; }

void check_tokens(Diagnostics& problems, const TransformerSpec& spec, const Shard& shard) {
    std::int64_t longest = tokens_of(spec);
    if (spec.kind == TransformerKind::encoder_decoder) longest = std::max(longest, decoder_sequence(spec));
    if (shard.micro_batch > most_tokens / longest)
        refuse(
            problems, "/plan/micro_batch",
            "a micro-batch has more than 10^10 tokens: " + std::to_string(shard.micro_batch) + " sequences of " + std::to_string(longest));
}

void check_sequence_cut(Diagnostics& problems, const Shard& shard, std::int64_t sequence, bool causal) {
    const std::int64_t parts = shard.context > 1 && causal ? 2 * std::int64_t{shard.context} : shard.context;
    require_divides(problems, "/plan/cp", parts == shard.context ? "cp" : "2 cp (each rank has an early and a late part)", parts,
                    "sequence length", sequence);
    if (shard.sequence_parallel && sequence % parts == 0)
        require_divides(problems, "/plan/sequence_parallel", "with sequence parallelism tp", shard.tensor, "sequence of a context rank",
                        sequence / shard.context);
}

void check_expert_cut(Diagnostics& problems, const TransformerSpec& spec, const Shard& shard) {
    if (!spec.moe) {
        if (shard.expert > 1) refuse(problems, "/plan/ep", "expert parallelism needs a mixture of experts; this network has none", "ep 1");
        return;
    }
    require_divides(problems, "/plan/ep", "ep", shard.expert, "experts", spec.moe->experts);
    const std::int64_t degree = shard.expert_tensor > 0 ? shard.expert_tensor : shard.tensor;
    require_divides(problems, "/plan/expert_tp", "expert_tp", degree, "columns of an expert", spec.moe->ffn_hidden);
    require_divides(problems, "/plan/expert_tp", "expert_tp", degree, "tp", shard.tensor);
    if (degree != shard.tensor && shard.tensor > 1 && !shard.sequence_parallel)
        refuse(problems, "/plan/expert_tp",
               "expert_tp other than tp needs sequence parallelism: without it all tensor ranks route the same tokens",
               "sequence_parallel: true, or leave expert_tp out");
}

}  // namespace

void check_transformer(const TransformerSpec& spec, const Shard& shard) {
    Diagnostics problems;
    check_extents(problems, spec);
    check_shard(problems, shard);
    problems.throw_if_any();  // what follows divides by these
    check_consistency(problems, spec);
    check_arrangement(problems, spec);
    check_adapters(problems, spec);
    check_hybrid(problems, spec, shard);
    check_tokens(problems, spec, shard);
    check_tensor_cut(problems, spec, shard);
    check_expert_cut(problems, spec, shard);
    const bool decoder = spec.kind == TransformerKind::decoder;
    check_sequence_cut(problems, shard, tokens_of(spec), decoder && !spec.bidirectional);
    if (spec.kind == TransformerKind::encoder_decoder) check_sequence_cut(problems, shard, decoder_sequence(spec), true);
    problems.throw_if_any();
}

}  // namespace sextant
