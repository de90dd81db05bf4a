// Where norms stand, attention and MLP side by side, windows in most layers, capped logits.
#include "model/workload/builders.hpp"
#include "tests/base/refusal.hpp"
#include "tests/workload/network_sums.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Two layers of 64 columns and 4 heads of 16, 32 tokens, a vocabulary of 100; biases and layer norms with shifts, no dropout.
TransformerSpec plain() {
    TransformerSpec spec;
    spec.layers = 2;
    spec.hidden = 64;
    spec.ffn_hidden = 256;
    spec.heads = spec.kv_heads = 4;
    spec.vocab = 100;
    spec.seq_len = 32;
    spec.dropout = false;
    return spec;
}
TransformerSpec parallel(bool shared_norm) {
    TransformerSpec spec = plain();
    spec.parallel_residual = true;
    spec.shared_norm = shared_norm;
    return spec;
}

std::vector<std::string> names_of(const Network& network, std::size_t position) {
    std::vector<std::string> names;
    for (const Operator& op : graph_at(network, position).operators()) names.push_back(op.name);
    return names;
}
std::vector<std::string> norms_of(const Network& network) {
    std::vector<std::string> norms;
    for (const Operator& op : graph_at(network, 1).operators())
        if (std::holds_alternative<Normalization>(op.kind)) norms.push_back(op.name);
    return norms;
}

TEST(NormPlacement, IsInFrontOfAttentionAndMlpOrBehindThemOrBoth) {
    TransformerSpec spec = plain();
    EXPECT_THAT(norms_of(build_transformer(spec, {})), ElementsAre("attention.norm", "mlp.norm"));
    spec.norm_placement = NormPlacement::output;
    EXPECT_THAT(names_of(build_transformer(spec, {}), 1),
                ElementsAre("attention.qkv", "attention", "attention.proj", "attention.norm_out", "attention.add", "mlp.fc1", "mlp.act",
                            "mlp.fc2", "mlp.norm_out", "mlp.add"));
    EXPECT_EQ(parameters_of(spec), parameters_of(plain()));
    spec.norm_placement = NormPlacement::both;
    EXPECT_THAT(norms_of(build_transformer(spec, {})), ElementsAre("attention.norm", "attention.norm_out", "mlp.norm", "mlp.norm_out"));
    EXPECT_EQ(parameters_of(spec) - parameters_of(plain()), 2 * 2 * 2 * 64);
}

// Behind each sum, and then none at the end of a stack; an encoder's head keeps its own.
TEST(NormPlacement, BehindTheSumsLeavesNoneAtTheEndOfAStack) {
    TransformerSpec spec = plain();
    spec.norm_placement = NormPlacement::sum;
    const Network decoder = build_transformer(spec, {});
    EXPECT_THAT(names_of(decoder, 1), ElementsAre("attention.qkv", "attention", "attention.proj", "attention.add", "attention.norm",
                                                  "mlp.fc1", "mlp.act", "mlp.fc2", "mlp.add", "mlp.norm"));
    EXPECT_THAT(names_of(decoder, 3), ElementsAre("head", "loss"));
    spec.kind = TransformerKind::encoder_decoder;
    const Network both = build_transformer(spec, {});
    EXPECT_THAT(names_of(both, 3), ElementsAre("embedding", "positions"));
    EXPECT_THAT(names_of(both, 6), ElementsAre("head", "loss"));
    EXPECT_EQ(std::ranges::count(names_of(both, 4), "cross.norm"), 1);
}

TEST(NormPlacement, OfAnEncoderIsBehindTheSumsUnlessItSaysOtherwise) {
    TransformerSpec spec = plain();
    spec.kind = TransformerKind::encoder;
    spec.head = HeadKind::masked_lm_nsp;
    EXPECT_EQ(names_of(build_transformer(spec, {}), 1).back(), "mlp.norm");
    EXPECT_EQ(names_of(build_transformer(spec, {}), 3).front(), "head.transform");
    spec.norm_placement = NormPlacement::input;
    EXPECT_EQ(names_of(build_transformer(spec, {}), 1).front(), "attention.norm");
    EXPECT_EQ(names_of(build_transformer(spec, {}), 3).front(), "final.norm");
}

// A table of 40 positions is looked up in either half; of learned ones both are trained, of sinusoids neither.
TEST(Positions, OfSinusoidsAreATableThatNobodyTrains) {
    TransformerSpec spec = plain();
    spec.kind = TransformerKind::encoder_decoder;
    spec.max_positions = 40;
    const double learned = parameters_of(spec);
    spec.position = PositionKind::sinusoidal;
    const Network network = build_transformer(spec, {});
    EXPECT_EQ(network.parameters(), learned);
    const auto frozen = [&](std::size_t block) { return graph_at(network, block).count_parameters(true).total(); };
    EXPECT_EQ(frozen(0), 40 * 64);
    EXPECT_EQ(frozen(1), 0);
    EXPECT_EQ(frozen(3), 40 * 64);
}

// Tables of 16 columns, one of segments among them, a norm, and a product with a bias that brings them to 64; the head goes back to 16.
TEST(EmbeddingWidth, IsThatOfTheTablesAndOfTheOutputMatrix) {
    TransformerSpec spec = plain();
    spec.kind = TransformerKind::encoder;
    spec.head = HeadKind::masked_lm_nsp;
    spec.type_vocab = 2;
    const double wide = parameters_of(spec);
    spec.embedding_width = 16;
    const double tables = 100 + 32 + 2 + 2;
    EXPECT_EQ(parameters_of(spec) - wide, -48 * tables + 16 * 64 + 64 - 48 * (64 + 1) - 2 * 48);
    spec.kind = TransformerKind::decoder;
    spec.head = HeadKind::language_model;
    EXPECT_THAT(refused_pointers([&] { build_transformer(spec, {}); }), ElementsAre("/workload/embedding_width"));
}

// Each of 32 tokens has one of 5 classes.
TEST(TokenClassifier, HasAClassOfEachToken) {
    TransformerSpec spec = plain();
    spec.kind = TransformerKind::encoder;
    spec.head = HeadKind::token_classifier;
    spec.classes = 5;
    Network network = build_transformer(spec, {.micro_batch = 2});
    EXPECT_THAT(names_of(network, 3), ElementsAre("classifier", "classifier.loss"));
    EXPECT_EQ(operators_of<CrossEntropy>(graph_at(network, 3)).front().rows, 2 * 32);
    EXPECT_EQ(network.templates.back().graph.count_parameters(false).total(), 5 * 64 + 5);
    spec.pooler = true;
    network = build_transformer(spec, {});
    EXPECT_THAT(names_of(network, 3), ElementsAre("head.transform", "head.gelu", "classifier", "classifier.loss"));
}

// Behind what attention and MLP make, each norm keeps 32 x 64 elements; in front of them, what the products keep stays as it is.
TEST(NormPlacement, BothKeepWhatTheyReadForBackward) {
    TransformerSpec spec = plain();
    const double before = saved_elements(graph_at(build_transformer(spec, {}), 1));
    spec.norm_placement = NormPlacement::both;
    EXPECT_EQ(saved_elements(graph_at(build_transformer(spec, {}), 1)), before + 2 * 32 * 64);
}

TEST(NormPlacement, UnderSequenceParallelismNormsBehindHaveAPartOfTheTokens) {
    TransformerSpec spec = plain();
    spec.norm_placement = NormPlacement::both;
    for (const Normalization& n :
         operators_of<Normalization>(graph_at(build_transformer(spec, {.tensor = 4, .sequence_parallel = true}), 1)))
        EXPECT_EQ(n.rows, 8);
}

TEST(NormBias, IsOfLayerNormsWhateverTheProductsHave) {
    TransformerSpec spec = plain();
    spec.bias = false;
    const double without = parameters_of(spec);
    spec.norm_bias = true;
    EXPECT_EQ(parameters_of(spec) - without, 5 * 64);  // two a layer and the last
    spec.norm = NormKind::rms;
    EXPECT_EQ(parameters_of(spec), without);
}

TEST(ParallelResidual, HasTheParametersAndProductsOfLayersOneBehindTheOther) {
    EXPECT_EQ(parameters_of(parallel(false)), parameters_of(plain()));
    EXPECT_EQ(parameters_of(plain()) - parameters_of(parallel(true)), 2 * 2 * 64);  // a norm less in each layer
    EXPECT_EQ(sum_forward_flops(build_transformer(parallel(true), {})), sum_forward_flops(build_transformer(plain(), {})));
}

struct Reductions {
    int forward = 0, backward = 0;
    friend bool operator==(const Reductions&, const Reductions&) = default;
};
Reductions all_reduces(const TransformerSpec& spec) {
    Reductions sum;
    for (const Exchange& e : operators_of<Exchange>(graph_at(build_transformer(spec, {.tensor = 4}), 1))) {
        EXPECT_EQ(e.elements, 32 * 64);
        sum.forward += e.forward == ExchangeKind::all_reduce ? 1 : 0;
        sum.backward += e.backward == ExchangeKind::all_reduce ? 1 : 0;
    }
    return sum;
}

// arXiv 2204.06745, section 2.1.2: what both make is summed once. So is the gradient that comes to a norm that both read.
TEST(ParallelResidual, ExchangesOnceInsteadOfTwiceUnderTensorParallelism) {
    EXPECT_EQ(all_reduces(plain()), (Reductions{2, 2}));
    EXPECT_EQ(all_reduces(parallel(false)), (Reductions{1, 2}));
    EXPECT_EQ(all_reduces(parallel(true)), (Reductions{1, 1}));
}

TEST(ParallelResidual, GathersATokenOnceWhereBothReadOneNormUnderSequenceParallelism) {
    const auto gathers = [](bool shared_norm) {
        const Network network = build_transformer(parallel(shared_norm), {.tensor = 4, .sequence_parallel = true});
        const auto exchanges = operators_of<Exchange>(graph_at(network, 1));
        return std::ranges::count(exchanges, ExchangeKind::all_gather, &Exchange::forward);
    };
    EXPECT_EQ(gathers(true), 1);
    EXPECT_EQ(gathers(false), 2);
}

TEST(ParallelResidual, DropsOutWhatBothMakeTogether) {
    TransformerSpec spec = parallel(true);
    spec.dropout = true;
    const std::vector<std::string> names = names_of(build_transformer(spec, {}), 1);
    EXPECT_THAT(names, testing::Contains("layer.drop"));
    EXPECT_THAT(names, testing::Not(testing::Contains("mlp.drop")));
}

TEST(QkNorm, OfAllHeadsTogetherHasAGainForEachColumnAndExchangesANumberForEachToken) {
    TransformerSpec spec = plain();
    spec.kv_heads = 2;
    const double without = parameters_of(spec);
    spec.qk_norm = true;
    EXPECT_EQ(parameters_of(spec) - without, 2 * (16 + 16));
    spec.qk_norm_whole = true;
    EXPECT_EQ(parameters_of(spec) - without, 2 * (64 + 32));
    EXPECT_THAT(operators_of<Exchange>(graph_at(build_transformer(spec, {}), 1)), IsEmpty());
    const Network cut = build_transformer(spec, {.tensor = 2});
    const auto exchanges = operators_of<Exchange>(graph_at(cut, 1));
    ASSERT_EQ(exchanges.size(), 5);  // beside the two pairs
    EXPECT_EQ(exchanges[1].elements, 2 * 32);
    EXPECT_EQ(exchanges[1].forward, ExchangeKind::all_reduce);
    EXPECT_EQ(exchanges[1].backward, ExchangeKind::all_reduce);
}

TEST(FullAttentionEvery, LeavesEveryNthLayerWithoutTheWindow) {
    TransformerSpec spec = plain();
    spec.layers = 7;
    spec.sliding_window = 8;
    spec.full_attention_every = 3;
    const Network network = build_transformer(spec, {});
    std::vector<std::int64_t> windows;
    for (std::size_t i = 1; i <= 7; ++i) windows.push_back(operators_of<Attention>(graph_at(network, i)).front().window);
    EXPECT_THAT(windows, ElementsAre(8, 8, 0, 8, 8, 0, 8));
}

TEST(FullAttentionEvery, MayBeginWithAnyLayer) {
    TransformerSpec spec = plain();
    spec.sliding_window = 8;
    spec.full_attention_every = 2;
    spec.full_attention_offset = 0;
    const Network network = build_transformer(spec, {});
    EXPECT_EQ(operators_of<Attention>(graph_at(network, 1)).front().window, 0);
    EXPECT_EQ(operators_of<Attention>(graph_at(network, 2)).front().window, 8);
    spec.full_attention_offset = 2;
    EXPECT_THAT(refused_pointers([&] { build_transformer(spec, {}); }), ElementsAre("/workload/full_attention_offset"));
}

// tanh keeps what it makes, beside the logits that the loss reads.
TEST(LogitSoftcap, KeepsTheLogitsTwice) {
    TransformerSpec spec = plain();
    const auto kept = [&spec] { return saved_elements(build_transformer(spec, {}).templates.back().graph, TensorRole::logits); };
    EXPECT_EQ(kept(), 32 * 100);
    spec.logit_softcap = 30;
    EXPECT_EQ(kept(), 2 * 32 * 100);
}

TEST(Arrangement, ThatContradictsItselfIsRefused) {
    const auto refused = [](const TransformerSpec& spec) { return refused_pointers([&] { build_transformer(spec, {}); }); };
    TransformerSpec spec = plain();
    spec.shared_norm = true;
    spec.qk_norm_whole = true;
    spec.sliding_window_every = spec.full_attention_every = 2;
    spec.logit_softcap = -1;
    EXPECT_THAT(refused(spec), ElementsAre("/workload/shared_norm", "/workload/qk_norm_whole", "/workload/full_attention_every",
                                           "/workload/logit_softcap"));
    spec = parallel(true);
    spec.norm_placement = NormPlacement::both;
    EXPECT_THAT(refused(spec), ElementsAre("/workload/norm_placement"));
    spec = parallel(false);
    spec.moe.emplace().ffn_hidden = 64;
    EXPECT_THAT(refused(spec), ElementsAre("/workload/parallel_residual"));
}

}  // namespace
}  // namespace sextant
