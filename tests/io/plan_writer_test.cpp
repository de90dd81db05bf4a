// Plans out, and back: in the words of a scenario file, laid over one, and pinned by name.
#include "model/io/scenario/plan_writer.hpp"
#include "model/io/scenario/pin_reader.hpp"
#include "model/io/scenario/scenario_writer.hpp"
#include "model/search/plan_fields.hpp"
#include "tests/base/refusal.hpp"
#include "tests/golden/bundled_scenarios.hpp"
#include "tests/io/scenario_fixture.hpp"
#include "tests/properties/random_plans.hpp"

#include <nlohmann/json.hpp>

#include <gmock/gmock.h>

#include <fstream>

#include <unistd.h>

namespace sextant {
namespace {

std::string text_with_plan(const std::filesystem::path& file, const std::vector<std::string>& overrides, const Scenario& job,
                           const Plan& plan) {
    ScenarioDocument document = open_document(file);
    document.edits = overrides;
    return text_of(document_with_plan(std::move(document), job, plan));
}

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string of_default = std::string(SEXTANT_SOURCE_DIR) + "/scenarios/mixtral-8x7b-128xh100.json";

void expect_same_plan(const Plan& a, const Plan& b) {
    for (const PlanField field : all_plan_fields)
        EXPECT_TRUE(same_field(field, a, b)) << to_text(field) << ": " << plan_field_text(field, a) << ", " << plan_field_text(field, b);
    EXPECT_EQ(a.global_batch, b.global_batch);
}

Scenario read_back(const std::string& text) {
    const std::filesystem::path file =
        std::filesystem::path(::testing::TempDir()) / ("sextant_plan_" + std::to_string(::getpid()) + ".json");
    std::ofstream(file) << text;
    Library library = open_library(std::filesystem::path(SEXTANT_SOURCE_DIR) / "hardware_profiles");
    Scenario s = load_scenario(library, file);
    std::filesystem::remove(file);
    return s;
}

TEST(PlanWriter, ASavedScenarioIsReadBackWithTheSamePlanAndAnswer) {
    for (const RandomPlan& drawn : random_plans(4242, 12)) {
        SCOPED_TRACE(::testing::PrintToString(drawn.overrides));
        std::vector<std::string> others;  // of the job, not of its plan
        for (const std::string& o : drawn.overrides)
            if (!o.starts_with("plan.") || o.starts_with("plan.precision") || o.starts_with("plan.reduce") ||
                o.starts_with("plan.pipeline_overlap") || o.starts_with("plan.forward_only"))
                others.push_back(o);
        const Scenario saved = read_back(text_with_plan(of_default, others, drawn.scenario, drawn.scenario.plan));
        expect_same_plan(saved.plan, drawn.scenario.plan);
        EXPECT_EQ(predict(saved).estimate.step, predict(drawn.scenario).estimate.step);
    }
}

TEST(PlanWriter, WritesEveryFieldThatIsOutOfTheOrdinary) {
    Scenario job = bundled_scenario("mixtral-8x7b-128xh100");
    Plan& p = job.plan;
    p.pp = 2, p.dp = 16, p.tp = 4, p.expert_tp = 1, p.ep = 8, p.sequence_parallel = true, p.data_parallel = DataParallel::zero2,
    p.shard_group = 8, p.stage_blocks = {16, 18}, p.recompute = Recompute::blocks, p.recompute_blocks = 3, p.offload = Offload::optimizer,
    p.placement = {PlanDimension::tensor, PlanDimension::context, PlanDimension::pipeline, PlanDimension::data};
    const Scenario saved = read_back(text_with_plan(of_default, {}, job, p));
    expect_same_plan(saved.plan, p);
}

TEST(PlanWriter, KeepsTheOrderOfTheFileAndALineForEachPart) {
    const Scenario job = bundled_scenario("default");
    const std::string text = text_with_plan(std::string(SEXTANT_SOURCE_DIR) + "/scenarios/default.json", {"name=other"}, job, job.plan);
    EXPECT_THAT(text, ::testing::StartsWith("{\n  \"schema\": \"scenario/1\",\n  \"name\": \"other\",\n  \"description\": "));
    EXPECT_THAT(text, HasSubstr("\n  \"plan\": {\"dp\": 2, \"micro_batch\": 4, \"global_batch\": 8, \"precision\": \"fp32\""));
}

TEST(PlanWriter, WhatFollowsFromTheBatchIsNotStatedTwice) {
    EXPECT_TRUE(plan_json(Plan{}).at("grad_accum").is_null());
    EXPECT_TRUE(plan_json(Plan{}).at("shard_group").is_null());
}

// Laid over a file that states them, a plan without servers or selective recomputation is not refused for them.
TEST(PlanWriter, SettingsOfWhatThePlanDoesNotDoAreTakenAway) {
    Plan p;
    for (const char* setting : {"parameter_servers", "servers_on_workers", "recompute_modules"})
        EXPECT_TRUE(plan_json(p).at(setting).is_null()) << setting;
    p.data_parallel = DataParallel::parameter_server;
    p.recompute = Recompute::selective;
    for (const char* setting : {"parameter_servers", "servers_on_workers", "recompute_modules"})
        EXPECT_FALSE(plan_json(p).contains(setting)) << setting;
}

TEST(Pins, GiveThePlanTheirValue) {
    Plan plan;
    EXPECT_EQ(read_pin("tp=8", plan), PlanField::tp);
    EXPECT_EQ(plan.tp, 8);
    read_pin("recompute={\"blocks\": 4}", plan);
    EXPECT_EQ(plan.recompute, Recompute::blocks);
    EXPECT_EQ(plan.recompute_blocks, 4);
    read_pin("data_parallel=fsdp", plan);
    EXPECT_EQ(plan.data_parallel, DataParallel::zero3);
    EXPECT_EQ(read_pin("pp", plan), PlanField::pp);
    EXPECT_EQ(plan.pp, 1);
}

std::string complaint_about(const std::string& pin) {
    Plan plan;
    return refusal_by([&] { return read_pin(pin, plan); });
}

TEST(Pins, ThatMeanNothingAreRefused) {
    EXPECT_THAT(complaint_about("micro_bach=2"), HasSubstr("did you mean \"micro_batch\"?"));
    EXPECT_THAT(complaint_about("tp=many"), HasSubstr("--pin tp=many:/tp"));
    EXPECT_THAT(complaint_about("tp=0"), HasSubstr("--pin tp=0:/tp: 0 must be at least 1"));
    EXPECT_THAT(complaint_about("schedule=1f1"), HasSubstr("1f1b"));
    EXPECT_THAT(complaint_about("=3"), HasSubstr("nothing that a search chooses"));
    EXPECT_THAT(complaint_about(""), HasSubstr("nothing that a search chooses"));
    EXPECT_THAT(complaint_about("precision=fp8"), HasSubstr("nothing that a search chooses"));
}

TEST(Pins, MayStandInTheScenario) {
    const auto good = fixtures::read_text(fixtures::good_scenario, {R"(pinned=["tp", "schedule"])"});
    EXPECT_EQ(fixtures::all_of(good.problems), "");
    EXPECT_THAT(pinned_fields(good.scenario), ElementsAre(PlanField::tp, PlanField::schedule));
    const auto bad = fixtures::read_text(fixtures::good_scenario, {R"(pinned=["tpp", 3])"});
    EXPECT_THAT(fixtures::all_of(bad.problems), HasSubstr("did you mean \"tp\"?"));
    EXPECT_EQ(bad.problems.size(), 2u);
}

}  // namespace
}  // namespace sextant
