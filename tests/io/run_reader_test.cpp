// Files of tests/io/runs/ were made by sextant-exec-cpu; regenerate.sh there says how.
#include "model/io/trace/run_reader.hpp"

#include "model/base/diagnostics.hpp"
#include "model/io/trace/run_writer.hpp"
#include "model/io/trace/trace_check.hpp"
#include "tests/base/refusal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <sstream>

namespace sextant {
namespace {

namespace fs = std::filesystem;
using RunJson = nlohmann::ordered_json;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const fs::path runs = fs::path(SEXTANT_SOURCE_DIR) / "tests/io/runs";

std::string contents(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(runs / name, std::ios::binary).rdbuf();
    return text.str();
}

std::string complaint(const std::string& text) {
    return refusal_by([&] { return run_from_text(text, "run.json"); });
}

// The run of two data-parallel ranks, changed.
struct EditedRun {
    RunJson json = RunJson::parse(contents("data_parallel.json"));
    [[nodiscard]] std::string complaint() const { return sextant::complaint(json.dump()); }
    RunJson& column(const char* name) { return json["trace"]["spans"][name]; }
};

TEST(RunReader, WhatTheExecutorWroteIsWrittenAgainAsItWas) {
    for (const char* name : {"data_parallel.json", "pipeline.json", "tensor_parallel.json", "servers.json", "one_rank.json"})
        EXPECT_EQ(run_to_json(load_run(runs / name)), contents(name)) << name;
}

TEST(RunReader, ReadsWhatRanWhereAndHowLongItTook) {
    const RunRecord run = load_run(runs / "pipeline.json");
    EXPECT_EQ(run.scenario, "A transformer of two layers on two cores");
    EXPECT_THAT(run.overrides, testing::ElementsAre("plan.dp=1", "plan.pp=2"));
    EXPECT_EQ(run.backend, "cpu");
    EXPECT_THAT(run.ranks, SizeIs(2));
    EXPECT_EQ(run.ranks[1].rank, 1);
    EXPECT_GT(run.ranks[1].peak_resident, run.ranks[1].peak_memory);
    EXPECT_THAT(run.steps, SizeIs(5));
    EXPECT_LT(run.losses.back(), run.losses.front());
    EXPECT_EQ(run.trace.ranks[1].stage, 1);
    Diagnostics diagnostics;
    check_trace(run.trace, "", diagnostics);
    EXPECT_TRUE(diagnostics.empty());
    EXPECT_THAT(load_run(runs / "one_rank.json").parameters, Not(IsEmpty()));
}

TEST(RunReader, KnowsWhatWasOffloaded) {
    EditedRun run;
    EXPECT_EQ(run_from_text(run.json.dump(), "run.json").ranks[1].offloaded, Bytes{});
    run.json["environment"]["ranks"][1]["offloaded_bytes"] = 3e9;
    const RunRecord read = run_from_text(run.json.dump(), "run.json");
    EXPECT_EQ(read.ranks[1].offloaded, 3 * units::GB);
    EXPECT_EQ(RunJson::parse(run_to_json(read))["environment"]["ranks"][1]["offloaded_bytes"], 3e9);
    run.json["environment"]["ranks"][1]["offloaded_bytes"] = -1;
    EXPECT_THAT(run.complaint(), HasSubstr("/environment/ranks/1/offloaded_bytes"));
}

TEST(RunReader, KnowsTheLossScaleOfHalfPrecision) {
    EditedRun run;
    run.json["loss_scale"] = {{"last", 32768}, {"skipped_steps", 1}};
    const RunRecord read = run_from_text(run.json.dump(), "run.json");
    EXPECT_EQ(read.loss_scale->last, 32768);
    EXPECT_EQ(read.loss_scale->skipped, 1);
    EXPECT_EQ(RunJson::parse(run_to_json(read))["loss_scale"], run.json["loss_scale"]);
    run.json["loss_scale"].erase("last");
    EXPECT_THAT(run.complaint(), HasSubstr("\"last\" is missing"));
}

TEST(RunReader, KnowsHowUnevenlyExpertsWereLoaded) {
    EditedRun run;
    run.json["expert_imbalance"] = {1.5, 1.25, 2, 1, 3};
    const RunRecord read = run_from_text(run.json.dump(), "run.json");
    EXPECT_THAT(read.expert_imbalance, testing::ElementsAre(1.5, 1.25, 2, 1, 3));
    EXPECT_EQ(RunJson::parse(run_to_json(read))["expert_imbalance"], run.json["expert_imbalance"]);
    run.json["expert_rank_imbalance"] = {1, 1, 1.25, 1, 1};
    EXPECT_EQ(RunJson::parse(run_to_json(run_from_text(run.json.dump(), "run.json")))["expert_rank_imbalance"],
              run.json["expert_rank_imbalance"]);
    run.json["expert_imbalance"] = {1.5};
    EXPECT_THAT(run.complaint(), HasSubstr("run.json:/expert_imbalance: there are 1 for 5 steps"));
}

TEST(RunReader, KnowsTheLossesOfModulesForMultiTokenPrediction) {
    EditedRun run;
    run.json["mtp_losses"] = {4, 3.5, 3, 2.5, nullptr};
    const RunRecord read = run_from_text(run.json.dump(), "run.json");
    EXPECT_EQ(read.mtp_losses[3], 2.5);
    EXPECT_EQ(RunJson::parse(run_to_json(read))["mtp_losses"], run.json["mtp_losses"]);
    run.json["mtp_losses"] = {4};
    EXPECT_THAT(run.complaint(), HasSubstr("run.json:/mtp_losses: there are 1 for 5 steps"));
}

TEST(RunReader, KnowsTheTimesOfOperators) {
    EditedRun run;
    run.json["operators"] = {{{"block_template", 1},
                              {"operator_index", 2},
                              {"block", "layer"},
                              {"name", "mlp.fc1"},
                              {"kind", "backward"},
                              {"calls", 4},
                              {"time_s", 0.5}}};
    const RunRecord read = run_from_text(run.json.dump(), "run.json");
    ASSERT_THAT(read.operators, SizeIs(1));
    EXPECT_EQ(read.operators[0].block_template, 1);
    EXPECT_EQ(read.operators[0].operator_index, 2);
    EXPECT_EQ(read.operators[0].name, "mlp.fc1");
    EXPECT_EQ(read.operators[0].kind, SpanKind::backward);
    EXPECT_EQ(read.operators[0].calls, 4);
    EXPECT_EQ(read.operators[0].time.si(), 0.5);
    EXPECT_EQ(RunJson::parse(run_to_json(read))["operators"], run.json["operators"]);
    run.json["operators"][0]["kind"] = "sideways";
    run.json["operators"][0]["block_template"] = -1;
    run.json["operators"][0].erase("time_s");
    EXPECT_THAT(run.complaint(), AllOf(HasSubstr("/operators/0/kind: expected a kind of span: "), HasSubstr("/operators/0/block_template"),
                                       HasSubstr("\"time_s\" is missing")));
}

TEST(RunReader, ALossThatDivergedIsNoNumber) {
    EditedRun run;
    run.json["losses"][4] = nullptr;
    EXPECT_TRUE(std::isnan(run_from_text(run.json.dump(), "run.json").losses[4]));
    run.json["losses"][4] = "nan";
    EXPECT_THAT(run.complaint(), HasSubstr("run.json:/losses/4: expected a number"));
}

TEST(RunReader, AnotherVersionIsRefusedWithNothingElse) {
    EditedRun run;
    run.json["schema"] = "run/2";
    run.json["clock"] = "new";
    EXPECT_THAT(run.complaint(), AllOf(HasSubstr("run.json:/schema: \"run/2\""), HasSubstr("run/1"), Not(HasSubstr("clock"))));
    run.json.erase("schema");
    EXPECT_THAT(run.complaint(), HasSubstr("\"schema\" is missing"));
}

TEST(RunReader, TruncatedAnywhereIsRefused) {
    std::string whole = contents("data_parallel.json");
    whole.erase(whole.find_last_not_of('\n') + 1);
    for (std::size_t n = 0; n < whole.size(); n += 37)
        EXPECT_THAT(complaint(whole.substr(0, n)), AllOf(HasSubstr("run.json: not valid JSON"), HasSubstr("run again"))) << n;
    EXPECT_THROW(load_run(runs / "absent.json"), InputError);
    EXPECT_THROW(load_run(runs), InputError);
}

TEST(RunReader, EveryKeyIsNeededAndOthersAreUnknown) {
    for (const char* key : {"scenario", "scenario_file", "overrides", "backend", "seed", "environment", "losses", "step_times_s",
                            "traced_step", "step_time_s", "trace"}) {
        EditedRun run;
        run.json.erase(key);
        EXPECT_THAT(run.complaint(), HasSubstr(std::string("\"").append(key) + "\" is missing"));
    }
    for (const char* column :
         {"start_s", "end_s", "bytes", "flops", "segment", "cause", "rank", "micro_batch", "name", "chunk", "stream", "kind"}) {
        EditedRun run;
        run.json["trace"]["spans"].erase(column);
        EXPECT_THAT(run.complaint(), HasSubstr("run.json:/trace/spans: \"" + std::string(column) + "\" is missing"));
    }
    EditedRun run;
    run.json["trace"]["spans"]["colour"] = RunJson::array();
    EXPECT_THAT(run.complaint(), HasSubstr("run.json:/trace/spans/colour: unknown key"));
}

TEST(RunReader, SettingsAreReadAndWrittenWhereThereAreAny) {
    EditedRun run;
    run.json["settings"] = {{"/plan/optimizer", "adamw"}};
    const RunRecord read = run_from_text(run.json.dump(), "run.json");
    EXPECT_THAT(read.settings, testing::ElementsAre(testing::Pair("/plan/optimizer", "adamw")));
    EXPECT_THAT(run_to_json(read), HasSubstr("\"/plan/optimizer\": \"adamw\""));
    run.json["settings"] = {"adamw"};
    EXPECT_THAT(run.complaint(), HasSubstr("run.json:/settings: expected an object"));
}

TEST(RunReader, AllThatIsWrongIsSaidAtOnceWithItsPlace) {
    EditedRun run;
    run.column("start_s")[2] = -1;
    run.column("kind")[4] = "sleep";
    run.column("rank")[1] = 0.5;
    run.column("chunk")[0] = 65536;
    run.column("micro_batch").erase(0);
    run.json["seed"] = -1;
    run.json["losses"].erase(0);
    run.json["traced_step"] = 5;
    run.json["environment"]["ranks"][1]["rank"] = 0;
    const std::string text = run.complaint();
    for (const char* part :
         {"run.json:/trace/spans/start_s/2: expected a number that is not negative",
          "run.json:/trace/spans/kind/4: expected a kind of span",
          "run.json:/trace/spans/rank/1: expected a whole number from 0 to 4294967295",
          "run.json:/trace/spans/chunk/0: expected a whole number from 0 to 65535", "run.json:/trace/spans/micro_batch: it has",
          "run.json:/seed", "run.json:/losses: there are 4 losses of 5 steps", "run.json:/traced_step: there are 5 steps",
          "run.json:/environment/ranks/1/rank"})
        EXPECT_THAT(text, HasSubstr(part));
}

TEST(RunReader, ATraceThatContradictsItselfIsRefusedByItsColumns) {
    EditedRun run;
    run.column("rank")[0] = 2;
    run.column("cause")[1] = 10'000;
    run.column("name")[3] = 99;
    run.column("end_s")[2] = 0.0;
    const std::string text = run.complaint();
    for (const char* part : {"/trace/spans/rank: span 0: is of none of the ranks", "/trace/spans/cause: span 1: its cause is no span",
                             "/trace/spans/name: span 3: has none of the names", "/trace/spans/end_s: span 2: does not end"})
        EXPECT_THAT(text, HasSubstr(part));
}

TEST(RunReader, WhatStandsInTwoPlacesMustAgree) {
    EditedRun step;
    step.json["step_time_s"] = 2 * step.json["step_time_s"].get<double>();
    EXPECT_THAT(step.complaint(), HasSubstr("run.json:/step_time_s: it is not the end of the trace"));
    EditedRun several;
    several.json["steps_in_trace"] = 4;
    EXPECT_THAT(several.complaint(), HasSubstr("run.json:/step_time_s: it is not the end of the trace by its steps"));
    several.json["step_time_s"] = several.json["step_time_s"].get<double>() / 4;
    EXPECT_EQ(several.complaint(), "");
    EditedRun ranks;
    ranks.json["environment"]["ranks"].erase(1);
    EXPECT_THAT(ranks.complaint(), HasSubstr("run.json:/environment/ranks: there are 1 ranks, and 2 in the trace"));
}

TEST(RunReader, NothingInPlaceOfAnyValueCrashes) {
    const RunJson whole = RunJson::parse(contents("one_rank.json"));
    const RunJson places = whole.flatten();
    for (const auto& [pointer, value] : places.items())
        for (const RunJson& other : {RunJson(nullptr), RunJson(-1), RunJson(1e300), RunJson("x"), RunJson::array(), RunJson::object()}) {
            RunJson changed = whole;
            changed[RunJson::json_pointer(pointer)] = other;
            EXPECT_NO_FATAL_FAILURE(complaint(changed.dump())) << pointer;
        }
}

}  // namespace
}  // namespace sextant
