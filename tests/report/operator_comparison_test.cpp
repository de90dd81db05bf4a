#include "model/report/operator_comparison.hpp"

#include "model/predict/block_price.hpp"
#include "model/predict/state.hpp"
#include "model/workload/network.hpp"
#include "tests/predict/mlp_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;
using testing::IsEmpty;
using testing::SizeIs;

// Equal layers of one product each: g forward, and one of g each for the gradients of its input and of its weights.
struct Products {
    Scenario job = products_job(4);

    [[nodiscard]] Seconds g() const { return one_product(job); }
    [[nodiscard]] Network network() const { return cut_network(job); }
    // The last template is the layer in the middle of the network or all of it.
    [[nodiscard]] OperatorTime time_of(SpanKind kind, double calls, Seconds time) const {
        const Network all = network();
        const int t = all.sequence[1];
        const Block& block = all.templates[static_cast<std::size_t>(t)];
        const auto product = std::ranges::find_if(block.graph.operators(), [](const Operator& o) { return o.is_trained(); });
        return {t, static_cast<int>(product - block.graph.operators().begin()), block.name, product->name, kind, calls, time};
    }
    [[nodiscard]] std::vector<OperatorComparison> compared(std::vector<OperatorTime> operators) const {
        RunRecord run;
        run.operators = std::move(operators);
        return compare_operators(prepare(job), run);
    }
};

TEST(OperatorComparison, HoldsTheTimeOfACallBesideItsKernels) {
    const Products p;
    const auto list = p.compared({p.time_of(SpanKind::forward, 2, 3 * p.g()), p.time_of(SpanKind::backward, 2, 8 * p.g())});
    ASSERT_THAT(list, SizeIs(2));
    EXPECT_EQ(list[0].kind, SpanKind::backward) << "which differs more: twice 2 g, not twice g / 2";
    EXPECT_NEAR(list[0].predicted / p.g(), 2, 1e-9);
    EXPECT_NEAR(list[0].measured / p.g(), 4, 1e-9);
    EXPECT_NEAR(list[0].difference() / p.g(), 4, 1e-9);
    EXPECT_NEAR(list[1].predicted / p.g(), 1, 1e-9);
    EXPECT_NEAR(list[1].difference() / p.g(), 1, 1e-9);
    EXPECT_THAT(p.compared({}), IsEmpty());
}

TEST(OperatorComparison, KnowsGradientsOfWeightsThatAreMadeApart) {
    const Products p;
    const auto list = p.compared({p.time_of(SpanKind::backward, 1, p.g()), p.time_of(SpanKind::weight_gradient, 1, p.g())});
    ASSERT_THAT(list, SizeIs(2));
    for (const OperatorComparison& o : list) EXPECT_NEAR(o.predicted / p.g(), 1, 1e-9) << to_text(o.kind);
}

TEST(OperatorComparison, PredictsNothingOfWhatIsNoneOfTheJobs) {
    const Products p;
    OperatorTime of_another_block = p.time_of(SpanKind::forward, 1, p.g()), another = of_another_block;
    of_another_block.block_template = 99;
    another.operator_index = 99;
    const std::vector<OperatorTime> list{of_another_block, another, p.time_of(SpanKind::forward, 1, p.g())};
    const std::vector<Seconds> times = predicted_call_times(prepare(p.job), list);
    ASSERT_THAT(times, SizeIs(3));
    EXPECT_EQ(times[0], Seconds{});
    EXPECT_EQ(times[1], Seconds{});
    EXPECT_GT(times[2], Seconds{});
}

// By where they stand. Together they have the kernels of the block.
TEST(OperatorComparison, TellsOperatorsOfOneNameApart) {
    Products p;
    TransformerSpec spec;
    spec.layers = spec.heads = spec.kv_heads = 1;
    spec.hidden = spec.ffn_hidden = spec.vocab = 64;
    spec.seq_len = 16;
    p.job.workload.spec = spec;
    p.job.plan.micro_batch = p.job.plan.global_batch = 1;
    const Network network = p.network();
    const auto operators = network.templates[1].graph.operators();
    std::vector<OperatorTime> all;
    for (int i = 0; i < static_cast<int>(operators.size()); ++i) all.push_back({1, i, "layer", "one name", SpanKind::forward, 1, 1 * us});
    Seconds sum, kernels;
    for (const OperatorComparison& o : p.compared(all)) sum += o.predicted;
    const Prepared prepared = prepare(p.job);
    for (const Seconds t : kernel_times(prepared.state().templates[1], prepared.state(), {}).forward) kernels += t;
    EXPECT_NEAR(sum / kernels, 1, 1e-9);
}

// Two replicas run each operator twice as often as one.
TEST(OperatorComparison, CountsCallsOfARank) {
    Products p;
    p.job.plan.dp = 2;
    p.job.plan.global_batch *= 2;
    const auto list = p.compared({p.time_of(SpanKind::forward, 8, 8 * p.g())});
    ASSERT_THAT(list, SizeIs(1));
    EXPECT_EQ(list[0].calls, 4);
    EXPECT_NEAR(list[0].difference() / p.g(), 0, 1e-9);
}

}  // namespace
}  // namespace sextant
