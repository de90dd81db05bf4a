// What transformer blocks are written with: operators cut over one device, with the exchanges that each cut costs.
// Internal to the transformer builder.
//
// Tensor parallelism after Megatron-LM (arXiv 1909.08053, section 3): a column-parallel GEMM, then a row-parallel one; before the pair an
// exchange that does nothing forward and sums gradients backward, after it one that sums forward and does nothing backward.
// With sequence parallelism (arXiv 2205.05198, section 4.2) these become all-gather and reduce-scatter, conjugates of each other, and what
// lies between two pairs (normalization, dropout, residual) holds 1/tp of the sequence.
#pragma once

#include "model/workload/operator_graph.hpp"
#include "model/workload/workload.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant {

// Extents of one micro-batch of sequences on one device.
struct TokenCut {
    std::int64_t batch = 1;
    std::int64_t sequence = 1;       // after context parallelism
    std::int64_t full_sequence = 1;  // before
    std::int64_t rows = 1;           // of the residual stream: batch x sequence, over tp under sequence parallelism

    [[nodiscard]] std::int64_t tokens() const { return batch * sequence; }
};
TokenCut cut_tokens(std::int64_t full_sequence, const Shard&);

struct TransformerWriter {
    using Shape = std::vector<std::int64_t>;

    const TransformerSpec& spec;
    const Shard& shard;
    TokenCut cut;
    OperatorGraphBuilder graph{};

    // Marks that the operators that follow carry; see Operator.
    std::string label{};
    bool attention_core = false, expert_parameters = false, frozen = false, tied = false;
    std::optional<SharedMatrix> shared{};
    AdapterPart adapter = AdapterPart::none;
    double load = 1;
    bool joined = false;  // the layer takes attention and MLP into tensor parallelism, and what both make out of it, at once

    TensorId hidden_input(std::string name) { return graph.input(std::move(name), {cut.rows, spec.hidden}); }
    // Any operator; its output has `shape`.
    TensorId write(std::string name, OperatorKind kind, std::vector<TensorId> inputs, Shape shape, double parameters = 0,
                   TensorRole role = TensorRole::activation);
    // One whose output is shaped as its first input.
    TensorId pointwise(std::string name, Pointwise function, std::vector<TensorId> inputs, double parameters = 0);
    TensorId pointwise(std::string name, PointwiseKind kind, std::vector<TensorId> inputs, double parameters = 0) {
        return pointwise(std::move(name), Pointwise{kind}, std::move(inputs), parameters);
    }
    TensorId norm(std::string name, TensorId x);  // over the last extent
    // x [rows, k] times a weight [k, n], plus a bias [n].
    TensorId linear(std::string name, TensorId x, std::int64_t n, bool bias, TensorRole role = TensorRole::activation);
    // Adds its low-rank adapter to a product x W, if the network has one there: its outputs become the sums. And a linear() with one.
    void adapt(const std::string& product, bool LowRankAdapters::*where, TensorId x, const std::vector<TensorId*>& outputs);
    TensorId adapted_linear(const std::string& name, bool LowRankAdapters::*where, TensorId x, std::int64_t n, bool bias);
    TensorId dropout(std::string name, TensorId x);  // x itself where the network has none
    TensorId residual(std::string name, TensorId x, TensorId branch);

    // Around a column-parallel and row-parallel pair: from the residual stream to all tokens, and back. x itself in a group of one, and
    // where the layer does it.
    TensorId enter_tensor_parallel(std::string name, TensorId x);
    TensorId leave_tensor_parallel(std::string name, TensorId partial);
    // The same over any group of `degree` ranks; `cut` says that outside the pair each rank has its own part of the rows.
    // Only what the tensor group gathers is gathered again for backward; an expert's input stays.
    TensorId enter(std::string name, TensorId x, ParallelGroup group, std::int64_t degree, bool cut);
    TensorId leave(std::string name, TensorId partial, ParallelGroup group, std::int64_t degree, bool cut);

    [[nodiscard]] std::int64_t rows_of(TensorId id) const { return graph.tensor(id).shape.front(); }
    [[nodiscard]] std::int64_t width_of(TensorId id) const { return graph.tensor(id).shape.back(); }
};

// Dense MLP of `ffn` columns in all, from the residual stream back to it.
TensorId write_mlp(TransformerWriter&, TensorId x, std::int64_t ffn);
// Router, experts and shared experts, likewise.
TensorId write_experts(TransformerWriter&, TensorId x, const MixtureOfExperts&);
// Self-attention, or latent attention where the spec has it. `window` 0: none.
TensorId write_self_attention(TransformerWriter&, TensorId x, bool causal, std::int64_t window);
// Queries from x, keys and values from `memory`, the encoder's output (a residual stream of its own cut).
TensorId write_cross_attention(TransformerWriter&, TensorId x, TensorId memory, const TokenCut& memory_cut);

// Mamba-2's block in the place of attention, with its heads cut over the tensor group.
TensorId write_state_space(TransformerWriter&, TensorId x, const StateSpace&);
// A gated delta network's block likewise.
TensorId write_delta_rule(TransformerWriter&, TensorId x, const DeltaRule&);

// One layer of the main stack: which of the kinds a spec knows.
enum class Mixer { attention, state_space, delta_rule, none };
struct LayerKind {
    Mixer mixer = Mixer::attention;
    bool mlp = true;  // or experts
    bool experts = false;
    bool windowed = false;
    bool cross = false;  // decoder of an encoder-decoder
    bool causal = false;
    friend bool operator==(const LayerKind&, const LayerKind&) = default;
};
// Residual stream to residual stream. `memory` and its cut are read by cross layers only.
TensorId write_layer(TransformerWriter&, TensorId x, const LayerKind&, TensorId memory = {}, const TokenCut& memory_cut = {});

// Blocks at both ends.
OperatorGraph input_block(const TransformerSpec&, const Shard&, const TokenCut&);
OperatorGraph vision_input_block(const TransformerSpec&, const Shard&, const TokenCut&);
OperatorGraph head_block(const TransformerSpec&, const Shard&, const TokenCut&);
// Between encoder and decoder: ends the encoder (final norm) and embeds the decoder's tokens.
OperatorGraph decoder_input_block(const TransformerSpec&, const Shard&, const TokenCut& encoder, const TokenCut& decoder);
// Multi-token prediction (DeepSeek-V3, arXiv 2412.19437, section 2.2), module k of k = 1, 2, ...: what the module before made of a position
// (of the first: the hidden state) and the embedding of the token k further on, a layer, and a head, whose label is the token after that;
// embedding and output matrix are the main ones. The hidden state goes on to the network's head.
OperatorGraph prediction_block(const TransformerSpec&, const Shard&, const TokenCut&, const LayerKind&, std::int64_t module);

// Problems of spec and cut, all of them.
void check_transformer(const TransformerSpec&, const Shard&);

// Extents that a spec leaves to be derived.
std::int64_t head_dim_of(const TransformerSpec&);
std::int64_t tokens_of(const TransformerSpec&);  // per sample in the main stack: patches and class token of a vision transformer

}  // namespace sextant
