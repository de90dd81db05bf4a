#include "model/base/ceil_divide.hpp"
#include "model/workload/transformer_writer.hpp"

#include <cmath>
#include <utility>

namespace sextant {
namespace {

// The activation of so many elements.
Pointwise activation_of(MlpKind kind, double elements) {
    switch (kind) {
        case MlpKind::gelu: return {PointwiseKind::gelu, elements};
        case MlpKind::relu: return {PointwiseKind::relu, elements};
        case MlpKind::squared_relu: return {PointwiseKind::squared_relu, elements};
        case MlpKind::silu: return {PointwiseKind::silu, elements};
        case MlpKind::clamped_swiglu: return {PointwiseKind::clamped_gate, elements};
        case MlpKind::swiglu:
        case MlpKind::geglu: break;
    }
    const PointwiseKind gate = kind == MlpKind::geglu ? PointwiseKind::gelu : PointwiseKind::silu;
    return {.kind = PointwiseKind::gate, .elements = elements, .gate = gate};
}

// fc1, activation, fc2 over all tokens; ends in partial sums that leave_tensor_parallel completes.
TensorId mlp_branch(TransformerWriter& w, TensorId x, std::int64_t ffn) {
    const std::int64_t columns = ffn / w.shard.tensor;
    x = w.enter_tensor_parallel("mlp.enter", x);
    x = w.adapted_linear("mlp.fc1", &LowRankAdapters::fc1, x, has_gate(w.spec.mlp) ? 2 * columns : columns, w.spec.bias);
    const std::int64_t rows = w.rows_of(x);
    const double elements = static_cast<double>(rows) * static_cast<double>(columns);
    const std::string module = std::exchange(w.label, w.label + "_act");
    x = w.write("mlp.act", activation_of(w.spec.mlp, elements), {x}, {rows, columns});
    w.label = module;
    x = w.adapted_linear("mlp.fc2", &LowRankAdapters::fc2, x, w.spec.hidden, w.spec.bias);
    return w.leave_tensor_parallel("mlp.leave", x);
}

// How the experts of one layer are cut, and how many rows (copies of tokens) the device with most of them has.
struct ExpertCut {
    std::int64_t experts = 1, columns = 1;  // local
    std::int64_t degree = 1;                // tensor parallelism inside an expert
    std::int64_t copies = 1;                // rows that leave this rank's router, capacity included
    std::int64_t capacity = 0;              // of them for each expert, where that is limited
    double load = 1;                        // rows that come to the experts here, over those that leave
};

ExpertCut cut_experts(const TransformerWriter& w, const MixtureOfExperts& moe, std::int64_t tokens) {
    ExpertCut cut;
    cut.experts = moe.experts / w.shard.expert;
    cut.degree = w.shard.expert_tensor > 0 ? w.shard.expert_tensor : w.shard.tensor;
    cut.columns = moe.ffn_hidden / cut.degree;
    const double factor = moe.capacity_factor > 0 ? moe.capacity_factor : 1;
    cut.copies = static_cast<std::int64_t>(std::ceil(factor * static_cast<double>(tokens * moe.topk)));
    // One rank may have all; but of those that have room for so many, each works on that.
    const bool has_room_for_all = moe.capacity_factor == 0;
    if (!has_room_for_all) cut.capacity = ceil_divide(cut.copies, moe.experts);
    if (w.shard.expert > 1 && has_room_for_all) cut.load = std::min(moe.imbalance, static_cast<double>(w.shard.expert));
    return cut;
}

// One grouped GEMM: the rows are shared evenly among the local experts.
TensorId expert_linear(TransformerWriter& w, std::string name, TensorId x, std::int64_t experts, std::int64_t n) {
    const std::int64_t rows = w.rows_of(x), k = w.width_of(x);
    const Gemm gemm{.batch = experts, .m = ceil_divide(rows, experts), .n = n, .k = k, .weight = true};
    w.expert_parameters = true;
    const double per_expert = static_cast<double>(n) * static_cast<double>(w.spec.bias ? k + 1 : k);
    const TensorId out = w.write(std::move(name), gemm, {x}, {rows, n}, static_cast<double>(experts) * per_expert);
    w.expert_parameters = false;
    return out;
}

// As long as the rank takes that sends or gets most.
TensorId all_to_all(TransformerWriter& w, std::string name, TensorId x, std::int64_t rows_behind) {
    if (w.shard.expert == 1) return x;
    const std::int64_t rows = std::max(w.rows_of(x), rows_behind), width = w.width_of(x);
    const MixtureOfExperts& moe = *w.spec.moe;
    const Exchange exchange{.forward = ExchangeKind::all_to_all,
                            .backward = ExchangeKind::all_to_all,
                            .group = ParallelGroup::expert,
                            .elements = static_cast<double>(rows) * static_cast<double>(width),
                            .copies = static_cast<double>(moe.topk),
                            .reach = static_cast<double>(moe.groups_per_token) / static_cast<double>(moe.expert_groups)};
    return w.write(std::move(name), exchange, {x}, {rows_behind, width});
}

// What an all-to-all brings is in the order of the ranks that sent it, each with rows for every expert here: a pass brings the rows of
// an expert together, and another one puts them back before they return.
TensorId sort_by_expert(TransformerWriter& w, std::string name, TensorId x, const ExpertCut& cut) {
    if (w.shard.expert == 1 || cut.experts == 1) return x;
    const std::int64_t rows = w.rows_of(x), width = w.width_of(x);
    const double elements = static_cast<double>(rows) * static_cast<double>(width);
    return w.write(std::move(name), Pointwise{PointwiseKind::copy, elements}, {x}, {rows, width});
}

// From routed copies of tokens to what the experts make of them. Router weights are applied to the activation, as in Megatron Core.
TensorId experts_branch(TransformerWriter& w, TensorId x, TensorId weights, const ExpertCut& cut) {
    const bool sequence = w.shard.sequence_parallel;
    const std::int64_t width = w.width_of(x);
    const auto arriving = static_cast<std::int64_t>(std::ceil(cut.load * static_cast<double>(cut.copies)));
    x = all_to_all(w, "moe.dispatch", x, arriving);
    w.load = cut.load;
    x = sort_by_expert(w, "moe.sort", x, cut);
    x = w.enter("moe.enter", x, ParallelGroup::expert_tensor, cut.degree, sequence);
    x = expert_linear(w, "moe.fc1", x, cut.experts, has_gate(w.spec.mlp) ? 2 * cut.columns : cut.columns);
    const std::int64_t rows = w.rows_of(x);
    const double elements = static_cast<double>(rows) * static_cast<double>(cut.columns);
    w.label = "moe_act";
    x = w.write("moe.act", activation_of(w.spec.mlp, elements), {x, weights}, {rows, cut.columns});
    w.label = "moe";
    x = expert_linear(w, "moe.fc2", x, cut.experts, width);
    x = w.leave("moe.leave", x, ParallelGroup::expert_tensor, cut.degree, sequence);
    x = sort_by_expert(w, "moe.unsort", x, cut);
    w.load = 1;
    return all_to_all(w, "moe.combine", x, cut.copies);
}

TensorId layer_norm(TransformerWriter& w, std::string name, TensorId x) {
    w.label = "layernorm";
    const TensorId out = w.norm(std::move(name), x);
    w.label.clear();
    return out;
}

// Attention and MLP side by side, as GPT-J and GPT-NeoX have them (arXiv 2204.06745, section 2.1.2): under tensor parallelism what both
// make is added before it is summed over the ranks, once.
TensorId parallel_layer(TransformerWriter& w, TensorId x, const LayerKind& kind, std::int64_t window) {
    TensorId to_attention = w.enter_tensor_parallel("attention.enter", layer_norm(w, "attention.norm", x)), to_mlp = to_attention;
    if (!w.spec.shared_norm) to_mlp = w.enter_tensor_parallel("mlp.enter", layer_norm(w, "mlp.norm", x));
    w.joined = true;
    const TensorId attention = write_self_attention(w, to_attention, kind.causal, window);
    TensorId made = w.residual("layer.join", attention, write_mlp(w, to_mlp, w.spec.ffn_hidden));
    w.joined = false;
    made = w.dropout("layer.drop", w.leave_tensor_parallel("layer.leave", made));
    return w.residual("layer.add", x, made);
}

}  // namespace

bool has_gate(MlpKind kind) { return kind == MlpKind::swiglu || kind == MlpKind::geglu || kind == MlpKind::clamped_swiglu; }

TensorId write_mlp(TransformerWriter& w, TensorId x, std::int64_t ffn) {
    w.label = "mlp";
    x = mlp_branch(w, x, ffn);
    w.label.clear();
    return w.joined ? x : w.dropout("mlp.drop", x);
}

TensorId write_experts(TransformerWriter& w, TensorId x, const MixtureOfExperts& moe) {
    const std::int64_t tokens = w.rows_of(x), width = moe.latent > 0 ? moe.latent : w.spec.hidden;
    const ExpertCut cut = cut_experts(w, moe, tokens);
    w.label = "moe";
    TensorId scores = w.linear("moe.router", x, moe.experts, false);
    if (moe.sigmoid_router)
        scores = w.pointwise("moe.scores", PointwiseKind::sigmoid, {scores});
    else
        scores = w.write("moe.scores", Softmax{.rows = tokens, .width = moe.experts}, {scores}, {tokens, moe.experts});
    const TensorId sent = moe.latent > 0 ? w.linear("moe.latent_down", x, width, w.spec.bias) : x;
    const TokenPermute permute{.tokens = tokens,
                               .width = width,
                               .copies = moe.topk,
                               .expert_groups = moe.expert_groups,
                               .groups_per_token = moe.groups_per_token,
                               .balance_loss = moe.balance_loss,
                               .capacity = cut.capacity};
    w.frozen = true;
    const double biases = moe.sigmoid_router ? static_cast<double>(moe.experts) : 0;
    TensorId routed = w.write("moe.permute", permute, {sent, scores}, {cut.copies, width}, biases);
    w.frozen = false;
    const TensorId weights = w.graph.also("moe.weights", {cut.copies}, TensorRole::statistic);
    routed = experts_branch(w, routed, weights, cut);
    TensorId out = w.write("moe.unpermute", permute, {routed}, {tokens, width});
    if (moe.latent > 0) out = w.linear("moe.latent_up", out, w.spec.hidden, w.spec.bias);
    if (moe.shared_ffn_hidden > 0) {
        w.label = "shared_experts";
        TensorId shared = mlp_branch(w, x, moe.shared_ffn_hidden);
        if (moe.shared_gate) {
            const TensorId gate = w.pointwise("moe.shared_open", PointwiseKind::sigmoid, {w.linear("moe.shared_gate", x, 1, false)});
            shared = w.pointwise("moe.shared_gated", PointwiseKind::multiply, {shared, gate});
        }
        out = w.pointwise("moe.add", PointwiseKind::add, {out, shared});
    }
    w.label.clear();
    return w.dropout("mlp.drop", out);
}

TensorId write_layer(TransformerWriter& w, TensorId x, const LayerKind& kind, TensorId memory, const TokenCut& memory_cut) {
    const std::int64_t window = kind.windowed ? w.spec.sliding_window : 0;
    if (w.spec.parallel_residual) return parallel_layer(w, x, kind, window);
    // x + f(norm(x)), x + norm(f(x)), x + norm(f(norm(x))), norm(x + f(x)).
    const NormPlacement place = norm_placement_of(w.spec);
    const bool both = place == NormPlacement::both;
    const auto around = [&](const std::string& norm_name, const std::string& add_name, const auto& branch) {
        TensorId made = branch(both || place == NormPlacement::input ? layer_norm(w, norm_name, x) : x);
        if (both || place == NormPlacement::output) made = layer_norm(w, norm_name + "_out", made);
        x = w.residual(add_name, x, made);
        if (place == NormPlacement::sum) x = layer_norm(w, norm_name, x);
    };
    if (kind.mixer == Mixer::attention)
        around("attention.norm", "attention.add", [&](TensorId in) { return write_self_attention(w, in, kind.causal, window); });
    if (kind.mixer == Mixer::state_space) around("ssm.norm", "ssm.add", [&](TensorId in) { return write_state_space(w, in, *w.spec.ssm); });
    if (kind.mixer == Mixer::delta_rule)
        around("delta.norm", "delta.add", [&](TensorId in) { return write_delta_rule(w, in, *w.spec.delta_rule); });
    if (kind.cross) around("cross.norm", "cross.add", [&](TensorId in) { return write_cross_attention(w, in, memory, memory_cut); });
    if (kind.mlp)
        around("mlp.norm", "mlp.add",
               [&](TensorId in) { return kind.experts ? write_experts(w, in, *w.spec.moe) : write_mlp(w, in, w.spec.ffn_hidden); });
    return x;
}

}  // namespace sextant
