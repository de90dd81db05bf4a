#include "model/workload/builders.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

TransformerSpec gpt(std::int64_t layers, std::int64_t hidden, std::int64_t heads, std::int64_t sequence = 1024,
                    std::int64_t vocab = 50257) {
    TransformerSpec spec;
    spec.layers = layers;
    spec.hidden = hidden;
    spec.ffn_hidden = 4 * hidden;
    spec.heads = spec.kv_heads = heads;
    spec.seq_len = sequence;
    spec.vocab = vocab;
    return spec;
}

TransformerSpec llama(std::int64_t layers, std::int64_t hidden, std::int64_t ffn, std::int64_t heads, std::int64_t kv_heads,
                      std::int64_t vocab) {
    TransformerSpec spec = gpt(layers, hidden, heads, 4096, vocab);
    spec.ffn_hidden = ffn;
    spec.kv_heads = kv_heads;
    spec.mlp = MlpKind::swiglu;
    spec.norm = NormKind::rms;
    spec.position = PositionKind::rotary;
    spec.tied_embeddings = spec.bias = spec.dropout = false;
    return spec;
}

const Block& layer_of(const Network& network) {
    return *std::find_if(network.templates.begin(), network.templates.end(), [](const Block& b) { return b.role == BlockRole::layer; });
}

// Bytes that backward needs of one layer, with two-byte activations, one-byte masks, four-byte statistics.
double saved_bytes(const OperatorGraph& graph) {
    double bytes = 0;
    for (const TensorId id : saved_for_backward(graph)) {
        const Tensor& t = graph.tensor(id);
        bytes += t.elements() * (t.role == TensorRole::mask ? 1 : t.role == TensorRole::statistic ? 4 : 2);
    }
    return bytes;
}

double network_flops(const Network& network) {
    Flops sum;
    for (const int index : network.sequence)
        for (const Operator& op : network.templates[index].graph.operators()) sum += forward_flops(op.kind);
    return sum.si();
}

TEST(Transformer, PlainLayerKeepsWhatKorthikantiEtAlCount) {
    // arXiv 2205.05198, equation 1: one layer keeps s b h (34 + 5 a s / h) bytes without parallelism.
    const double s = 2048, b = 4, h = 6144, a = 64;
    const Network network = build_transformer(gpt(2, 6144, 64, 2048), {.micro_batch = 4, .flash_attention = false});
    EXPECT_DOUBLE_EQ(saved_bytes(layer_of(network).graph), s * b * h * (34 + 5 * a * s / h));
}

TEST(Transformer, TensorParallelismKeepsNormsDropoutsAndInputsWhole) {
    // Equation 2: s b h (10 + 24 / t + 5 a s / (h t)).
    const double s = 2048, b = 4, h = 6144, a = 64, t = 8;
    const Network network = build_transformer(gpt(2, 6144, 64, 2048), {.micro_batch = 4, .tensor = 8, .flash_attention = false});
    EXPECT_DOUBLE_EQ(saved_bytes(layer_of(network).graph), s * b * h * (10 + 24 / t + 5 * a * s / (h * t)));
}

TEST(Transformer, SequenceParallelismDividesAllOfIt) {
    // Equation 4: s b h / t (34 + 5 a s / h).
    const double s = 2048, b = 4, h = 6144, a = 64, t = 8;
    const Network network =
        build_transformer(gpt(2, 6144, 64, 2048), {.micro_batch = 4, .tensor = 8, .sequence_parallel = true, .flash_attention = false});
    EXPECT_DOUBLE_EQ(saved_bytes(layer_of(network).graph), s * b * h / t * (34 + 5 * a * s / h));
}

TEST(Transformer, ParametersAreThePublishedOnes) {
    EXPECT_EQ(build_transformer(gpt(12, 768, 12), {}).parameters(), 124'439'808);
    EXPECT_EQ(build_transformer(llama(32, 4096, 11008, 32, 32, 32000), {}).parameters(), 6'738'415'616);
    EXPECT_EQ(build_transformer(llama(126, 16384, 53248, 128, 8, 128256), {}).parameters(), 405'853'388'800);
}

TEST(Transformer, ForwardFlopsAreThoseOfTheMegatronFormula) {
    // arXiv 2104.04473, equation 3: with backward (twice forward) and the layers run once more, 96 B s l h^2 (1 + s / 6h + V / 16 l h).
    // Its first two terms are four passes over the layers, its last three over the head.
    const double b = 2, s = 2048, l = 3, h = 1536, v = 51200;
    const Network network = build_transformer(gpt(3, 1536, 16, 2048, 51200), {.micro_batch = 2, .flash_attention = false});
    EXPECT_DOUBLE_EQ(network_flops(network), 24 * b * s * l * h * h * (1 + s / (6 * h)) + 96 * b * s * l * h * h * v / (16 * l * h) / 3);
}

}  // namespace
}  // namespace sextant
