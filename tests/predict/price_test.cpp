#include "tests/predict/hand_made_state.hpp"

#include "model/predict/block_price.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;

// Two gathers over four ranks, each 10 ms on links and nothing else, half of it hidden; in front of each a kernel that takes so long.
PhasePrice two_half_hidden_gathers(Seconds kernel) {
    Prepared::State job = ten_layers();
    round_machine::only_arithmetic_counts(job.scenario);
    job.scenario.plan.tp = 4;
    job.scenario.plan.tensor_overlap = true;
    job.scenario.framework.tensor_overlap_fraction = round_machine::given(0.5);
    job.rates.memory = 1 * TB / s;
    job.rates.kernel_overhead = {};
    Group& tensor = job.groups.kinds.front()[ParallelGroup::tensor];
    tensor.ranks = 4;
    tensor.ring = 100 * GB / s;
    Kernel reads;
    reads.kind = KernelKind::memory;
    reads.bytes = kernel * job.rates.memory;
    BlockKernels block;
    block.forward = {reads, reads};
    for (const std::size_t after : {1, 2}) {
        ExchangeCall gather;
        gather.kind = ExchangeKind::all_gather;
        gather.group = ParallelGroup::tensor;
        gather.bytes = 4.0 / 3 * GB;  // of which three quarters come over the ring
        gather.after = after;
        block.forward_exchanges.push_back(gather);
    }
    return price_block(block, kernel_times(block, job, {}), job, job.groups.kinds.front(), {}).forward;
}

TEST(PhasePrice, HidesThePartOfAnExchangeThatKernelsAreLongEnoughFor) {
    const PhasePrice p = two_half_hidden_gathers(6 * ms);
    EXPECT_NEAR(p.device / ms, 12, 1e-9);
    EXPECT_NEAR(p.exchange[InLayer::tensor] / ms, 10, 1e-9);
    EXPECT_NEAR(p.hidden[InLayer::tensor] / ms, 10, 1e-9);
    EXPECT_NEAR(p.meeting[InLayer::tensor] / ms, 0, 1e-9);
    EXPECT_NEAR(p.flowing[InLayer::tensor] / ms, 10, 1e-9);
    EXPECT_NEAR(p.links(InLayer::tensor) / ms, 20, 1e-9);
}

TEST(PhasePrice, TakesLongerWhereAnExchangeMeetsWhatIsLeftOfTheOneBefore) {
    // Kernels of 2 ms leave 3 of the 5 ms hidden, also of the last exchange of the block before: both exchanges take 3 ms more.
    EXPECT_NEAR(two_half_hidden_gathers(2 * ms).meeting[InLayer::tensor] / ms, 6, 1e-9);
    // Without kernels all 5 ms are left, and the link is never idle: 2 x 10 ms in all.
    const PhasePrice p = two_half_hidden_gathers({});
    EXPECT_NEAR(p.time() / ms, 20, 1e-9);
}

TEST(PhasePrice, StretchesWhatIsOnLinks) {
    const PhasePrice p = two_half_hidden_gathers(6 * ms).stretched({{1.5, 1, 1}});
    EXPECT_NEAR(p.exchange[InLayer::tensor] / ms, 15, 1e-9);
    EXPECT_NEAR(p.device / ms, 12, 1e-9);
}

// Tokens to their experts on four ranks of a node, 10 ms on links if each copy travels by itself, in one call or several; behind a kernel
// of 6 ms.
PhasePrice to_experts(void (*change)(Scenario&), int nodes = 1, int calls = 1) {
    Prepared::State job = ten_layers();
    round_machine::only_arithmetic_counts(job.scenario);
    change(job.scenario);
    job.micro_batches = 2;
    job.rates.memory = 1 * TB / s;
    job.rates.kernel_overhead = {};
    Group& expert = job.groups.kinds.front()[ParallelGroup::expert];
    expert.ranks = 4;
    expert.nodes = nodes;
    expert.crosses_network = nodes > 1;
    expert.all_to_all = 100 * GB / s;
    BlockKernels block;
    block.forward.emplace_back();
    block.forward[0].kind = KernelKind::memory;
    block.forward[0].bytes = 6 * GB;
    for (int i = 0; i < calls; ++i)
        block.forward_exchanges.push_back({.kind = ExchangeKind::all_to_all,
                                           .group = ParallelGroup::expert,
                                           .bytes = 4.0 / 3 / calls * GB,  // of which three quarters leave the rank
                                           .after = 1,
                                           .copies = 2});
    return price_block(block, kernel_times(block, job, {}), job, job.groups.kinds.front(), {}).forward;
}

TEST(PhasePrice, SendsATokenOnceToARankOfANodeOrToAnotherNodeWhereTheFrameworkDoes) {
    const auto once = [](Scenario& s) { s.framework.deduplicates_tokens = true; };
    EXPECT_NEAR(to_experts([](Scenario&) {}).exchange[InLayer::expert] / ms, 10, 1e-9);
    // Two copies on four ranks: 4 (1 - (3/4)^2) = 1.75 different ones, of 2 that a plain exchange sends.
    EXPECT_NEAR(to_experts(once).exchange[InLayer::expert] / ms, 10 * 1.75 / 2, 1e-9);
    // On two nodes 2 (1 - (1/2)^2) = 1.5.
    EXPECT_NEAR(to_experts(once, 2).exchange[InLayer::expert] / ms, 10 * 1.5 / 2, 1e-9);
}

void overlap_experts(Scenario& s) {
    s.plan.expert_overlap = true;
    s.framework.expert_overlap_fraction = round_machine::given(0.9);
}

TEST(PhasePrice, HidesTheExchangesOfExpertsAsLongAsKernelsLast) {
    // Of 10 ms nine could be hidden; the kernels last for six. Of two micro-batches one has another beside it.
    const PhasePrice p = to_experts(overlap_experts);
    EXPECT_NEAR(p.exchange[InLayer::expert] / ms, 7, 1e-9);
    EXPECT_NEAR(p.hidden[InLayer::expert] / ms, 3, 1e-9);
}

TEST(PhasePrice, CountsWhatMeetsAsTimeOfTheExchangesThatTakeLonger) {
    // Of two calls of 5 ms each 0.3 are hidden, as above: when the second begins, 1.5 ms of the first are still on its links.
    const PhasePrice p = to_experts(overlap_experts, 1, 2);
    EXPECT_NEAR(p.meeting[InLayer::expert] / ms, 1.5, 1e-9);
    EXPECT_EQ(p.meeting[InLayer::tensor], Seconds{});
}

TEST(PhasePrice, HidesNothingOfExpertsWhereAPipelineOnlyFillsAndDrains) {
    Prepared::State job;
    TransformerSpec spec;
    spec.moe.emplace();
    job.scenario.workload = {"moe", "MoE", spec, ""};
    job.scenario.plan.ep = 2;
    job.scenario.plan.expert_overlap = true;
    job.scenario.plan.pp = 7;
    for (const auto& [micro_batches, part] : {std::pair{4, 0.0}, {8, 0.5}, {64, 1 - 4.0 / 64}}) {
        job.micro_batches = micro_batches;
        EXPECT_NEAR(passes_beside_another(job), part, 1e-12);
    }
}

}  // namespace
}  // namespace sextant
