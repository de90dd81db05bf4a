// What is trained: a family of networks with its parameters, and how to build its operator graphs.
#pragma once

#include "model/workload/network.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sextant {

enum class TransformerKind { decoder, encoder, encoder_decoder, vision };
// The last three have three matrices. clamped_swiglu: with limits to both halves and another slope, GPT-OSS (arXiv 2508.10925,
// section 2.2).
enum class MlpKind { gelu, relu, squared_relu, silu, swiglu, geglu, clamped_swiglu };
bool has_gate(MlpKind);
// sinusoidal: a table as learned ones are, which nobody trains (arXiv 1706.03762, section 3.5).
enum class PositionKind { learned, sinusoidal, rotary, alibi, relative, none };
constexpr bool has_table(PositionKind kind) { return kind == PositionKind::learned || kind == PositionKind::sinusoidal; }
// Of attention and of the MLP: in front of them, behind them (OLMo 2, arXiv 2501.00656, section 2.1), both (Gemma 2, arXiv 2408.00118,
// section 2), or behind the sum with what they read (arXiv 1706.03762, section 3.1; "post-LN"), which leaves no norm at the stack's end.
enum class NormPlacement { input, output, both, sum };
// token_classifier: a class of each token; with `pooler` behind a dense layer and a GELU (ELECTRA, arXiv 2003.10555).
enum class HeadKind { language_model, masked_lm_nsp, question_answering, classifier, token_classifier };

struct LatentAttention {      // MLA, DeepSeek-V2 (arXiv 2405.04434) section 2.1
    std::int64_t q_rank = 0;  // 0: queries are not compressed
    std::int64_t kv_rank = 512, qk_nope_dim = 128, qk_rope_dim = 64, value_dim = 128;
};

struct StateSpace {  // Mamba-2 (arXiv 2405.21060), section 7
    std::int64_t heads = 80, head_dim = 64, groups = 1, state = 128;
    std::int64_t kernel = 4;   // of the convolution along the sequence
    std::int64_t chunk = 128;  // of the scan, as in Megatron
};

struct DeltaRule {                                  // gated delta networks (arXiv 2412.06464), section 3
    std::int64_t key_heads = 16, value_heads = 32;  // as many value heads share a key head
    std::int64_t key_dim = 128, value_dim = 128;    // of a head
    std::int64_t kernel = 4;                        // of the convolution along the sequence
    std::int64_t chunk = 64;                        // of the scan, as in flash-linear-attention
};

struct MixtureOfExperts {
    std::int64_t experts = 8, topk = 2;
    std::int64_t ffn_hidden = 0;         // of one expert
    std::int64_t shared_ffn_hidden = 0;  // of the shared experts together; 0: none
    bool shared_gate = false;            // what those make is multiplied with the sigmoid of a number that each token has (Qwen-MoE)
    std::int64_t latent = 0;             // width that tokens are brought to on their way to routed experts (LatentMoE); 0: hidden
    std::int64_t dense_layers = 0;       // leading layers with an ordinary MLP
    std::int64_t every = 1;              // after those, one MoE layer in `every`
    // Routing limited to groups of experts that lie on a node: DeepSeek-V3 (arXiv 2412.19437) section 2.1.2. 1: a token may go anywhere.
    std::int64_t expert_groups = 1, groups_per_token = 1;
    double capacity_factor = 0;   // 0: dropless
    double imbalance = 1;         // rows that reach the rank whose experts have most, over the mean of the ranks that share them out
    double balance_loss = 0;      // weight of a loss that loads experts evenly, docs/model/workloads.md; it costs nothing that is predicted
    bool sigmoid_router = false;  // scores by sigmoid, and a bias per expert for balance: DeepSeek-V3 (arXiv 2412.19437) section 2.1.2
    double bias_update_speed = 0.001;  // of those biases in each step (section 4.2 there); it costs nothing that is predicted
};

// Low-rank adapters (LoRA, arXiv 2106.09685): they alone are trained, everything else is frozen. Beside each product that is adapted,
// x W of [k, n], stands alpha / rank times x A B, with A of [k, rank] and B of [rank, n].
struct LowRankAdapters {
    std::int64_t rank = 16;
    std::int64_t alpha = 0;  // 0: as the rank
    // Which products of a layer: queries, keys and values, which share A; the output of attention; in and out of the MLP, no routed
    // experts.
    bool qkv = true, proj = true, fc1 = true, fc2 = true;
    friend bool operator==(const LowRankAdapters&, const LowRankAdapters&) = default;
};

struct TransformerSpec {
    TransformerKind kind = TransformerKind::decoder;
    std::int64_t layers = 12, hidden = 768, ffn_hidden = 3072, heads = 12, kv_heads = 12;
    std::int64_t head_dim = 0;                                      // 0: hidden / heads
    std::int64_t vocab = 50257, seq_len = 1024, max_positions = 0;  // 0: seq_len
    std::int64_t decoder_layers = 0, decoder_seq_len = 0;           // encoder_decoder
    MlpKind mlp = MlpKind::gelu;
    NormKind norm = NormKind::layer;
    PositionKind position = PositionKind::learned;
    HeadKind head = HeadKind::language_model;
    bool tied_embeddings = true;
    bool bias = true;  // of dense layers (and of qkv unless qkv_bias says otherwise)
    std::optional<bool> qkv_bias;
    std::optional<bool> norm_bias;                // shifts of layer norms; none: as bias
    std::optional<NormPlacement> norm_placement;  // none: behind the sums in an encoder (BERT), else in front
    bool parallel_residual = false;               // x + attention(norm(x)) + mlp(norm(x)), with a norm for each of both (GPT-NeoX)
    bool shared_norm = false;                     // ... or one (GPT-J)
    bool qk_norm = false;                         // each head's queries and keys are normalized (RMS); the heads share a gain (Qwen3)
    bool qk_norm_whole = false;                   // ... all heads' together, with a gain for each column (OLMo 2)
    bool attention_gate = false;         // what attention makes is multiplied with the sigmoid of a product of its input (arXiv 2505.06708)
    bool dropout = true;                 // hidden and attention dropout exist as operators
    bool bidirectional = false;          // no causal mask
    std::int64_t type_vocab = 0;         // BERT segment embeddings
    bool pooler = false;                 // BERT
    std::optional<bool> embedding_norm;  // none: an encoder has it (BERT), others not
    std::int64_t embedding_width = 0;    // of an encoder whose embeddings are brought to its width (ELECTRA); 0: hidden
    std::int64_t sliding_window = 0, sliding_window_every = 1;  // every n-th layer has the window, beginning with the first
    std::int64_t full_attention_every = 0;                      // ... or all have it but one of every n: the n-th, or
    std::optional<std::int64_t> full_attention_offset;          // ... that with so many of the n before it
    double logit_softcap = 0;                                   // c: logits x become c tanh(x / c) (Gemma 2); 0: they stay
    std::int64_t mtp_layers = 0;                                // multi-token prediction modules
    double mtp_loss_weight = 0.3;                               // of the mean of their losses, as in DeepSeek-V3; it costs nothing
    std::int64_t predicted_tokens = 0;                          // masked_lm: positions that reach the head; 0: all
    std::optional<LatentAttention> mla;
    std::optional<MixtureOfExperts> moe;
    std::optional<StateSpace> ssm;
    std::optional<DeltaRule> delta_rule;
    // Of a hybrid, a letter for each layer, as Megatron writes it: M a state space, G a gated delta rule, * attention, - an MLP,
    // E experts. Empty: every layer has attention and an MLP or experts.
    std::string layer_pattern;
    std::optional<LowRankAdapters> adapters;
    std::int64_t image_px = 224, patch_px = 16, channels = 3, classes = 1000;  // vision
};
// What a spec leaves to its kind.
NormPlacement norm_placement_of(const TransformerSpec&);
bool has_embedding_norm(const TransformerSpec&);

// Networks with a fixed architecture, by the name that the field uses:
// alexnet vgg11 vgg16 vgg19 resnet18..resnet200 resnet50d wide_resnet50_2 resnext50_32x4d seresnet50 googlenet(inceptionv1) inception3
// densenet121.. efficientnet_b0..b7 mobilenetv2_100 mobilenetv3_large_100 convnext_tiny ... convolutional_names() lists them.
struct ConvolutionalSpec {
    std::string name = "resnet50";
    std::int64_t image_px = 224, channels = 3, classes = 1000;
};

struct MlpSpec {
    std::vector<std::int64_t> widths{784, 4096, 4096, 10};  // input, hidden..., output
    PointwiseKind activation = PointwiseKind::relu;
};

// A user's own chain of layers. Each reads what the one before it makes, unless it says what else: then it is a graph.
struct ChainLayer {
    enum class Kind { dense, conv, norm, activation, pool, upsample, dropout, add, concat, multiply, residual_begin, residual_end };
    Kind kind = Kind::dense;
    std::int64_t width = 0, kernel = 1, stride = 1, groups = 1;  // stride: of what makes images larger, how many times
    std::int64_t dilation = 1;                                   // of a convolution
    bool transposed = false;                                     // a convolution that makes images larger
    std::optional<std::int64_t> kernel_w{};                      // of a convolution; none: square
    // None: of a convolution what keeps the size at stride 1, of one transposed what makes the image `stride` times as large, of a pooling
    // nothing.
    std::optional<std::int64_t> padding{};
    bool round_up = false;  // of a pooling: a last window that is only partly inside counts
    PointwiseKind function = PointwiseKind::relu;
    PoolingKind pooling = PoolingKind::max;
    PointwiseKind upsampling = PointwiseKind::repeat;
    NormKind norm = NormKind::batch;
    bool bias = true;
    std::string name{};               // by which later layers may read what this one makes
    std::vector<std::string> from{};  // names of what it reads, "input" for the data; none: the layer before
};
struct ChainSpec {
    std::vector<std::int64_t> input_shape;  // of one sample: {features} or {channels, height, width}
    std::vector<ChainLayer> layers;
    std::int64_t classes = 10;
    bool per_pixel = false;  // it is the pixels of the last image that have classes, not the sample
};

// A network written out operator by operator, as a program of it was traced.
struct GraphSpec {
    Network network;             // of one sample in training, on one device
    std::string only_predicted;  // why it cannot be run; empty: it can
};

struct Workload {
    std::string name;   // "gpt3-175b"
    std::string title;  // for people
    std::variant<TransformerSpec, ConvolutionalSpec, MlpSpec, ChainSpec, GraphSpec> spec;
    std::string source;

    [[nodiscard]] std::int64_t tokens_per_sample() const;  // 0 where the notion does not exist
    [[nodiscard]] const TransformerSpec* transformer() const { return std::get_if<TransformerSpec>(&spec); }  // null where it is none
    [[nodiscard]] bool is_transformer() const { return transformer() != nullptr; }
    // Do experts work on room that a capacity factor gives them, whoever came?
    [[nodiscard]] bool pads_experts() const;
    // What one sample is called: "sequence", "image", "sample".
    [[nodiscard]] std::string_view sample_word() const;
};

// The same with a row for each token that is routed: none that pads an expert, none dropped.
Workload dropless(Workload);

// The blocks of `workload` cut as `shard` says. Throws InputError (pointer "/plan/...", "/workload/...") with every problem
// when the cut is impossible: heads not divisible by tp, experts not divisible by ep, an unknown network name.
Network build_network(const Workload& workload, const Shard& shard);

// Parameters and forward FLOPs of one sample, of the whole network.
struct WorkloadSize {
    double parameters = 0;
    double active_parameters = 0;   // touched by one token: routed experts counted topk times
    double trained_parameters = 0;  // all but frozen ones
    Flops forward;                  // as with flash attention: the pairs that its mask leaves (docs/model/workloads.md)
};
WorkloadSize size_of(const Workload&);

// Bundled models by name ("gpt3-175b", "llama-2-7b", "resnet50", "bert-large"...), see workload_names(); or as others write it: in any case
// and with any punctuation, as reports call it ("Kimi K2 1T"), with a first version ("v1") or its size behind ("DeepSeek-R1 671B"). The
// workload has the name as it is listed.
std::optional<Workload> find_workload(std::string_view name);
std::vector<std::string> workload_names();
std::vector<std::string> workload_aliases();  // other names of these, for find_workload
std::vector<std::string> convolutional_names();

}  // namespace sextant
