#include "model/workload/builders.hpp"
#include "tests/base/refusal.hpp"
#include "tests/workload/network_sums.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using testing::HasSubstr;

// Of Nemotron 3 Nano, width 2688. A state space of 64 heads of 64 and 8 groups with states of 128: 2688 x (2 x 4096 + 2 x 1024 + 64) in,
// filters of 4 and a bias for 6144 channels, three numbers a head, 4096 gains, 4096 x 2688 out. Attention of 32 heads of 128 with two pairs
// of keys and values. Experts: 128 of 1856, one of 3712 that is shared, a router with a bias. A gain of 2688 before each.
TEST(Hybrids, HaveTheParametersOfTheirLayers) {
    const double space = 2688.0 * (2 * 4096 + 2 * 1024 + 64) + 6144 * 5 + 3 * 64 + 4096 + 4096 * 2688;
    const double attention = 2688.0 * (4096 + 2 * 256) + 4096 * 2688;
    const double experts = 128 * 2 * 2688 * 1856.0 + 2 * 2688 * 3712 + 128 * 2689;
    const double ends = 2 * 131072.0 * 2688 + 2688;
    EXPECT_EQ(parameters_of(spec_of("nemotron-3-nano-30b")), 23 * space + 6 * attention + 23 * experts + 52 * 2688 + ends);
}

// What their names say, in billions: within what rounding to such names allows. Of Super without its two modules for more tokens.
TEST(Hybrids, AreAsLargeAsTheirNamesSay) {
    const auto billions = [](const char* name) {
        TransformerSpec spec = spec_of(name);
        spec.mtp_layers = 0;
        return parameters_of(spec) / 1e9;
    };
    EXPECT_NEAR(billions("mamba2-2.7b"), 2.7, 0.05);
    EXPECT_NEAR(billions("nemotron-h-8b"), 8.1, 0.1);
    EXPECT_NEAR(billions("nemotron-h-56b"), 56, 1);
    EXPECT_NEAR(billions("nemotron-nano-9b-v2"), 8.9, 0.1);
    EXPECT_NEAR(billions("nemotron-3-nano-30b"), 31.6, 0.1);
    EXPECT_NEAR(billions("nemotron-3-super-120b"), 120.6, 1);
    EXPECT_NEAR(billions("nemotron-3-ultra-550b"), 550, 3);
    // "A3B", "A12B", "A55B"
    EXPECT_NEAR(size_of(*find_workload("nemotron-3-nano-30b")).active_parameters / 1e9, 3.5, 0.1);
    Workload ultra = *find_workload("nemotron-3-ultra-550b");
    std::get<TransformerSpec>(ultra.spec).mtp_layers = 0;
    EXPECT_NEAR(size_of(ultra).active_parameters / 1e9, 55, 2);
}

TEST(Hybrids, BuildEachKindOfLayerOnce) {
    const Network network = build_transformer(spec_of("nemotron-3-nano-30b"), {});
    std::vector<std::string> names;
    for (const Block& b : network.templates) names.push_back(b.name);
    EXPECT_THAT(names, testing::ElementsAre("embedding", "state-space layer", "moe layer", "attention layer", "head"));
    EXPECT_EQ(network.sequence.size(), 54);
}

// 4096 tokens by chunks of 128; heads 128 x 64, 8 groups, states of 128.
TEST(Hybrids, ScanWithProductsWithinChunksAndWithStates) {
    const StateSpaceScan scan{.batch = 1, .sequence = 4096, .heads = 128, .head_dim = 64, .groups = 8, .state = 128, .chunk = 128};
    const double scores = 2.0 * 4096 * 8 * 128 * 128, within = 2.0 * 4096 * 8192 * 128, states = 2.0 * 4096 * 8192 * 128;
    EXPECT_EQ(forward_flops(OperatorKind(scan)).si(), scores + within + 2 * states);
    EXPECT_EQ(backward_flops(OperatorKind(scan)).si(), 2 * (scores + within + 2 * states) + scores + states);
}

TEST(Hybrids, CutTheHeadsOfStateSpaces) {
    const TransformerSpec spec = spec_of("nemotron-h-8b");
    Shard half;
    half.tensor = 2;
    const OperatorGraph whole = graph_at(build_transformer(spec, {}), 1), part = graph_at(build_transformer(spec, half), 1);
    Flops of_whole, of_part;
    for (const Operator& op : whole.operators()) of_whole += forward_flops(op);
    for (const Operator& op : part.operators()) of_part += forward_flops(op);
    EXPECT_EQ(of_whole.si(), 2 * of_part.si());
    // The gain in front is whole on both.
    EXPECT_EQ(whole.parameters() - 4096, 2 * (part.parameters() - 4096));
}

TEST(Hybrids, KeepWhatTheirStateSpacesRead) {
    // A token of Nemotron-H 8B: the residual stream and its norm of 4096 each; x, B and C, 8192 and twice 1024, before and behind the
    // convolution; 128 steps; what the scan makes, the gate, and their norm, 8192 each.
    const double a_token = 2 * 4096 + 2 * (8192 + 2 * 1024) + 128 + 3 * 8192;
    EXPECT_EQ(saved_elements(graph_at(build_transformer(spec_of("nemotron-h-8b"), {}), 1)), 8192 * a_token);
}

TEST(Hybrids, SendTokensToExpertsInANarrowerForm) {
    TransformerSpec spec = spec_of("nemotron-3-super-120b");
    Shard shard;
    shard.expert = 8;
    const OperatorGraph graph = graph_at(build_transformer(spec, shard), 2);
    const auto exchanges = operators_of<Exchange>(graph);
    ASSERT_EQ(exchanges.size(), 2);
    for (const Exchange& e : exchanges) EXPECT_EQ(e.elements, 8192.0 * 22 * 1024);
}

std::string complaint(const TransformerSpec& spec, const Shard& shard = {}) {
    return refusal_by([&] { return build_transformer(spec, shard); });
}

TEST(Hybrids, SayWhatTheyCannotBe) {
    TransformerSpec spec = spec_of("nemotron-3-nano-30b");
    spec.layer_pattern[3] = 'X';
    spec.layers = 51;
    spec.moe->every = 2;
    spec.sliding_window = 100;
    const std::string all = complaint(spec);
    for (const char* what :
         {"no layer is called X", "layers and letters differ: 51 and 52", "not dense_layers and every", "windows in a hybrid"})
        EXPECT_THAT(all, HasSubstr(what));

    TransformerSpec bare = spec_of("nemotron-3-nano-30b");
    bare.ssm.reset();
    bare.moe.reset();
    EXPECT_THAT(complaint(bare), HasSubstr("the state space of the layers M is not described"));
    EXPECT_THAT(complaint(bare), HasSubstr("the experts of the layers E are not described"));

    TransformerSpec unused = spec_of("llama-3-8b");
    unused.ssm = StateSpace{};
    EXPECT_THAT(complaint(unused), HasSubstr("which layers have the state space is not said"));

    Shard shard;
    shard.tensor = 16, shard.context = 2;
    EXPECT_THAT(complaint(spec_of("nemotron-h-8b"), shard), HasSubstr("groups of the state space"));
    EXPECT_THAT(complaint(spec_of("nemotron-h-8b"), shard), HasSubstr("a state goes from token to token"));
    TransformerSpec adapted = spec_of("nemotron-h-8b");
    adapted.adapters = LowRankAdapters{};
    EXPECT_THAT(complaint(adapted), HasSubstr("adapters beside state spaces"));
}

}  // namespace
}  // namespace sextant
