// Lessons that are none are told all at once.
#include "model/io/scenario/lesson_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace sextant {
namespace {

using testing::HasSubstr;

// Tests may run at the same time.
std::filesystem::path written(const std::string& text) {
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::path file = std::filesystem::path(testing::TempDir()) / ("lesson_" + test + ".json");
    std::ofstream(file) << text;
    return file;
}

std::string complaints_about(const std::string& text) {
    Diagnostics diagnostics;
    load_lesson(written(text), diagnostics);
    std::string all;
    for (const Diagnostic& d : diagnostics.list()) all += d.pointer + ": " + d.what + "\n";
    return all;
}

TEST(LessonReader, TellsEverythingThatIsMissing) {
    const std::string all = complaints_about(R"({"schema": "lesson/1", "title": "x", "question": "?", "source": "s", "remember": "r",
        "steps": [{"look": "a", "task": "b", "change": 3, "seen": ["c"], "checks": ["step_time is small"], "seem": []}]})");
    EXPECT_THAT(all, HasSubstr("/steps/0: the first step names no scenario"));
    EXPECT_THAT(all, HasSubstr("/steps/0/change: not an object"));
    EXPECT_THAT(all, HasSubstr("/steps/0/checks/0: not a comparison"));
    EXPECT_THAT(all, HasSubstr("seem"));
}

TEST(LessonReader, RefusesALessonWithoutSteps) {
    EXPECT_THAT(complaints_about(R"({"schema": "lesson/1", "title": "x", "question": "?", "source": "s", "remember": "r"})"),
                HasSubstr("without steps"));
    EXPECT_THAT(complaints_about(R"({"schema": "scenario/1"})"), HasSubstr("/schema"));
    EXPECT_NE(complaints_about("{"), "");
}

TEST(LessonReader, AStepGoesOnWhereTheOneBeforeLeftOff) {
    const std::filesystem::path file =
        written(R"({"schema": "lesson/1", "title": "x", "question": "?", "source": "s", "remember": "r", "steps": [
        {"scenario": "default", "look": "a", "task": "b", "change": {"plan.dp": 1}, "seen": ["c"], "checks": ["ratio.step_time > 1"]},
        {"look": "a", "task": "b", "change": {"plan.precision": "bf16"}, "seen": ["c"], "checks": ["ratio.step_time > 1"]},
        {"scenario": "does-not-fit", "look": "a", "task": "b", "change": {"plan.dp": null}, "seen": ["c"], "checks": ["after.fits == 1"]}]})");
    Diagnostics diagnostics;
    const std::optional<Lesson> lesson = load_lesson(file, diagnostics);
    ASSERT_TRUE(lesson && diagnostics.list().empty());
    using Changes = std::vector<std::pair<std::string, std::string>>;
    EXPECT_EQ(lesson->steps[1].scenario, "default");
    EXPECT_EQ(lesson->steps[1].earlier, (Changes{{"plan.dp", "1"}}));
    EXPECT_EQ(lesson->steps[1].changes, (Changes{{"plan.precision", "\"bf16\""}}));
    EXPECT_TRUE(lesson->steps[2].earlier.empty());
    EXPECT_EQ(lesson->steps[2].changes, (Changes{{"plan.dp", "null"}}));
}

}  // namespace
}  // namespace sextant
