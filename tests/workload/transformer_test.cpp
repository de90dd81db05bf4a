#include "model/workload/builders.hpp"
#include "tests/workload/network_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string_view>

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

TEST(Transformer, PlainLayerKeepsWhatKorthikantiEtAlCount) {
    // arXiv 2205.05198, table 2, no parallelism: one layer keeps s b h (34 + 5 a s / h) bytes.
    const double s = 2048, b = 4, h = 6144, a = 64;
    const Network network = build_transformer(gpt(2, 6144, 64, 2048), {.micro_batch = 4, .flash_attention = false});
    EXPECT_DOUBLE_EQ(saved_bytes(layer_of(network).graph), s * b * h * (34 + 5 * a * s / h));
}

TEST(Transformer, TensorParallelismKeepsNormsDropoutsAndInputsWhole) {
    // Same table, tensor parallel: s b h (10 + 24 / t + 5 a s / (h t)).
    const double s = 2048, b = 4, h = 6144, a = 64, t = 8;
    const Network network = build_transformer(gpt(2, 6144, 64, 2048), {.micro_batch = 4, .tensor = 8, .flash_attention = false});
    EXPECT_DOUBLE_EQ(saved_bytes(layer_of(network).graph), s * b * h * (10 + 24 / t + 5 * a * s / (h * t)));
}

TEST(Transformer, SequenceParallelismDividesAllOfIt) {
    // Same table, tensor and sequence parallel: s b h / t (34 + 5 a s / h).
    const double s = 2048, b = 4, h = 6144, a = 64, t = 8;
    const Network network =
        build_transformer(gpt(2, 6144, 64, 2048), {.micro_batch = 4, .tensor = 8, .sequence_parallel = true, .flash_attention = false});
    EXPECT_DOUBLE_EQ(saved_bytes(layer_of(network).graph), s * b * h / t * (34 + 5 * a * s / h));
}

const Operator& named(const OperatorGraph& graph, std::string_view name) {
    for (const Operator& op : graph.operators())
        if (op.name == name) return op;
    throw std::out_of_range(std::string(name));
}

// Exchanges of one block over one group: how often each kind runs and how many elements it has, forward and backward.
struct Traffic {
    std::map<ExchangeKind, int> calls;
    std::map<ExchangeKind, double> elements;

    void add(ExchangeKind kind, double count) {
        if (kind == ExchangeKind::none) return;
        ++calls[kind];
        elements[kind] += count;
    }
};
Traffic traffic_of(const OperatorGraph& graph, ParallelGroup group, bool backward) {
    Traffic traffic;
    for (const Operator& op : graph.operators())
        if (const auto* e = std::get_if<Exchange>(&op.kind); e && e->group == group)
            traffic.add(backward ? e->backward : e->forward, e->elements);
    return traffic;
}

TEST(Transformer, FlashAttentionKeepsNoScores) {
    // Of the plain layer's 34 s b h bytes all remain, of the 5 a s^2 b nothing; beside them a log-sum-exp of four bytes a query and head.
    const double s = 2048, b = 4, h = 6144, a = 64;
    const Network network = build_transformer(gpt(2, 6144, 64, 2048), {.micro_batch = 4});
    EXPECT_DOUBLE_EQ(saved_bytes(layer_of(network).graph), 34 * s * b * h + 4 * a * s * b);
}

TEST(Transformer, ALayerAllReducesTwiceForwardAndTwiceBackwardUnderTensorParallelism) {
    // arXiv 1909.08053, figure 4: two all-reduces of b s h elements in each direction.
    const Network network = build_transformer(gpt(2, 1024, 16), {.micro_batch = 2, .tensor = 4});
    for (const bool backward : {false, true}) {
        const Traffic traffic = traffic_of(layer_of(network).graph, ParallelGroup::tensor, backward);
        EXPECT_EQ(traffic.calls, (std::map<ExchangeKind, int>{{ExchangeKind::all_reduce, 2}}));
        EXPECT_EQ(traffic.elements.at(ExchangeKind::all_reduce), 2 * 2 * 1024.0 * 1024);
    }
}

TEST(Transformer, SequenceParallelismMakesEachAllReduceAGatherAndAScatter) {
    // arXiv 2205.05198, section 4.2.2: the same bytes, for a ring all-reduce is a reduce-scatter and an all-gather.
    const Network network = build_transformer(gpt(2, 1024, 16), {.micro_batch = 2, .tensor = 4, .sequence_parallel = true});
    for (const bool backward : {false, true}) {
        const Traffic traffic = traffic_of(layer_of(network).graph, ParallelGroup::tensor, backward);
        EXPECT_EQ(traffic.calls, (std::map<ExchangeKind, int>{{ExchangeKind::all_gather, 2}, {ExchangeKind::reduce_scatter, 2}}));
        EXPECT_EQ(traffic.elements.at(ExchangeKind::all_gather), 2 * 2 * 1024.0 * 1024);
        EXPECT_EQ(traffic.elements.at(ExchangeKind::reduce_scatter), 2 * 2 * 1024.0 * 1024);
    }
}

TEST(Transformer, VocabularyParallelLossExchangesThreeNumbersATokenRatherThanLogits) {
    const Network network = build_transformer(gpt(2, 1024, 16), {.micro_batch = 2, .tensor = 4});
    const OperatorGraph& head = network.templates.back().graph;
    EXPECT_EQ(std::get<Exchange>(named(head, "loss.reduce").kind).elements, 3 * 2 * 1024);
    EXPECT_EQ(std::get<CrossEntropy>(named(head, "loss").kind).classes, 12565);  // ceil(50257 / 4)
}

TEST(Transformer, PadsItsVocabularyOnEachRankWhereTheFrameworkDoes) {
    // 50257 / 4 = 12564.25: 99 times 128 rows on each of four ranks, for embedding and logits alike.
    const Network network = build_transformer(gpt(2, 1024, 16), {.micro_batch = 2, .tensor = 4, .vocabulary_multiple = 128});
    EXPECT_EQ(std::get<CrossEntropy>(named(network.templates.back().graph, "loss").kind).classes, 99 * 128);
    EXPECT_EQ(std::get<Embedding>(named(network.templates.front().graph, "embedding").kind).rows, 99 * 128);
}

TEST(Transformer, ShardsAddUpToTheSerialNetwork) {
    // Biases of row-parallel GEMMs and norms are on every rank, so take a network without them; its norms have one weight a column.
    const TransformerSpec spec = llama(4, 2048, 5632, 16, 8, 32000);
    const Network serial = build_transformer(spec, {.micro_batch = 2});
    const double norms = (2 * 4 + 1) * 2048;
    for (const bool sequence : {false, true}) {
        const Network shard = build_transformer(spec, {.micro_batch = 2, .tensor = 8, .sequence_parallel = sequence});
        EXPECT_EQ(8 * (shard.parameters() - norms), serial.parameters() - norms);
        EXPECT_DOUBLE_EQ(8 * sum_forward_flops(shard).si(), sum_forward_flops(serial).si());
    }
}

TEST(Transformer, ContextRanksAddUpToTheSerialNetwork) {
    // 4096 tokens over four ranks, keys and values of all of them: both with scores written out and with half of them masked away.
    const TransformerSpec spec = llama(4, 2048, 5632, 16, 8, 32000);
    for (const bool flash : {false, true}) {
        const Network serial = build_transformer(spec, {.flash_attention = flash});
        const Network shard = build_transformer(spec, {.context = 4, .flash_attention = flash});
        EXPECT_DOUBLE_EQ(4 * sum_forward_flops(shard).si(), sum_forward_flops(serial).si());
        EXPECT_EQ(shard.parameters(), serial.parameters());
    }
    const Network shard = build_transformer(spec, {.context = 4});
    // K and V of 8 heads of 128 for 4096 tokens.
    EXPECT_EQ(traffic_of(layer_of(shard).graph, ParallelGroup::context, false).elements.at(ExchangeKind::all_gather), 2 * 4096 * 1024);
    EXPECT_EQ(traffic_of(layer_of(shard).graph, ParallelGroup::context, true).elements.at(ExchangeKind::reduce_scatter), 2 * 4096 * 1024);
}

TEST(Transformer, KeyValueHeadsAreCopiedWhereRanksOutnumberThem) {
    // 16 heads and 2 key-value heads of 128 over 8 ranks: two heads and one key-value head each, so qkv has 2 + 2 x 1 heads of columns.
    const Network network = build_transformer(llama(2, 2048, 5632, 16, 2, 32000), {.tensor = 8});
    EXPECT_EQ(std::get<Gemm>(named(layer_of(network).graph, "attention.qkv").kind).n, 4 * 128);
}

TEST(Transformer, ASlidingWindowMakesATemplateOfItsOwn) {
    TransformerSpec spec = llama(4, 2048, 5632, 16, 8, 32000);
    spec.sliding_window = 1024;
    spec.sliding_window_every = 2;
    const Network network = build_transformer(spec, {});
    EXPECT_EQ(network.sequence, (std::vector<int>{0, 1, 2, 1, 2, 3}));
    EXPECT_EQ(std::get<Attention>(named(network.templates[1].graph, "attention").kind).window, 1024);
    EXPECT_EQ(std::get<Attention>(named(network.templates[2].graph, "attention").kind).window, 0);
}

TEST(Transformer, InferenceHasNeitherDropoutNorLoss) {
    const Network network = build_transformer(gpt(2, 768, 12), {.training = false});
    for (const Block& block : network.templates)
        for (const Operator& op : block.graph.operators()) {
            const auto* pointwise = std::get_if<Pointwise>(&op.kind);
            EXPECT_FALSE(pointwise != nullptr && pointwise->kind == PointwiseKind::dropout) << op.name;
            EXPECT_FALSE(std::holds_alternative<CrossEntropy>(op.kind)) << op.name;
        }
    EXPECT_EQ(network.templates.back().graph.tensor(network.templates.back().graph.outputs().front()).role, TensorRole::logits);
}

TEST(Transformer, BlocksHandOverWhatTheNextOneTakes) {
    for (const char* name : {"gpt2", "mixtral-8x7b", "deepseek-v2-lite", "bert-base", "t5-base", "vit-b16"}) {
        const Network network = build_transformer(spec_of(name), {.micro_batch = 2});
        for (std::size_t i = 0; i + 1 < network.sequence.size(); ++i) {
            const OperatorGraph& from = network.templates[network.sequence[i]].graph;
            const OperatorGraph& to = network.templates[network.sequence[i + 1]].graph;
            std::vector<std::vector<std::int64_t>> taken;
            for (const TensorId id : to.inputs())
                if (to.tensor(id).role != TensorRole::index) taken.push_back(to.tensor(id).shape);
            ASSERT_LE(taken.size(), from.outputs().size()) << name << " " << i;
            for (std::size_t k = 0; k < taken.size(); ++k) EXPECT_EQ(from.tensor(from.outputs()[k]).shape, taken[k]) << name << " " << i;
        }
    }
}

TEST(MixtureOfExperts, ExpertsShareTheRowsOfTheirGroup) {
    // Mixtral, 4096 tokens, two experts each: 8192 rows a device. With ep = 4 it holds two of eight experts, 4096 rows each when balanced,
    // and sends its 8192 rows of 4096 out and back.
    TransformerSpec spec = spec_of("mixtral-8x7b");
    spec.seq_len = 4096;
    const Network network = build_transformer(spec, {.expert = 4});
    const OperatorGraph& layer = layer_of(network).graph;
    const Gemm& fc1 = std::get<Gemm>(named(layer, "moe.fc1").kind);
    EXPECT_EQ(fc1.batch, 2);
    EXPECT_EQ(fc1.m, 4096);
    EXPECT_EQ(fc1.n, 2 * 14336);
    EXPECT_EQ(fc1.k, 4096);
    const Traffic traffic = traffic_of(layer, ParallelGroup::expert, false);
    EXPECT_EQ(traffic.calls.at(ExchangeKind::all_to_all), 2);
    EXPECT_EQ(traffic.elements.at(ExchangeKind::all_to_all), 2 * 8192.0 * 4096);
    EXPECT_EQ(layer.expert_parameters(), 2 * 3 * 4096.0 * 14336);
}

TEST(MixtureOfExperts, RowsOfSeveralExpertsAreSortedBehindTheAllToAllAndPutBackBeforeIt) {
    TransformerSpec spec = spec_of("mixtral-8x7b");
    const auto sorts = [&spec](int ep) {
        const Network network = build_transformer(spec, {.expert = ep});
        const auto operators = layer_of(network).graph.operators();
        return std::ranges::count_if(operators, [](const Operator& op) { return op.name == "moe.sort" || op.name == "moe.unsort"; });
    };
    EXPECT_EQ(sorts(1), 0);  // routed by expert already
    EXPECT_EQ(sorts(4), 2);
    EXPECT_EQ(sorts(8), 0);  // one expert to a rank: nothing to sort
}

TEST(MixtureOfExperts, ExpertParallelismMovesWorkButMakesNone) {
    const TransformerSpec spec = spec_of("deepseek-v2-lite");
    const Network serial = build_transformer(spec, {.micro_batch = 2});
    const Network spread = build_transformer(spec, {.micro_batch = 2, .expert = 8});
    EXPECT_DOUBLE_EQ(sum_forward_flops(spread).si(), sum_forward_flops(serial).si());
    double serial_experts = 0, spread_experts = 0;
    for (const int index : serial.sequence) serial_experts += serial.templates[index].graph.expert_parameters();
    for (const int index : spread.sequence) spread_experts += spread.templates[index].graph.expert_parameters();
    EXPECT_EQ(8 * spread_experts, serial_experts);
    EXPECT_EQ(serial.parameters() - serial_experts, spread.parameters() - spread_experts);
}

TEST(MixtureOfExperts, WholeExpertsUnderSequenceParallelismNeedNoTensorExchange) {
    // tp 4 with whole experts: each rank routes its quarter of the tokens; the rows of an expert are a quarter, its columns all.
    TransformerSpec spec = spec_of("mixtral-8x7b");
    spec.seq_len = 4096;
    const Network network = build_transformer(spec, {.tensor = 4, .expert = 8, .expert_tensor = 1, .sequence_parallel = true});
    const OperatorGraph& layer = layer_of(network).graph;
    EXPECT_EQ(std::get<Gemm>(named(layer, "moe.fc1").kind).m, 2048);
    EXPECT_EQ(std::get<Gemm>(named(layer, "moe.fc1").kind).n, 2 * 14336);
    EXPECT_TRUE(traffic_of(layer, ParallelGroup::expert_tensor, false).calls.empty());
    const Network cut = build_transformer(spec, {.tensor = 4, .expert = 8, .sequence_parallel = true});
    EXPECT_EQ(std::get<Gemm>(named(layer_of(cut).graph, "moe.fc1").kind).m, 8192);
    EXPECT_EQ(std::get<Gemm>(named(layer_of(cut).graph, "moe.fc1").kind).n, 2 * 14336 / 4);
}

TEST(MixtureOfExperts, BiasesOfASigmoidRouterAreParametersWithoutGradients) {
    TransformerSpec spec = spec_of("mixtral-8x7b");
    const Network softmax = build_transformer(spec, {});
    spec.moe->sigmoid_router = true;
    const Network sigmoid = build_transformer(spec, {});
    EXPECT_EQ(layer_of(softmax).graph.count_parameters(true).total(), 0);
    EXPECT_EQ(layer_of(sigmoid).graph.count_parameters(true).total(), 8);
    EXPECT_EQ(layer_of(sigmoid).graph.count_parameters(false).total(), layer_of(softmax).graph.count_parameters(false).total());
}

TEST(MixtureOfExperts, CapacityAddsRows) {
    TransformerSpec spec = spec_of("mixtral-8x7b");
    spec.seq_len = 4096;
    spec.moe->capacity_factor = 1.25;
    EXPECT_EQ(std::get<Gemm>(named(layer_of(build_transformer(spec, {})).graph, "moe.fc2").kind).m, 1280);  // 1.25 x 8192 / 8
    Workload padded;
    padded.spec = spec;
    EXPECT_TRUE(padded.pads_experts());
    EXPECT_EQ(size_of(padded).forward, size_of(dropless(padded)).forward);  // padding is no work that is needed
}

// The busiest of four ranks gets 1.5 times 8192 rows, for two experts; what leaves a router, and what all ranks do together, stays.
TEST(MixtureOfExperts, UnevenLoadIsThatOfTheBusiestRank) {
    TransformerSpec spec = spec_of("mixtral-8x7b");
    spec.seq_len = 4096;
    const Network even = build_transformer(spec, {.expert = 4});
    spec.moe->imbalance = 1.5;
    const Network uneven = build_transformer(spec, {.expert = 4});
    const OperatorGraph& layer = layer_of(uneven).graph;
    EXPECT_EQ(std::get<Gemm>(named(layer, "moe.fc1").kind).m, 6144);  // 1.5 x 8192 / 2
    EXPECT_EQ(layer.tensor(named(layer, "moe.permute").outputs[0]).shape.front(), 8192);
    EXPECT_EQ(layer.tensor(named(layer, "moe.combine").outputs[0]).shape.front(), 8192);
    for (const char* name : {"moe.dispatch", "moe.combine"})
        EXPECT_EQ(std::get<Exchange>(named(layer, name).kind).elements, 1.5 * 8192 * 4096) << name;
    EXPECT_EQ(forward_flops(named(layer, "moe.fc1")), forward_flops(named(layer_of(even).graph, "moe.fc1")));
    spec.moe->imbalance = 8;  // more than all four ranks' rows one cannot have
    EXPECT_EQ(std::get<Gemm>(named(layer_of(build_transformer(spec, {.expert = 4})).graph, "moe.fc1").kind).m, 16384);
    EXPECT_EQ(std::get<Gemm>(named(layer_of(build_transformer(spec, {})).graph, "moe.fc1").kind).m, 1024);  // alone
    spec.moe->capacity_factor = 1;                                                                          // room for as many on each
    EXPECT_EQ(std::get<Gemm>(named(layer_of(build_transformer(spec, {.expert = 4})).graph, "moe.fc1").kind).m, 4096);
}

TEST(LatentAttention, OnlyUpProjectionsAreCutByTensorParallelism) {
    // DeepSeek-V3: 128 heads of 128 + 64 and 128; over 8 ranks 16 heads: 16 x 192 query columns, 16 x (128 + 128) key and value columns.
    const Network network = build_transformer(spec_of("deepseek-v3"), {.tensor = 8});
    const OperatorGraph& layer = layer_of(network).graph;
    EXPECT_EQ(std::get<Gemm>(named(layer, "mla.q_down").kind).n, 1536);
    EXPECT_EQ(std::get<Gemm>(named(layer, "mla.kv_down").kind).n, 512 + 64);
    EXPECT_EQ(std::get<Gemm>(named(layer, "mla.q_up").kind).n, 16 * 192);
    EXPECT_EQ(std::get<Gemm>(named(layer, "mla.kv_up").kind).n, 16 * 256);
    const Attention& attention = std::get<Attention>(named(layer, "attention").kind);
    EXPECT_EQ(attention.head_dim, 192);
    EXPECT_EQ(attention.value_dim, 128);
}

TEST(MultiTokenPrediction, AddsALayerAndAProjectionButNoMatrixOfTheVocabulary) {
    // DeepSeek-V3's module: an MoE layer (11,507,286,272), a projection of 2 h to h, three norms.
    TransformerSpec spec = spec_of("deepseek-v3");
    const double without = build_transformer(spec, {}).parameters();
    spec.mtp_layers = 1;
    const Network network = build_transformer(spec, {});
    EXPECT_EQ(network.parameters() - without, 11'507'286'272 + 2 * 7168.0 * 7168 + 3 * 7168);
    EXPECT_EQ(network.templates.back().name, "head");
}

TEST(MultiTokenPrediction, GoesFromModuleToModuleAndHandsTheHiddenStateOn) {
    TransformerSpec spec = spec_of("llama-2-7b");
    spec.mtp_layers = 2;
    const Network network = build_transformer(spec, {});
    const auto block = [&](std::size_t from_end) -> const OperatorGraph& {
        return network.templates[static_cast<std::size_t>(network.sequence[network.sequence.size() - from_end])].graph;
    };
    const OperatorGraph &first = block(3), &second = block(2), &head = block(1);
    EXPECT_EQ(first.outputs().size(), 2);
    EXPECT_EQ(first.outputs()[0], first.inputs()[0]);
    EXPECT_EQ(second.inputs().size(), 4) << "hidden state, what the first made, tokens, labels";
    EXPECT_EQ(second.outputs().size(), 1);
    // The output matrix belongs to the first that uses it, which is the last to add to its gradient.
    EXPECT_FALSE(named(first, "head").tied);
    EXPECT_TRUE(named(second, "head").tied);
    EXPECT_TRUE(named(head, "head").tied);
    EXPECT_TRUE(named(second, "embedding").tied);
    EXPECT_EQ(std::get<Embedding>(named(second, "embedding").kind).ahead, 2);
    EXPECT_EQ(std::get<CrossEntropy>(named(second, "loss").kind).ahead, 2);
    EXPECT_EQ(std::get<CrossEntropy>(named(second, "loss").kind).weight, 0.15);
}

}  // namespace
}  // namespace sextant
