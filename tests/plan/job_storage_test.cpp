#include "model/plan/job_storage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

StorageClass disk() {
    StorageClass s;
    s.name = "disk";
    s.kind = StorageKind::nvme;
    return s;
}
StorageClass shared(const char* name, Bytes room) {
    StorageClass s;
    s.name = name;
    s.kind = StorageKind::nfs;
    s.shared = true;
    s.capacity = {room, SourceKind::datasheet, "test"};
    return s;
}

// Ten nodes of one device, of which four have a local disk; a job on some of them that stages 1000 samples of 1 MB to it.
Scenario staged_on(int nodes) {
    Scenario s;
    s.workload = {"gpt", "GPT", TransformerSpec{}, ""};
    s.cluster.name = "box";
    s.cluster.nodes = 10;
    s.cluster.node.nics = 1;
    s.cluster.node.local_storage = disk();
    s.cluster.local_storage_nodes = 4;
    s.cluster.file_systems = {{"home", shared("home of box", 500 * MB)}, {"scratch", shared("scratch of box", 2 * GB)}};
    s.plan.dp = nodes;
    s.plan.global_batch = nodes;
    s.data.synthetic = false;
    s.data.storage = s.cluster.file_systems.at("scratch");
    s.data.samples = 1000;
    s.data.sample_bytes = 1 * MB;
    s.data.staging = {StagingMode::copy, disk()};
    return s;
}

TEST(JobStorage, NodesWithALocalDiskAreAsManyAsThereAre) {
    EXPECT_THAT(check_plan(staged_on(4)), IsEmpty());
    EXPECT_NE(local_disk_of_job(staged_on(4)), nullptr);
    const Scenario five = staged_on(5);
    EXPECT_EQ(local_disk_of_job(five), nullptr);
    const std::vector<Diagnostic> problems = check_plan(five);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].pointer, "/data/staging");
    EXPECT_EQ(problems[0].what, "5 nodes are to have a local disk, and 4 of the 10 of box have one");
    EXPECT_THAT(problems[0].hint, HasSubstr("at most 4 nodes"));
}

TEST(JobStorage, SamplesAndCheckpointsOnALocalDiskNeedOneToo) {
    Scenario s = staged_on(5);
    s.data.staging = {};
    s.data.storage = disk();
    s.data.checkpoints = Checkpoints{disk(), 100, {}, false};
    const std::vector<Diagnostic> problems = check_job_storage(s);
    ASSERT_EQ(problems.size(), 2u);
    EXPECT_EQ(problems[0].pointer, "/data/storage");
    EXPECT_EQ(problems[1].pointer, "/data/checkpoints/storage");
    s.cluster.local_storage_nodes.reset();  // all nodes
    EXPECT_THAT(check_job_storage(s), IsEmpty());
    s.cluster.local_storage_nodes = 4;
    for (StorageClass* other : {&*s.data.storage, &s.data.checkpoints->storage}) other->name = "a disk of my own";
    EXPECT_THAT(check_job_storage(s), IsEmpty());
}

// A gigabyte on 500 MB: no; on scratch, which has two: yes.
TEST(JobStorage, SamplesFitWhereTheyLie) {
    Scenario s = staged_on(2);
    EXPECT_THAT(check_job_storage(s), IsEmpty());
    s.data.storage = s.cluster.file_systems.at("home");
    const std::vector<Diagnostic> problems = check_job_storage(s);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].pointer, "/data/storage");
    EXPECT_EQ(problems[0].what, "samples of 1.00 GB do not fit on home of box, where a job may use 500 MB");
    EXPECT_EQ(problems[0].hint, "there is room on: scratch");
    s.data.samples = 500;
    EXPECT_THAT(check_job_storage(s), IsEmpty());
}

TEST(JobStorage, NobodyWritesCheckpointsWhereJobsOnlyRead) {
    Scenario s = staged_on(2);
    s.data.checkpoints = Checkpoints{shared("datasets", 1 * TB), 100, {}, false};
    EXPECT_THAT(check_job_storage(s), IsEmpty());
    s.data.checkpoints->storage.read_only = true;
    const std::vector<Diagnostic> problems = check_job_storage(s);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].what, "jobs only read from datasets");
}

}  // namespace
}  // namespace sextant
