// What must hold of any prediction, tried on every scenario.
#include "model/io/profile/framework_reader.hpp"
#include "model/io/report/report_writer.hpp"
#include "model/plan/gradient_fusion.hpp"
#include "tests/golden/bundled_scenarios.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace sextant {
namespace {

using Json = nlohmann::json;

constexpr double rounding = 1e-9;  // relative: what a sum of a hundred numbers may lose

TEST_P(EveryScenario, HasTermsThatSumToTheStepTimeAndNoneBelowZero) {
    const Estimate e = predict(bundled_scenario(GetParam())).estimate;
    EXPECT_NEAR(e.terms.total() / e.step, 1, rounding);
    EXPECT_GT(e.step, Seconds{});
    for (const Term t : all_terms) {
        EXPECT_GE(e.terms[t], Seconds{}) << to_text(t);
        EXPECT_GE(e.overlapped[t], Seconds{}) << "overlapped " << to_text(t);
        // What rounding left of a sum is nothing, and stands in no report.
        EXPECT_TRUE(e.overlapped[t] == Seconds{} || e.overlapped[t] > 1e-12 * e.step) << "overlapped " << to_text(t);
    }
}

TEST_P(EveryScenario, HasAStepTimeInsideItsInterval) {
    const Report r = predict(bundled_scenario(GetParam()));
    EXPECT_GT(r.low, Seconds{});
    EXPECT_LE(r.low, r.estimate.step);
    EXPECT_GE(r.high, r.estimate.step);
}

// What is ready a little earlier or later may wait for another cycle of the thread that fuses gradients.
Seconds luck_of_a_cycle(const Scenario& s) {
    const auto fusion = gradient_fusion(s.plan, s.framework);
    return fusion ? fusion->cycle : Seconds{};
}

TEST_P(EveryScenario, IsNeverSlowerWithTwiceOfAnyResource) {
    static constexpr std::pair<const char*, double Resources::*> resources[] = {{"compute", &Resources::compute},
                                                                                {"memory bandwidth", &Resources::memory_bandwidth},
                                                                                {"node bandwidth", &Resources::node_bandwidth},
                                                                                {"network bandwidth", &Resources::network_bandwidth},
                                                                                {"latency", &Resources::latency},
                                                                                {"host", &Resources::host},
                                                                                {"kernel overhead", &Resources::kernel_overhead},
                                                                                {"storage", &Resources::storage},
                                                                                {"storage operations", &Resources::storage_operations},
                                                                                {"loader workers", &Resources::loader_workers},
                                                                                {"loader cores", &Resources::loader_cores},
                                                                                {"overlap", &Resources::overlap}};
    const Prepared job = prepare(bundled_scenario(GetParam()));
    const Seconds now = estimate(job).step + luck_of_a_cycle(job.scenario());
    for (const auto& [name, field] : resources) {
        Resources doubled;
        doubled.*field = 2;
        EXPECT_LE(estimate(job, doubled).step / now, 1 + rounding) << "twice the " << name;
    }
}

TEST_P(EveryScenario, CommunicatesForFreeOnOneDevice) {
    const Estimate e = predict(on_one_device(bundled_scenario(GetParam()))).estimate;
    for (const Term t : {Term::tensor_communication, Term::context_communication, Term::expert_communication, Term::pipeline_communication,
                         Term::data_communication, Term::bubble, Term::straggler}) {
        EXPECT_EQ(e.terms[t], Seconds{}) << to_text(t);
        EXPECT_EQ(e.overlapped[t], Seconds{}) << "overlapped " << to_text(t);
    }
}

TEST_P(EveryScenario, GivesTheSameBytesAgain) {
    const std::string first = report_to_json(predict(bundled_scenario(GetParam())));
    EXPECT_EQ(first, report_to_json(predict(bundled_scenario(GetParam()))));
}

TEST_P(EveryScenario, UsesNoMoreThanThePeakAndExecutesNoLessThanTheModelNeeds) {
    const Report r = predict(bundled_scenario(GetParam()));
    EXPECT_GT(r.mfu, 0);
    EXPECT_LE(r.mfu, r.hfu * (1 + rounding));
    EXPECT_LE(r.hfu, 1);
    EXPECT_GT(r.utilization, 0);
    EXPECT_LE(r.utilization, 1);
}

TEST_P(EveryScenario, ReportsAMemoryPeakThatItsKindsSumTo) {
    const Json report = Json::parse(report_to_json(predict(bundled_scenario(GetParam()))));
    double peak = 0;
    for (const Json& stage : report["memory_by_stage"]) {
        double sum = 0;
        for (const auto& [kind, bytes] : stage["by_kind_bytes"].items()) {
            EXPECT_GE(bytes.get<double>(), 0) << kind;
            sum += bytes.get<double>();
        }
        EXPECT_NEAR(sum / stage["total_bytes"].get<double>(), 1, rounding);
        peak = std::max(peak, sum);
    }
    EXPECT_NEAR(peak / report["memory_bytes"].get<double>(), 1, rounding);
    EXPECT_EQ(report["fits"].get<bool>(), report["memory_bytes"] <= report["device_memory_bytes"]);
}

TEST_P(EveryScenario, NeverNeedsLessMemoryForALargerMicroBatch) {
    Scenario s = bundled_scenario(GetParam());
    const Bytes before = predict(s).estimate.peak_memory;
    s.plan.micro_batch *= 2;
    s.plan.global_batch *= 2;
    EXPECT_GE(predict(s).estimate.peak_memory, before);
}

TEST_P(EveryScenario, KeepsHalfTheLogitsWhenTheHeadRunsInTwoParts) {
    Scenario s = bundled_scenario(GetParam());
    if (s.plan.schedule == Schedule::gpipe) GTEST_SKIP() << "GPipe holds the logits of all micro-batches";
    const Estimate whole = estimate(prepare(s));
    s.plan.head_chunks = 2;
    const Estimate parts = estimate(prepare(s));
    for (std::size_t stage = 0; stage < whole.memory.size(); ++stage)
        EXPECT_DOUBLE_EQ(parts.memory[stage][MemoryKind::logits].si(), whole.memory[stage][MemoryKind::logits].si() / 2);
}

// The largest micro-batch that is said to fit does, and twice as much does not.
TEST_P(EveryScenario, SaysTrulyWhichMicroBatchStillFits) {
    Scenario s = bundled_scenario(GetParam());
    const std::int64_t micro_batches = s.plan.micro_batches();
    const std::int64_t largest = predict(s).batch.largest_micro_batch;
    const auto fits = [&](std::int64_t micro_batch) {
        s.plan.micro_batch = micro_batch;
        s.plan.global_batch = micro_batch * s.plan.dp * micro_batches;
        return predict(s).estimate.fits();
    };
    EXPECT_EQ(largest > 0, largest > 0 && fits(largest)) << largest;
    constexpr std::int64_t most_of_a_plan = 1'000'000;
    if (2 * largest < most_of_a_plan) {
        EXPECT_FALSE(fits(2 * largest + 1)) << 2 * largest + 1;
    }
}

TEST_P(EveryScenario, StatesItsLessonAndFitsUnlessThatIsTheLesson) {
    const Scenario s = bundled_scenario(GetParam());
    EXPECT_GE(s.description.size(), 40u);
    EXPECT_LE(s.description.size(), 300u);
    EXPECT_EQ(predict(s).estimate.fits(), GetParam() != "does-not-fit");
}

// The same work for each copy of the model, more copies: never faster a copy, unless copies share states and each has less to update.
TEST_P(EveryScenario, GainsNothingACopyFromMoreCopies) {
    Scenario s = bundled_scenario(GetParam());
    if (s.plan.data_parallel != DataParallel::all_reduce) GTEST_SKIP() << "copies share states";
    if (s.cluster.node.nics == 0) GTEST_SKIP() << "no network for more nodes";
    const std::int64_t per_copy = s.plan.global_batch / s.plan.dp;
    s.cluster.nodes *= 2;
    s.reserved_devices = 0;
    const Seconds before = predict(s).estimate.step;
    s.plan.dp *= 2;
    s.plan.global_batch = per_copy * s.plan.dp;
    EXPECT_GE((predict(s).estimate.step + luck_of_a_cycle(s)) / before, 1 - rounding);
}

// Each network of the catalogue as each framework runs it; forward alone as one does.
TEST(EveryWorkload, HasAPredictionUnderEveryFramework) {
    for (const std::string& framework : framework_names(SEXTANT_SOURCE_DIR))
        for (const std::string& name : workload_names())
            for (const char* forward_only : {"false", "true"}) {
                if (std::string(forward_only) == "true" && framework != "sextant-cuda") continue;
                const Scenario s = bundled_scenario("llama-3-8b-fsdp-64xh100",
                                                    {"workload=" + name, "framework=" + framework, "plan.recompute=none", "plan.dp=1",
                                                     "plan.grad_accum=null", "plan.global_batch=2", "plan.micro_batch=2", "run=null",
                                                     "hardware.reserved_devices=null", std::string("plan.forward_only=") + forward_only});
                const Estimate e = estimate(prepare(s));
                EXPECT_GT(e.step, Seconds{}) << name << ' ' << framework;
                EXPECT_GT(e.peak_memory, Bytes{}) << name << ' ' << framework;
            }
}

}  // namespace
}  // namespace sextant
