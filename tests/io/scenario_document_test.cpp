#include "model/io/scenario/scenario_document.hpp"

#include "model/io/format/json_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace sextant {
namespace {

using testing::ElementsAre;

ScenarioDocument document(std::string text) { return {.file = "x.json", .text = std::move(text), .edits = {}}; }

const ScenarioDocument job = document(R"({
  "schema": "scenario/1",
  "workload": "gpt3-175b",
  "plan": {"tp": 8, "dp": 2},
  "hardware": {"cluster": "selene"}
}
)");

TEST(ScenarioDocument, IsWrittenAsItWasReadWhereNothingIsEdited) { EXPECT_EQ(text_of(job), job.text); }

TEST(ScenarioDocument, AnEditChangesItsLineAndKeepsTheOrderOfTheRest) {
    EXPECT_EQ(text_of(edited(job, "plan.dp", "4")), R"({
  "schema": "scenario/1",
  "workload": "gpt3-175b",
  "plan": {"tp": 8, "dp": 4},
  "hardware": {"cluster": "selene"}
}
)");
}

TEST(ScenarioDocument, WhatIsNotEditedKeepsItsSpelling) {
    const ScenarioDocument d = document(R"({
  "name": "a \"b\", {c}",
  "run": {"tokens": 300e9, "epochs": 1.0},
  "assumptions": [
    "one, two",
    "]"
  ]
}
)");
    EXPECT_EQ(text_of(edited(d, "run.epochs", "2")), R"({
  "name": "a \"b\", {c}",
  "run": {"tokens": 300e9, "epochs": 2},
  "assumptions": [
    "one, two",
    "]"
  ]
}
)");
}

TEST(ScenarioDocument, OfEditsOfOneFieldTheLastCounts) {
    const ScenarioDocument d = edited(edited(edited(job, "plan.dp", "4"), "plan.tp", "4"), "plan.dp", "8");
    EXPECT_THAT(d.edits, ElementsAre("plan.tp=4", "plan.dp=8"));
    EXPECT_EQ(stated_at(d, "plan.dp"), "8");
}

TEST(ScenarioDocument, AnEditBackToWhatWasWrittenIsNone) { EXPECT_EQ(edited(edited(job, "plan.dp", "4"), "plan.dp", "2"), job); }

TEST(ScenarioDocument, WhatIsTakenAwayLeavesNoTrace) {
    const ScenarioDocument d = edited(job, "plan.dp", "null");
    EXPECT_EQ(stated_at(d, "plan.dp"), std::nullopt);
    EXPECT_EQ(text_of(d).find("dp"), std::string::npos);
}

TEST(ScenarioDocument, AFieldIsLaidOverWhatIsGivenByName) {
    const ScenarioDocument d = edited(job, "workload.seq_len", "4096");
    EXPECT_EQ(stated_at(d, "workload"), R"({"model":"gpt3-175b","seq_len":4096})");
    EXPECT_EQ(stated_at(edited(d, "workload.seq_len", "8192"), "workload.seq_len"), "8192");
    // Another name puts an end to what was laid over the first.
    EXPECT_EQ(stated_at(edited(d, "workload", json_text("gpt3-2.7b")), "workload"), "gpt3-2.7b");
}

TEST(ScenarioDocument, TextsStayTexts) {
    EXPECT_EQ(json_text("16"), "\"16\"");
    EXPECT_EQ(json_text("a \"b\""), R"("a \"b\"")");
    EXPECT_EQ(stated_at(edited(job, "name", json_text("16")), "name"), "16");
    EXPECT_NE(text_of(edited(job, "name", json_text("16"))).find("\"name\": \"16\""), std::string::npos);
}

TEST(ScenarioDocument, StatesNothingAtPlacesThatAreNotThere) {
    for (const char* path : {"plan.pp", "plan.tp.x", "run.tokens", "hardware.device.memory", "nothing"})
        EXPECT_EQ(stated_at(job, path), std::nullopt) << path;
    EXPECT_EQ(stated_at(document("[1, [2, 3]]"), "1.0"), "2");
    EXPECT_EQ(stated_at(document("[1]"), "7"), std::nullopt);
}

TEST(ScenarioDocument, ReadsTheSameAsASetOnTheCommandLine) {
    Diagnostics diagnostics;
    const ScenarioDocument d = edited(job, "plan.tp", "4");
    const JsonFile file = as_json(d, diagnostics);
    int tp = 0;
    EXPECT_TRUE(read_value(file.root().child("plan").child("tp"), tp));
    EXPECT_EQ(tp, 4);
    EXPECT_TRUE(diagnostics.empty());
}

TEST(ScenarioDocument, IsNoneWithoutAFileOrWithoutJson) {
    EXPECT_THROW(open_document("/no/such/file.json"), InputError);
    EXPECT_THROW(open_document(SEXTANT_SOURCE_DIR "/README.md"), InputError);
    EXPECT_FALSE(title_of(SEXTANT_SOURCE_DIR "/README.md"));
    EXPECT_TRUE(title_of(SEXTANT_SOURCE_DIR "/scenarios/default.json"));
}

TEST(ScenarioDocument, EveryBundledScenarioIsInTheStyleThatIsWritten) {
    for (const auto& entry : std::filesystem::directory_iterator(SEXTANT_SOURCE_DIR "/scenarios")) {
        if (entry.path().extension() != ".json") continue;
        const ScenarioDocument d = open_document(entry.path());
        const ScenarioDocument there_and_back = edited(d, "name", json_text("another"));
        EXPECT_EQ(std::count(d.text.begin(), d.text.end(), '\n'), [&] {
            const std::string text = text_of(there_and_back);
            return std::count(text.begin(), text.end(), '\n');
        }()) << entry.path();
    }
}

}  // namespace
}  // namespace sextant
