// What must hold of any plan, tried on plans that nobody wrote down: laws that bundled scenarios keep, and that did not hold elsewhere.
#include "tests/golden/bundled_scenarios.hpp"
#include "tests/properties/agreement.hpp"

#include <gtest/gtest.h>

#include <array>

namespace sextant {
namespace {

// What a background thread fuses, and what stages of a pipeline wait for each other, may come out a little better by luck.
TEST(RandomPlans, OfOneStageAreNeverSlowerWithTwiceOfAnyResource) {
    static constexpr double Resources::*resources[] = {
        &Resources::compute, &Resources::memory_bandwidth, &Resources::node_bandwidth, &Resources::network_bandwidth, &Resources::latency,
        &Resources::host,    &Resources::kernel_overhead,  &Resources::host_link};
    int tried = 0;
    for (const RandomPlan& plan : random_plans(unseen + 100, 600)) {
        if (plan.scenario.plan.pp > 1 || plan.scenario.framework.reduction_cycle) continue;
        ++tried;
        const Prepared job = prepare(plan.scenario);
        const Seconds now = estimate(job).step;
        for (std::size_t i = 0; i < std::size(resources); ++i) {
            Resources doubled;
            doubled.*resources[i] = 2;
            EXPECT_LE(estimate(job, doubled).step / now, 1.005) << "resource " << i << ' ' << words(plan.overrides);
        }
    }
    EXPECT_GT(tried, 200);
}

// Long sequences whose scores are written to memory, so that the step's fullest moment is in a layer's attention.
TEST(RandomPlans, NeedNoMoreMemoryInAForwardAloneThanInTraining) {
    int tried = 0;
    for (const RandomPlan& plan : random_plans(unseen + 120, 200)) {
        Scenario s = plan.scenario;
        auto* network = std::get_if<TransformerSpec>(&s.workload.spec);
        const bool backward_apart = s.plan.schedule != Schedule::one_f_one_b && s.plan.schedule != Schedule::gpipe;
        if (network == nullptr || network->kind != TransformerKind::decoder || s.plan.forward_only || backward_apart) continue;
        network->seq_len = network->max_positions = 16'384;
        s.plan.flash_attention = false;
        s.plan.recompute = Recompute::full;
        if (!check_plan(s).empty()) continue;
        ++tried;
        const Bytes training = estimate(prepare(s)).peak_memory;
        s.plan.forward_only = true;
        EXPECT_LE(estimate(prepare(s)).peak_memory / training, 1 + 1e-9) << words(plan.overrides);
    }
    EXPECT_GT(tried, 50);
}

// Experts and all else are in shards over groups of their own: of each, one rank's or those of several.
TEST(RandomPlans, WithExpertsInShardsNeedNoMoreMemoryThanWasSaid) {
    std::vector<Difference> list;
    for (const char* model : {"mixtral-8x7b", "deepseek-v2-lite"})
        for (const auto& [tp, dp, shard_group] : {std::array{"8", "1", "null"}, {"1", "8", "null"}, {"1", "8", "1"}, {"2", "4", "2"}})
            for (const char* expert_ranks : {"1", "2", "8"})
                for (const char* recompute : {"none", "full"}) {
                    const std::vector<std::string> set{std::string("workload=") + model,
                                                       "framework=pytorch-fsdp2",
                                                       "plan.pp=1",
                                                       std::string("plan.tp=") + tp,
                                                       std::string("plan.dp=") + dp,
                                                       std::string("plan.sequence_parallel=") + (*tp == '1' ? "false" : "true"),
                                                       "plan.expert_tp=1",
                                                       std::string("plan.ep=") + expert_ranks,
                                                       "plan.data_parallel=zero3",
                                                       std::string("plan.shard_group=") + shard_group,
                                                       std::string("plan.recompute=") + recompute,
                                                       "plan.global_batch=32"};
                    const Prepared job = prepare(bundled_scenario("mixtral-8x7b-128xh100", set));
                    const double more = estimate(job).peak_memory / simulate(job).report.estimate.peak_memory - 1;
                    list.push_back({more, words(set)});
                    EXPECT_GE(more, -0.005) << words(set);
                }
    sort_and_print(list, "plans with experts in shards, memory");
    EXPECT_LE(percentile(list, 1), 0.25);
}

}  // namespace
}  // namespace sextant
