// `sextant compare` as scripts use it, on runs that the executor made (tests/io/runs).
#include "tests/cli/process_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace sextant {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using Json = nlohmann::json;

ProcessResult compare_run(const std::string& run, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"compare", "tests/io/runs/scenario.json", run});
    return run_sextant(more);
}
constexpr auto data_parallel = "tests/io/runs/data_parallel.json";

TEST(Compare, PrintsPredictionBesideMeasurement) {
    const ProcessResult r = compare_run(data_parallel);
    EXPECT_EQ(r.exit_code, 0);
    EXPECT_THAT(r.out, AllOf(HasSubstr("predicted  simulated"), HasSubstr("data communication"), HasSubstr("rank 1, stage 0"),
                             HasSubstr("Largest difference between prediction and measurement")));
    EXPECT_THAT(r.err, IsEmpty());
}

TEST(Compare, WritesJsonThatIsTheSameEachTime) {
    const ProcessResult r = compare_run("tests/io/runs/pipeline.json", {"--set", "plan.dp=1", "--set", "plan.pp=2", "--format", "json"});
    const Json json = json_of(r);
    EXPECT_EQ(json.at("schema"), "comparison/1");
    EXPECT_EQ(json.at("ranks").size(), 2);
    EXPECT_EQ(r.out, run_sextant({"compare", "--set", "plan.dp=1", "--set", "plan.pp=2", "tests/io/runs/scenario.json",
                                  "tests/io/runs/pipeline.json", "--format", "json"})
                         .out);
}

TEST(Compare, ExitsWith1WhenAConditionHolds) {
    EXPECT_EQ(compare_run(data_parallel, {"--fail-if", "step_time_ratio > 1000"}).exit_code, 0);
    EXPECT_THAT(compare_run(data_parallel, {"--fail-if", "largest_residual > 1 ns"}),
                exits_with(1, HasSubstr("condition held: largest_residual > 1 ns")));
    EXPECT_THAT(compare_run(data_parallel, {"--fail-if", "speed > 1"}).err, HasSubstr("largest_residual"));
}

TEST(Compare, ExitsWith2ForARunOfAnotherPlanAndForWhatIsNoRun) {
    EXPECT_THAT(compare_run("tests/io/runs/pipeline.json"), exits_with(2, HasSubstr("--set plan.dp=1 --set plan.pp=2")));
    const ProcessResult none = compare_run("scenarios/default.json");
    EXPECT_EQ(none.exit_code, 2);
    EXPECT_THAT(none.err, HasSubstr("run/1"));
    EXPECT_THAT(none.out, IsEmpty());
}

TEST(Compare, SaysThatATimelineIsNoRecordOfARun) {
    for (const std::string ending : {".json", ".h5"}) {
        const std::filesystem::path file =
            std::filesystem::temp_directory_path() / ("sextant-timeline-" + std::to_string(getpid()) + ending);
        ASSERT_EQ(run_sextant({"simulate", "tests/io/runs/scenario.json", "--trace", file.string()}).exit_code, 0);
        const ProcessResult r = compare_run(file.string());
        std::filesystem::remove(file);
        EXPECT_EQ(r.exit_code, 2);
        EXPECT_THAT(r.err, AllOf(HasSubstr("--trace"), HasSubstr("--out")));
    }
}

TEST(Compare, WritesBothTimelinesInOneFile) {
    const std::filesystem::path file = std::filesystem::temp_directory_path() / ("sextant-compare-" + std::to_string(getpid()) + ".json");
    EXPECT_EQ(compare_run(data_parallel, {"--trace", file.string() + ".h5"}).exit_code, 2) << "JSON in a file of columns";
    ASSERT_EQ(compare_run(data_parallel, {"--trace", file.string()}).exit_code, 0);
    std::vector<std::string> names;
    const Json json = Json::parse(std::ifstream(file));
    for (const Json& e : json["traceEvents"])
        if (e["name"] == "process_name") names.push_back(e["args"]["name"]);
    std::filesystem::remove(file);
    EXPECT_THAT(names, testing::ElementsAre("predicted rank 0 (stage 0)", "predicted rank 1 (stage 0)",
                                            HasSubstr("measured rank 0 (stage 0)"), HasSubstr("measured rank 1 (stage 0)")));
}

}  // namespace
}  // namespace sextant
