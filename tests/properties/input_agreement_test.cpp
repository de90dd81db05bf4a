// The closed form against the event simulator where samples are read from storage (see agreement_test.cpp).
#include "model/cost/data_formats.hpp"
#include "tests/golden/bundled_scenarios.hpp"
#include "tests/properties/agreement.hpp"

#include <gtest/gtest.h>

#include <array>

namespace sextant {
namespace {

using namespace units;

// Who waits longer, loaders or training, and where both are nearly alike.
TEST(Agreement, OfPredictAndSimulateOnRandomPlansThatAreFedFromStorage) {
    std::vector<Difference> bound_by_loader, bound_by_compute, near;
    std::size_t i = 0;
    for (const RandomPlan& plan : random_plans(unseen + 20, 300)) {
        const double ratio = std::array{0.3, 0.6, 1.0, 1.5, 3.0}[i % 5];
        const Reason reason = reasons[i++ % 3];
        std::string text =
            "ratio " + std::to_string(ratio) + " reason " + std::to_string(static_cast<int>(reason)) + ' ' + words(plan.overrides);
        (ratio > 1   ? bound_by_loader
         : ratio < 1 ? bound_by_compute
                     : near)
            .push_back({difference(fed(plan.scenario, ratio, reason)), text});
    }
    sort_and_print(bound_by_loader, "plans bound by their loaders");
    sort_and_print(bound_by_compute, "plans that loaders keep up with");
    sort_and_print(near, "plans where both take as long");
    EXPECT_LE(percentile(bound_by_loader, 0.95), 0.05);
    EXPECT_LE(percentile(bound_by_compute, 0.95), 0.05);
    EXPECT_LE(percentile(near, 0.95), 0.05);
}

// Nobody reads ahead: hosts wait for samples, and only then issue what is done with them, faster than the device or more slowly.
TEST(Agreement, OfPredictAndSimulateWhereHostsLoad) {
    std::vector<Difference> equal, list;
    for (const double dispatch_us : {0.0, 5.0, 20.0, 80.0})
        for (const double backward_us : {5.0, 80.0})
            for (const int micro_batches : {1, 3, 16}) {
                Scenario s = products_job(8);
                s.plan.global_batch = micro_batches * s.plan.micro_batch;
                s = fed(s, 0.5, Reason::workers);
                s.data.prefetch = 0;
                s.framework.dispatch = round_machine::given(dispatch_us * us);
                s.framework.backward_dispatch = round_machine::given(backward_us * us);
                equal.push_back({difference(s), std::to_string(dispatch_us) + " and " + std::to_string(backward_us) + " us, " +
                                                    std::to_string(micro_batches) + " micro-batches"});
            }
    sort_and_print(equal, "stacks of equal layers whose hosts load");
    EXPECT_LE(percentile(equal, 1), 0.005);
    for (const RandomPlan& plan : random_plans(unseen + 140, 300)) {
        if (plan.scenario.plan.pp > 1) continue;
        Scenario s = fed(plan.scenario, std::array{0.1, 0.5, 1.0}[list.size() % 3], Reason::workers);
        s.data.prefetch = 0;
        list.push_back({difference(s), words(plan.overrides)});
    }
    sort_and_print(list, "plans whose hosts load");
    EXPECT_GT(list.size(), 100U);
    EXPECT_LE(percentile(list, 0.95), 0.05);
}

// A pipeline takes many micro-batches in a row, and few may wait.
TEST(Agreement, OfPredictAndSimulateWhereAShortQueueFeedsAPipeline) {
    std::vector<Difference> list;
    for (const Schedule schedule : {Schedule::gpipe, Schedule::one_f_one_b})
        for (const int micro_batches : {4, 16, 64})
            for (const int prefetch : {1, 4})
                for (const double ratio : {0.5, 0.9, 1.0, 1.1}) {
                    Scenario s = products_job(8);
                    s.plan.pp = 4;
                    s.plan.schedule = schedule;
                    s.plan.global_batch = micro_batches * s.plan.micro_batch;
                    s = fed(s, ratio, Reason::workers);
                    s.data.prefetch = prefetch;
                    list.push_back({difference(s), std::string(schedule == Schedule::gpipe ? "GPipe" : "1F1B") + " of " +
                                                       std::to_string(micro_batches) + ", prefetch " + std::to_string(prefetch) +
                                                       ", ratio " + std::to_string(ratio)});
                }
    sort_and_print(list, "pipelines with a short queue");
    EXPECT_LE(percentile(list, 0.95), 0.05);
}

// Samples are read, copied and taken one micro-batch after another; which of the three sets the pace depends on their size.
TEST(Agreement, OfPredictAndSimulateWhereSeveralMicroBatchesWaitForSamples) {
    std::vector<Difference> list;
    for (const char* micro_batch : {"10", "25", "50", "100"})
        for (const char* batch : {"100", "200", "400"}) {
            const std::vector<std::string> set{std::string("plan.micro_batch=") + micro_batch, std::string("plan.global_batch=") + batch};
            list.push_back({difference(bundled_scenario("input-one-file", set)), words(set)});
        }
    sort_and_print(list, "plans that wait for samples");
    EXPECT_LE(percentile(list, 1), 0.005);
}

// Loaders and kernels that need more cores than there are: loaders have what kernels leave, in the closed form as in the simulator.
TEST(Agreement, OfPredictAndSimulateWhereLoadersCrowdTheCores) {
    std::vector<Difference> list;
    for (const int cores : {1, 2, 4, 8})
        for (const int workers : {1, 2, 8})
            for (const double ratio : {0.2, 0.9, 1.1, 4.0}) {
                Scenario s = products_job(8);
                s.plan.dp = 4;
                s.plan.global_batch = 4096;
                s = fed(s, 0.01, Reason::workers);
                s.data.workers = workers;
                s.cluster.node.host.cores = cores;
                // The library's time for a sample at this speed of a thread is all the work that there is.
                const Seconds step = estimate(prepare(s)).step - estimate(prepare(s)).terms[Term::input];
                const Seconds work = facts_of(DataFormat::npy).library.value;
                s.cluster.node.host.thread_speed = round_machine::given(work * 1024.0 / (workers * ratio * step));
                list.push_back({difference(s),
                                std::to_string(cores) + " cores, " + std::to_string(workers) + " workers, ratio " + std::to_string(ratio)});
            }
    sort_and_print(list, "crowded hosts");
    EXPECT_LE(percentile(list, 1), 0.05);
}

}  // namespace
}  // namespace sextant
