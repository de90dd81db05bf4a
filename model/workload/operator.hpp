// Operators and the tensors between them: what one device does for one micro-batch of one block of a network.
//
// Shapes are local, after sharding: a column-parallel GEMM under tp = 8 has an eighth of its columns.
// An operator says what it computes, not how long that takes (model/cost) nor by which kernel (backend).
#pragma once

#include "model/base/enum_array.hpp"
#include "model/base/ids.hpp"
#include "model/base/quantity.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sextant {

// How the elements of a tensor are stored; the precision policy of the plan says how wide each is.
enum class TensorRole {
    activation,  // the compute type of the plan
    statistic,   // fp32: means, variances, log-sum-exp
    logits,      // output of the language-model head; frameworks often keep it in fp32
    mask,        // one byte: dropout masks
    index,       // eight bytes: token ids, labels
};

struct Tensor {
    std::string name;
    std::vector<std::int64_t> shape;  // outermost first
    TensorRole role = TensorRole::activation;

    [[nodiscard]] double elements() const;  // product of the shape; 1 for a scalar
    friend bool operator==(const Tensor&, const Tensor&) = default;
};

// out[batch, m, n] = in[batch, m, k] x B[batch, k, n]. With `weight`, B is a parameter, one for each entry of the batch
// (the experts of a mixture; else batch is 1); without, B is the second input.
struct Gemm {
    std::int64_t batch = 1, m = 1, n = 1, k = 1;
    bool weight = true;
    friend bool operator==(const Gemm&, const Gemm&) = default;
};

// NCHW in the comment, any layout in memory. out[batch, out_channels, out_h, out_w]
struct Convolution {
    std::int64_t batch = 1, in_channels = 1, out_channels = 1, in_h = 1, in_w = 1, out_h = 1, out_w = 1;
    std::int64_t kernel_h = 1, kernel_w = 1, stride = 1, groups = 1;
    std::int64_t padding_h = 0, padding_w = 0;  // before the first row and column; behind the last as many as the windows reach
    std::int64_t dilation = 1;                  // pixels from one element of a window to the next
    // The gradient of the images of a convolution, as an operator: of one that reads images as they are made here, and makes them as they
    // are read here. Filters and paddings are that one's.
    bool transposed = false;

    // Along one side: the pixels from the first to the last that so many windows of this length read.
    [[nodiscard]] std::int64_t covered(std::int64_t windows, std::int64_t kernel) const {
        return (windows - 1) * stride + (kernel - 1) * dilation + 1;
    }
    friend bool operator==(const Convolution&, const Convolution&) = default;
};
// Of a transposed convolution the one whose gradient it is; of any other itself.
Convolution underlying(const Convolution&);

// Of single pixels: a product of [pixels, in_channels] by [in_channels, out_channels].
bool is_product_of_pixels(const Convolution&);

// softmax(Q K^T) V in one kernel that never writes the scores (flash attention).
// Plain attention is written out as GEMM, scale and mask, softmax, dropout, GEMM.
struct Attention {
    std::int64_t batch = 1, heads = 1, kv_heads = 1, query_len = 1, key_len = 1, head_dim = 1, value_dim = 1;
    bool causal = true;
    std::int64_t window = 0;  // sliding window; 0: none
    bool balanced = false;  // causal under context parallelism: the queries are spread over the sequence so that all ranks see as many keys
    bool alibi = false;     // scores fall with distance (arXiv 2108.12409)
    friend bool operator==(const Attention&, const Attention&) = default;
};

// Depthwise along the sequence: of each channel a token and the kernel - 1 before it, and a bias where it has one, through SiLU. What
// Mamba has before its scan (arXiv 2312.00752, section 3.4). Input i becomes output i; `channels` are those of all together.
struct SequenceConvolution {
    std::int64_t batch = 1, sequence = 1, channels = 1, kernel = 4;
    friend bool operator==(const SequenceConvolution&, const SequenceConvolution&) = default;
};

// Mamba-2's scan (arXiv 2405.21060): each head has a state S of [head_dim, state], which decays from token to token and takes each in.
//     S_t = exp(-exp(a) dt_t) S_{t-1} + dt_t x_t B_t^T     y_t = S_t C_t + d x_t     dt_t = softplus(raw dt_t + b)
// Inputs: x [tokens, heads x head_dim], B and C [tokens, groups x state], which the heads of a group share, raw dt [tokens, heads].
// Parameters: a, b, d of each head. Computed by chunks of the sequence, within which all is matrix products (section 6).
struct StateSpaceScan {
    std::int64_t batch = 1, sequence = 1, heads = 1, head_dim = 1, groups = 1, state = 1, chunk = 1;
    friend bool operator==(const StateSpaceScan&, const StateSpaceScan&) = default;
};

// The gated delta rule (arXiv 2412.06464): each head has a state S of [key_dim, value_dim], which decays, forgets what it has at a key and
// takes in what the token has.
//     S_t = g_t (S_{t-1} - b_t k_t (k_t^T S_{t-1})) + b_t k_t v_t^T     y_t = S_t^T q_t     b_t = sigmoid(raw b_t)
//     g_t = exp(-exp(a) softplus(raw g_t + c))                          q, k of length 1
// Inputs: q and k [tokens, heads x key_dim], v [tokens, heads x value_dim], raw b and g [tokens, heads]. Parameters: a and c of each
// head. Outputs: y [tokens, heads x value_dim], and of each token the row of its chunk's triangular inverse [tokens, heads x chunk],
// which backward reads. Computed by chunks of the sequence, within which all but that inverse is matrix products (section 3.3).
struct DeltaRuleScan {
    std::int64_t batch = 1, sequence = 1, heads = 1, key_dim = 1, value_dim = 1, chunk = 1;
    friend bool operator==(const DeltaRuleScan&, const DeltaRuleScan&) = default;
};

enum class NormKind { layer, rms, batch, group };
struct Normalization {
    NormKind kind = NormKind::layer;
    std::int64_t rows = 1, width = 1;  // batch norm: rows = channels, width = batch x pixels
    std::int64_t parts = 1;            // of a row, each normalized by itself
    bool gated = false;                // SiLU of a second input multiplies the first; in gated delta rules what comes out
    bool of_heads = false;             // each row is a token's head: tensor ranks share them out, or have copies, and all have the gain
    friend bool operator==(const Normalization&, const Normalization&) = default;
};

struct Softmax {
    std::int64_t rows = 1, width = 1;
    bool masked = false;  // scale and causal mask in the same kernel
    friend bool operator==(const Softmax&, const Softmax&) = default;
};

// One extent of a copy that moves elements: from one index to the next, those of the input lie `stride` apart. Indices begin at `start`,
// and go around.
struct CopyAxis {
    std::int64_t extent = 1, stride = 1, start = 0;
    friend bool operator==(const CopyAxis&, const CopyAxis&) = default;
};

// One pass over elements. What backward needs depends on the function: gelu its input, relu its output, dropout its mask, add nothing.
enum class PointwiseKind {
    add,
    bias,
    scale,
    gelu,
    relu,
    relu6,
    squared_relu,
    silu,
    sigmoid,
    tanh,
    gate,
    clamped_gate,  // out = f sigmoid(1.702 f) (s + 1), f the first half of the columns, at most 7, s the second, between -7 and 7
    dropout,
    rotary,
    mask,
    multiply,
    cast,
    copy,
    repeat,       // of an image, to more pixels: each is the one that it lies in, or
    interpolate,  // is mixed of the four around it (bilinear; corners are not aligned)
    view,         // some of the elements of the input, or each of them several times, where they lie: backward alone has a kernel
    from_input,   // any other function, whose gradient is worked out of what it reads, or
    from_output,  // of what it makes. What these compute is not said: they cannot be run
};
struct Pointwise {
    PointwiseKind kind = PointwiseKind::add;
    double elements = 1;
    bool in_place = false;  // written over its input, which PyTorch copies first where backward reads it
    // What the function is, beside its operands; no cost depends on it.
    double constant = 0;           // scale: the factor; dropout: the fraction dropped; rotary, and a table of sinusoids that is added: the
                                   // base of the wavelengths
    std::int64_t head_dim = 0;     // rotary; copy that puts heads together: columns of the first input, and all of the second behind them
    std::int64_t rotated_dim = 0;  // rotary: the last columns of a head that are rotated; 0: all
    PointwiseKind gate = PointwiseKind::silu;  // gate: what the first half of the columns goes through before it multiplies the second
    bool causal = false, alibi = false;        // mask, as in Attention
    std::int64_t window = 0;                   // likewise
    // mask: of the pixels of windows, so many along a side of the image, that lie half of one further: what has come around is not seen.
    std::int64_t shifted_windows = 0;
    // copy: where each element comes from. The output counts along these, outermost first, and its outputs lie behind one another. Images
    // lie as pixels by channels.
    std::vector<CopyAxis> order{};
    friend bool operator==(const Pointwise&, const Pointwise&) = default;
};

enum class PoolingKind { max, average, global_average };
struct Pooling {
    PoolingKind kind = PoolingKind::max;
    std::int64_t window = 1;  // elements read for one written
    // Square windows. kernel 0: as many as the output has pixels, spread evenly over the image (adaptive).
    std::int64_t kernel = 0, stride = 1, padding = 0;
    friend bool operator==(const Pooling&, const Pooling&) = default;
};

struct Embedding {
    std::int64_t tokens = 1, rows = 1, width = 1;  // a table of rows x width, local part
    std::int64_t ahead = 0;                        // so many tokens behind its own a position looks up; no cost depends on it
    friend bool operator==(const Embedding&, const Embedding&) = default;
};

struct CrossEntropy {
    std::int64_t rows = 1, classes = 1;  // local classes under vocabulary-parallel loss
    // No cost depends on these: a position's label is so many tokens behind the next one, and positions that have none do not count;
    // and what the mean over the rows weighs in the loss that training lowers.
    std::int64_t ahead = 0;
    double weight = 1;
    friend bool operator==(const CrossEntropy&, const CrossEntropy&) = default;
};

// The router's decision and the permutation of tokens to experts and back; the exchange itself is an Exchange. Its parameters, where it has
// any, are a bias for each expert, which counts only in the decision. They are frozen.
struct TokenPermute {
    std::int64_t tokens = 1, width = 1, copies = 1;        // each token is written `copies` times
    std::int64_t expert_groups = 1, groups_per_token = 1;  // these and the next as in MixtureOfExperts
    double balance_loss = 0;
    std::int64_t capacity = 0;  // rows that each expert has room for, filled or not; 0: as many as come
    friend bool operator==(const TokenPermute&, const TokenPermute&) = default;
};

enum class ExchangeKind { all_reduce, all_gather, reduce_scatter, all_to_all, none };

// The groups of ranks that a plan makes. Exchanges inside a block go over the first four.
enum class ParallelGroup {
    tensor,
    context,
    expert,
    expert_tensor,
    data,         // holds the same dense parameters: data-parallel and context ranks
    expert_data,  // holds the same experts
    shard,        // ZeRO: shares out the dense parameters; all of `data`, or a part of it
    replicas,     // holds the same shard
    pipeline,     // the stages
};
inline constexpr int parallel_group_count = static_cast<int>(ParallelGroup::pipeline) + 1;
inline constexpr auto all_parallel_groups = enumerators<ParallelGroup, parallel_group_count>();
std::string_view to_text(ParallelGroup);

// Communication inside a block, in forward and (conjugate) in backward. `bytes` follow from `elements` and the element's width:
// all_reduce: elements of the buffer; all_gather: of the gathered result; reduce_scatter: of the input; all_to_all: of one rank's buffer.
// Input i becomes output i; with `forward` none the output is the input itself.
struct Exchange {
    ExchangeKind forward = ExchangeKind::all_reduce;
    ExchangeKind backward = ExchangeKind::none;
    ParallelGroup group = ParallelGroup::tensor;
    double elements = 0;
    bool regathered = false;  // backward gathers once more before its own exchange, so that only the cut input stays in memory
    // all_to_all of tokens to experts: the copies of each token, and the part of the ranks that they may go to.
    double copies = 1, reach = 1;
    friend bool operator==(const Exchange&, const Exchange&) = default;
};

// Low-rank adapters (LoRA, arXiv 2106.09685, section 4.1): beside a frozen product x W the product of two narrow ones, x A B.
enum class AdapterPart {
    none,
    down,  // A, to the rank
    up,    // B, from the rank back: zero at first, so that training begins with the network as it was
};

using OperatorKind = std::variant<Gemm, Convolution, Attention, SequenceConvolution, StateSpaceScan, DeltaRuleScan, Normalization, Softmax,
                                  Pointwise, Pooling, Embedding, CrossEntropy, TokenPermute, Exchange>;

// The matrices of the vocabulary, which several blocks may share. One belongs to the first block that has it:
// that is the last to add to its gradient.
enum class SharedMatrix { embedding, output };
inline constexpr std::size_t shared_matrix_count = static_cast<std::size_t>(SharedMatrix::output) + 1;
inline constexpr auto all_shared_matrices = enumerators<SharedMatrix, shared_matrix_count>();

struct Operator {
    std::string name;  // "mlp.fc1"
    OperatorKind kind;
    std::vector<TensorId> inputs{};
    std::vector<TensorId> outputs{};
    double parameters = 0;           // local elements, bias included
    bool expert_parameters = false;  // sharded over the expert group rather than replicated over it
    double load = 1;                 // the work that it is sized for over that of an average rank, where experts are loaded unevenly
    bool frozen = false;             // its parameters are not trained
    AdapterPart adapter = AdapterPart::none;
    std::optional<SharedMatrix> shared{};  // which of the shared matrices its weight is, if it is one
    bool tied = false;                     // its weight belongs to another operator (tied embeddings) and is counted there
    bool attention_core = false;           // between Q, K, V and the output projection: what selective recompute drops
    std::string label{};  // recompute module: "layernorm", "qkv", "core_attn", "mla_up_proj", "mlp", "mlp_act"; may be empty
    // What else it computes than its kind says, at the cost of that kind ("norms of whole channels"): it is priced, and runs nowhere.
    std::string stands_for{};

    [[nodiscard]] bool is_trained() const { return parameters > 0 && !frozen; }
    friend bool operator==(const Operator&, const Operator&) = default;
};

// Multiply-adds count two. Formulas: GEMM 2 b m n k; convolution 2 N K P Q (C/g) R S, of one transposed those of the underlying one;
// attention 2 b h (d + d_v) attention_pairs; scan, of T tokens by chunks of c, 2 T (g c n + h d (c + 2 n));
// everything else a few operations per element, which no published figure counts: zero here.
Flops forward_flops(const OperatorKind&);
Flops forward_flops(const Operator&);  // on an average rank
// Twice forward for anything with a weight or two differentiable operands; 2.5 times for flash attention, which recomputes the scores; for
// a scan also what it takes to make its states again. Once where the weight is frozen, since only the gradient of the input is made.
Flops backward_flops(const OperatorKind&);
Flops backward_flops(const Operator&);

// The (query, key) pairs of one head that the mask leaves. The last query sees all keys, or the window, and each earlier one a key fewer.
double attention_pairs(const Attention&);

}  // namespace sextant
