#include "model/workload/builders.hpp"
#include "tests/base/refusal.hpp"
#include "tests/workload/network_sums.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using testing::ElementsAre;

TransformerSpec llama_3_8b(const LowRankAdapters& adapters) {
    auto spec = spec_of("llama-3-8b");
    spec.adapters = adapters;
    spec.seq_len = 4096;
    return spec;
}

WorkloadSize size_of(const TransformerSpec& spec) {
    return sextant::size_of(Workload{.name = {}, .title = {}, .spec = spec, .source = {}});
}

TEST(Adapters, HaveARowForEachInputAndAColumnForEachOutputOfEveryProduct) {
    // Of width 4096, with 1024 columns of keys, as many of values, and 14336 of the MLP. Rows and columns of a pair, per rank:
    // q, k and v 4096 + 6144; output 4096 + 4096; both halves in front of the gate 4096 + 28672; back 14336 + 4096.
    const double per_rank = 32 * (10'240 + 8'192 + 32'768 + 18'432);
    const WorkloadSize whole = size_of(llama_3_8b({})), full = sextant::size_of(*find_workload("llama-3-8b"));
    EXPECT_EQ(whole.trained_parameters, 16 * per_rank);
    EXPECT_EQ(whole.parameters, full.parameters + 16 * per_rank);
    EXPECT_EQ(full.trained_parameters, full.parameters);
    EXPECT_EQ(size_of(llama_3_8b({.rank = 8, .fc1 = false, .fc2 = false})).trained_parameters, 8 * 32 * (10'240 + 8'192));
}

TEST(Adapters, LeaveBackwardOneProductForEachThatIsFrozen) {
    // One layer, 4096 tokens. Frozen products once backward, adapters twice, fused attention 2.5 times.
    const Network network = build_transformer(llama_3_8b({}), {});
    Flops frozen, trained, attention, backward;
    for (const Operator& op : graph_at(network, 1).operators()) {
        backward += backward_flops(op);
        (std::holds_alternative<Attention>(op.kind) ? attention : op.frozen ? frozen : trained) += forward_flops(op);
    }
    EXPECT_EQ(frozen.si(), 2.0 * 4096 * (4096 * 6144.0 + 4096 * 4096.0 + 3 * 4096 * 14336.0));
    EXPECT_EQ(trained.si(), 2.0 * 4096 * 16 * 69'632);
    EXPECT_EQ(backward.si(), (frozen + 2.0 * trained + 2.5 * attention).si());
}

TEST(Adapters, KeepTheInputsOfThoseProductsThatHaveThem) {
    // A token of width h = 4096, of q, k and v alone: input of the first norm and of the products h each, the adapter's r, q and what
    // attention makes h each, k and v 1024 each, input of the second norm h; the gate's two halves. No input of the other products.
    const double tokens = 4096, h = 4096;
    const Network network = build_transformer(llama_3_8b({.proj = false, .fc1 = false, .fc2 = false}), {});
    EXPECT_EQ(saved_elements(graph_at(network, 1)), tokens * (5 * h + 16 + 2 * 1024 + 2 * 14336));
    // With all of them the normed input of the MLP too, what the gate makes, and the narrow products: as much as training everything keeps,
    // but for those.
    const double all = saved_elements(graph_at(build_transformer(llama_3_8b({}), {}), 1));
    EXPECT_EQ(all, tokens * (6 * h + 4 * 16 + 2 * 1024 + 3 * 14336));
    TransformerSpec plain = llama_3_8b({});
    plain.adapters.reset();
    EXPECT_EQ(all - tokens * 4 * 16, saved_elements(graph_at(build_transformer(plain, {}), 1)));
}

// The matrix on the side where the product is cut is cut too, the other one whole on every rank.
TEST(Adapters, AreCutAsTheProductsBesideThem) {
    const Network network = build_transformer(llama_3_8b({}), {.tensor = 4});
    std::vector<double> parameters;
    for (const Operator& op : graph_at(network, 1).operators())
        if (op.adapter != AdapterPart::none) parameters.push_back(op.parameters / 16);
    EXPECT_THAT(parameters, ElementsAre(4096, 6144 / 4, 4096 / 4, 4096, 4096, 28672 / 4, 14336 / 4, 4096));
}

TEST(Adapters, OfWhatIsNotModelledAreRefused) {
    const auto problems_of = [](const char* model, const LowRankAdapters& adapters) {
        auto spec = spec_of(model);
        spec.adapters = adapters;
        return refused_pointers([&] { build_transformer(spec, {}); });
    };
    EXPECT_THAT(problems_of("deepseek-v3", {}), ElementsAre("/workload/adapters/qkv"));
    EXPECT_THAT(problems_of("mixtral-8x7b", {}), ElementsAre("/workload/adapters"));
    EXPECT_THAT(problems_of("mixtral-8x7b", {.fc1 = false, .fc2 = false}), ElementsAre());
    EXPECT_THAT(problems_of("llama-3-8b", {.qkv = false, .proj = false, .fc1 = false, .fc2 = false}), ElementsAre("/workload/adapters"));
    EXPECT_THAT(problems_of("llama-3-8b", {.rank = 0, .alpha = -1}), ElementsAre("/workload/adapters/rank", "/workload/adapters/alpha"));
}

}  // namespace
}  // namespace sextant
