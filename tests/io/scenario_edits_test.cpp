// One scenario made of another, by what --set takes.
#include "model/io/scenario/scenario_edits.hpp"

#include "tests/golden/bundled_scenarios.hpp"
#include "tests/properties/random_plans.hpp"

#include <gmock/gmock.h>

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::vector<std::string> with(std::vector<std::string> sets, const ScenarioEdits& edits) {
    for (const auto& [path, value] : edits) sets.push_back(path + "=" + value);
    return sets;
}

// Another plan of the same job: its number of nodes follows from it.
TEST(ScenarioEdits, MakeOfOnePlanTheOther) {
    const std::vector<RandomPlan> plans = random_plans(99, 8);
    for (const RandomPlan& from : plans)
        for (const RandomPlan& other : plans) {
            Scenario to = from.scenario;
            to.plan = other.scenario.plan;
            if (!check_plan(to).empty()) continue;
            const ScenarioEdits edits = edits_between(from.scenario, to);
            SCOPED_TRACE(set_text(edits));
            const Scenario made = bundled_scenario("mixtral-8x7b-128xh100", with(from.overrides, edits));
            EXPECT_THAT(edits_between(made, to), IsEmpty());
            EXPECT_EQ(made.plan.devices(), to.plan.devices());
        }
}

// Pipelines that turn back have two chunks without saying so; others do not.
TEST(ScenarioEdits, SayTheChunksOfAScheduleThatDoesNotTurnBack) {
    for (const char* turning : {"zero_bubble_v", "dual_pipe_v"}) {
        const std::vector<std::string> stated{"plan.schedule=" + std::string(turning), "plan.vpp=null", "plan.stage_blocks=null"};
        const Scenario from = bundled_scenario("model-parallel-pipeline", stated);
        for (const auto& [schedule, vpp] :
             {std::pair{Schedule::interleaved, 2}, {Schedule::one_f_one_b, 1}, {Schedule::zero_bubble_v, 2}}) {
            Scenario to = from;
            to.plan.schedule = schedule;
            to.plan.vpp = vpp;
            const Scenario made = bundled_scenario("model-parallel-pipeline", with(stated, edits_between(from, to)));
            EXPECT_EQ(made.plan.schedule, schedule) << turning;
            EXPECT_EQ(made.plan.vpp, vpp) << turning;
        }
    }
}

// A file may state any two of micro-batch, global batch and accumulation, or all three.
TEST(ScenarioEdits, AgreeWithWhateverTheFileStatesOfItsBatch) {
    using Stated = std::vector<std::string>;
    for (const Stated& stated : {Stated{"plan.micro_batch=2", "plan.global_batch=16", "plan.grad_accum=null"},
                                 Stated{"plan.micro_batch=2", "plan.global_batch=null", "plan.grad_accum=4"},
                                 Stated{"plan.micro_batch=null", "plan.global_batch=16", "plan.grad_accum=4"},
                                 Stated{"plan.micro_batch=2", "plan.global_batch=16", "plan.grad_accum=4"}})
        for (const auto& [micro, global] : {std::pair{4, 16}, {2, 32}, {4, 32}, {1, 16}}) {
            const Scenario from = bundled_scenario("default", stated);
            Scenario to = from;
            to.plan.micro_batch = micro;
            to.plan.global_batch = global;
            const Scenario made = bundled_scenario("default", with(stated, edits_between(from, to)));
            EXPECT_EQ(made.plan.micro_batch, micro);
            EXPECT_EQ(made.plan.global_batch, global);
        }
}

TEST(ScenarioEdits, NameWhatDiffersAndNothingElse) {
    const Scenario from = bundled_scenario("slowest-worker");
    EXPECT_THAT(edits_between(from, from), IsEmpty());
    Scenario to = from;
    to.straggler.reset();
    to.plan.dp = 4;
    to.plan.global_batch /= 2;
    to.plan.precision = precision_policy(DataType::bf16);
    to.plan.precision.reduction = DataType::bf16;
    to.plan.channels_last = true;
    EXPECT_THAT(edits_between(from, to), ElementsAre(Pair("hardware.nodes", "1"), Pair("hardware.straggler", "null"), Pair("plan.dp", "4"),
                                                     Pair("plan.global_batch", "1024"), Pair("plan.channels_last", "true"),
                                                     Pair("plan.precision", "bf16"), Pair("plan.precision.reduction", "bf16")));
    EXPECT_EQ(set_text({{"plan.tp", "8"}, {"workload.widths", "[1,2]"}}), "plan.tp=8 'workload.widths=[1,2]'");
}

// Servers that are no more are not counted.
TEST(ScenarioEdits, ForgetServersThatServeNobody) {
    const Scenario from = bundled_scenario("parameter-server-sync");
    Scenario to = from;
    to.plan.data_parallel = DataParallel::all_reduce;
    to.plan.parameter_servers = 1;
    const Scenario made = bundled_scenario("parameter-server-sync", with({}, edits_between(from, to)));
    EXPECT_FALSE(made.plan.has_servers());
}

// Named or described in place: its sizes are laid over it alike, and what follows from one of them is said too.
TEST(ScenarioEdits, OfANetworkAreLaidOverIt) {
    for (const char* workload : {R"(workload="gpt2-medium")", R"(workload={"transformer": {"layers": 2, "hidden": 1020, "heads": 4,
                                 "head_dim": 64, "vocab": 50257, "seq_len": 256}})"}) {
        const Scenario from = bundled_scenario("default", {workload});
        Scenario to = from;
        auto& spec = std::get<TransformerSpec>(to.workload.spec);
        spec.vocab = 50304;
        spec.hidden += 1024 - spec.hidden % 1024;
        const Scenario made = bundled_scenario("default", with({workload}, edits_between(from, to)));
        const auto& is = std::get<TransformerSpec>(made.workload.spec);
        EXPECT_EQ(is.vocab, 50304);
        EXPECT_EQ(is.hidden, spec.hidden);
        EXPECT_EQ(is.ffn_hidden, spec.ffn_hidden);
    }
}

}  // namespace
}  // namespace sextant
