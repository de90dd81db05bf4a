// Samples that are loaded, copied and taken: who waits for whom.
#include "tests/lower/graph_text.hpp"
#include "tests/predict/mlp_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using graph_text::Words;
using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::Not;

// Three micro-batches, of which two may wait for training.
Scenario fed_job() {
    Scenario job = mlp_job(4);
    job.plan.global_batch = 3 * job.plan.micro_batch;
    job.data.synthetic = false;
    job.data.storage.emplace();
    job.data.sample_bytes = 1000 * units::B;
    job.data.workers = 1;
    job.data.prefetch = 2;
    return job;
}

TEST(LoweredInput, LoadsOneMoreForEachThatIsTaken) {
    const TaskGraph graph = lower(fed_job(), Fold::alike);
    const Words words(graph);
    EXPECT_EQ(words.stream(0), "t0 o F0 B0 t1 o F1 B1 t2 o F2 B2 =");
    // Micro-batches 0 and 1 are there when the step begins; those of the next step follow 2.
    EXPECT_EQ(words.stream(0, Stream::loader), "L2 L0 L1");
    // Of the two 1 is still to be copied: each is while the next one is loaded.
    EXPECT_EQ(words.stream(0, Stream::copy), "c1 c2 c0");
    EXPECT_THAT(words.waits(), IsSupersetOf({"0 L2 after 0 t0", "0 L0 after 0 t1", "0 L1 after 0 t2", "0 c1 after 0 t0", "0 t1 after 0 c1",
                                             "0 c2 after 0 t1", "0 c2 after 0 L2", "0 t2 after 0 c2", "0 c0 after 0 L0"}));
    EXPECT_THAT(words.waits(), Not(Contains("0 c1 after 0 L2")));
}

TEST(LoweredInput, CopiesBesideLoadingWhereOneMoreMayWait) {
    Scenario job = fed_job();
    job.data.workers = 4;
    const TaskGraph graph = lower(job, Fold::alike);
    const Words words(graph);
    // All three of the step are there; 1 of the next step is loaded while 0 of it is copied, which was loaded before.
    EXPECT_EQ(words.stream(0, Stream::loader), "L1 L2 L0");
    EXPECT_EQ(words.stream(0, Stream::copy), "c0 c1 c2");
    EXPECT_THAT(words.waits(), IsSupersetOf({"0 c0 after 0 t0", "0 L1 after 0 t0", "0 c1 after 0 L1", "0 c2 after 0 L2"}));
}

TEST(LoweredInput, LoadsWhatIsAskedForWhereNothingIsReadAhead) {
    Scenario job = fed_job();
    job.data.prefetch = 0;
    const TaskGraph graph = lower(job, Fold::alike);
    const Words words(graph);
    EXPECT_EQ(words.stream(0), "t0 c0 o F0 B0 t1 c1 o F1 B1 t2 c2 o F2 B2 =");
    EXPECT_EQ(words.stream(0, Stream::loader), "L0 L1 L2");
    EXPECT_THAT(words.waits(), IsSupersetOf({"0 t0 after 0 L0", "0 L1 after 0 B0", "0 t1 after 0 L1", "0 L2 after 0 B1"}));
}

TEST(LoweredInput, CopiesFromPageableMemoryInTheDevicesOwnTime) {
    Scenario job = fed_job();
    job.data.pinned = false;
    EXPECT_EQ(Words(lower(job, Fold::alike)).stream(0), "t0 c0 o F0 B0 t1 c1 o F1 B1 t2 c2 o F2 B2 =");
    job.cluster.node.device.kind = DeviceKind::cpu;  // has nothing to copy
    EXPECT_EQ(Words(lower(job, Fold::alike)).stream(0), "t0 o F0 B0 t1 o F1 B1 t2 o F2 B2 =");
}

TEST(LoweredInput, ReadsOnceForAllRanksThatSeeTheSameSamples) {
    Scenario job = fed_job();
    job.plan.tp = 2;
    job.plan.dp = 2;
    job.plan.global_batch *= 2;
    const TaskGraph graph = lower(job, Fold::nothing);
    const Words words(graph);
    EXPECT_EQ(words.stream(0, Stream::loader), "L2 L0 L1");
    EXPECT_EQ(words.stream(1, Stream::loader), "");
    EXPECT_EQ(words.stream(2, Stream::loader), "L2 L0 L1");
    EXPECT_THAT(words.waits(), IsSupersetOf({"1 c2 after 0 L2", "1 t2 after 1 c2"}));
    // Folded, one rank stands for all, and the first of each set reads.
    const TaskGraph folded = lower(job, Fold::alike);
    EXPECT_THAT(folded.communicators()[*folded.ranks()[0].feed].sets, ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
}

TEST(LoweredInput, FeedsTheFirstStageOfAPipeline) {
    Scenario job = fed_job();
    job.plan.pp = 2;
    const TaskGraph graph = lower(job, Fold::alike);
    EXPECT_EQ(Words(graph).stream(0, Stream::loader), "L2 L0 L1");
    EXPECT_EQ(Words(graph).stream(1, Stream::loader), "");
}

TEST(LoweredInput, IsNotThereWhereSamplesAreMade) {
    Scenario job = fed_job();
    job.data.synthetic = true;
    const TaskGraph graph = lower(job, Fold::alike);
    EXPECT_EQ(Words(graph).stream(0), "o F0 B0 o F1 B1 o F2 B2 =");
    EXPECT_FALSE(graph.ranks()[0].feed);
}

}  // namespace
}  // namespace sextant
