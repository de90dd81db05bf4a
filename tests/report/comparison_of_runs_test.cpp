// Runs that the real executor left, and plans that they are not of.
#include "model/io/trace/run_reader.hpp"
#include "model/report/comparison.hpp"
#include "model/sextant.hpp"
#include "tests/base/refusal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace sextant {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::filesystem::path runs = std::filesystem::path(SEXTANT_SOURCE_DIR) / "tests/io/runs";

Scenario recorded_scenario(const std::vector<std::string>& overrides) {
    static Library library = open_library();
    return load_scenario(library, runs / "scenario.json", overrides);
}

std::string complaint(const std::string& run, const std::vector<std::string>& overrides) {
    return refusal_by([&] { return compare(recorded_scenario(overrides), load_run(runs / run)); });
}

TEST(Comparison, OfRealRunsHasTermsThatSumToTheStepOnEveryRank) {
    const std::pair<const char*, std::vector<std::string>> recorded[] = {
        {"data_parallel.json", {}},
        {"pipeline.json", {"plan.dp=1", "plan.pp=2"}},
        {"tensor_parallel.json", {"plan.dp=1", "plan.tp=2", "plan.global_batch=4"}},
        {"servers.json", {"plan.data_parallel=parameter_server", "plan.servers_on_workers=true"}},
        {"one_rank.json", {"plan.dp=1", "plan.global_batch=4"}}};
    for (const auto& [name, overrides] : recorded) {
        const RunRecord run = load_run(runs / name);
        const Comparison c = compare(recorded_scenario(overrides), run);
        EXPECT_NEAR(c.terms.measured.total() / run.trace.end, 1, 1e-9) << name;
        EXPECT_NEAR(c.terms.predicted.total() / c.step.predicted, 1, 1e-9) << name;
        ASSERT_EQ(c.ranks.size(), run.trace.ranks.size()) << name;
        for (const RankComparison& r : c.ranks) {
            if (r.server) continue;  // its memory is not predicted
            EXPECT_NEAR(r.measured.terms.total() / run.trace.end, 1, 1e-9) << name;
            EXPECT_NEAR(r.measured_memory.arrays / r.predicted_memory.arrays, 1, 0.2) << name;
        }
        // The executor counts what the model counts.
        for (const KernelRate& k : c.kernels) EXPECT_GT(k.measured, FlopRate{}) << name;
        const std::string_view noted = name;  // its stages finish in another order, or its only step prepares
        EXPECT_EQ(c.notes.size(), noted == "pipeline.json" || noted == "one_rank.json" ? 1U : 0U) << name;
    }
}

TEST(Comparison, ARunOfAnotherPlanIsRefusedWithWhatDiffersAndHowItWasMade) {
    EXPECT_THAT(complaint("data_parallel.json", {"plan.dp=1"}),
                AllOf(HasSubstr("the run has 2 ranks, this plan 1"), HasSubstr("without --set: compare it with the same")));
    EXPECT_THAT(complaint("pipeline.json", {}), AllOf(HasSubstr("rank 1 is of stage 1 in the run, of stage 0 in this plan"),
                                                      HasSubstr("--set plan.dp=1 --set plan.pp=2: compare it with the same")));
    EXPECT_THAT(complaint("tensor_parallel.json", {}),
                HasSubstr("this plan does \"all-reduce of gradients, blocks 0-3\", which the run did not"));
    EXPECT_THAT(complaint("data_parallel.json", {"workload.transformer.layers=3"}),
                AllOf(HasSubstr("the run did \"all-reduce of gradients, blocks 0-3\""),
                      HasSubstr("this plan does \"all-reduce of gradients, blocks 0-4\"")));
    // One micro-batch where the run had two.
    EXPECT_THAT(complaint("data_parallel.json", {"plan.micro_batch=8"}), HasSubstr("is not what this plan does there"));
}

// All kernels of forward and backward are of some operator, and what the run timed is of the spans that it traced.
TEST(Comparison, OfARunThatTimedItsOperatorsHoldsAllOfThem) {
    const std::vector<std::string> alone{"plan.dp=1", "plan.global_batch=4"};
    const Comparison c = compare(recorded_scenario(alone), load_run(runs / "one_rank.json"));
    Seconds predicted, measured;
    for (const OperatorComparison& o : c.operators) {
        predicted += o.calls * o.predicted;
        measured += o.calls * o.measured;
    }
    EXPECT_NEAR(predicted / (c.terms.predicted[Term::forward] + c.terms.predicted[Term::backward]), 1, 0.02);
    EXPECT_LE(measured, c.terms.measured[Term::forward] + c.terms.measured[Term::backward]);
    EXPECT_THAT(complaint("one_rank.json", {"plan.dp=1", "plan.global_batch=4", "plan.flash_attention=true"}),
                HasSubstr("the run timed \"attention.qk\" of \"transformer layer\", which this network does not have there"));
}

TEST(Comparison, ARunOfOtherShapesIsNoted) {
    // The same works in the same places, of layers twice as wide.
    const Comparison c = compare(recorded_scenario({"workload.transformer.hidden=128"}), load_run(runs / "data_parallel.json"));
    EXPECT_THAT(c.notes, testing::Contains(HasSubstr("was it made with another workload or batch?")));
}

}  // namespace
}  // namespace sextant
