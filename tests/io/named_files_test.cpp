#include "model/io/scenario/named_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using testing::ElementsAre;

TEST(NamedFiles, OfSetLieWhereTheProgramRuns) {
    const std::string here = std::filesystem::current_path().string();
    EXPECT_THAT(
        with_whole_paths({"plan.dp=2", "workload=a/wl.json", "framework=/f.json", "workload=gpt3-175b"}),
        ElementsAre("plan.dp=2", "workload=a/wl.json", "workload=" + here + "/a/wl.json", "framework=/f.json", "workload=gpt3-175b"));
    EXPECT_THAT(with_whole_paths({R"(hardware={"cluster": "../c.json"})"}),
                ElementsAre(R"(hardware={"cluster": "../c.json"})",
                            "hardware.cluster=" + (std::filesystem::current_path().parent_path() / "c.json").string()));
}

TEST(NamedFiles, OfADocumentAreFoundFromWhereItIsMovedTo) {
    // Of /jobs/a.json the workload lies at /jobs/wl.json and the cluster at /c.json: from /best they are ../jobs/wl.json and ../c.json.
    const ScenarioDocument d{"/jobs/a.json", R"({"workload": "wl.json", "hardware": {"cluster": "../c.json"}, "name": "x.json"})", {}};
    EXPECT_THAT(moved(d, "/best/b.json").edits, ElementsAre("workload=../jobs/wl.json", "hardware.cluster=../c.json"));
    EXPECT_THAT(moved(d, "/jobs/b.json").edits, ElementsAre());
    const ScenarioDocument changed{"/jobs/a.json", R"({"hardware": {"cluster": {"base": "c.json", "nodes": 2}}})", {}};
    EXPECT_THAT(moved(changed, "/best/b.json").edits, ElementsAre("hardware.cluster.base=../jobs/c.json"));
}

}  // namespace
}  // namespace sextant
