#include "model/report/input_advice.hpp"

#include "tests/golden/bundled_scenarios.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> advice_for(const Scenario& s) { return predict(s).advice; }

TEST(InputAdvice, SaysWhatPackingStagingAndDecodingWouldSave) {
    const std::vector<std::string> advice = advice_for(bundled_scenario("input-nfs-every-epoch"));
    EXPECT_THAT(advice, Contains(AllOf(HasSubstr("pack the 1,281,167 files"), HasSubstr("saves"), HasSubstr("of this run"))));
    EXPECT_THAT(advice, Contains(AllOf(HasSubstr("unpack it there"), HasSubstr("; every epoch is read from NFS (SURF Lisa)"))));
    EXPECT_THAT(advice, Contains(HasSubstr("decode and scale the images once")));
}

// What is said to be saved is what the changed scenario takes less.
TEST(InputAdvice, PromisesWhatTheChangedScenarioKeeps) {
    const Report now = predict(bundled_scenario("input-few-workers"));
    const Report then = predict(bundled_scenario("input-few-workers", {"data.workers=18"}));
    const std::string saved = "18 loader workers for each device instead of 2, one for each core that the job has: saves " +
                              to_text(now.run->time - then.run->time) + " of the " + to_text(now.run->time);
    EXPECT_THAT(now.advice, Contains(HasSubstr(saved)));
}

TEST(InputAdvice, IsSilentWhereLoadersKeepUp) {
    const std::vector<std::string> advice = advice_for(bundled_scenario("input-decoded-once"));
    EXPECT_THAT(advice, Not(Contains(HasSubstr("saves"))));
}

TEST(InputAdvice, WarnsOfFilesThatArePurgedAndOfProjectSpace) {
    Scenario s = bundled_scenario("input-few-workers");
    s.data.storage->name = "scratch";
    s.data.storage->retention = {90 * day, SourceKind::published, "test"};
    EXPECT_THAT(advice_for(s), Contains(AllOf(HasSubstr("scratch removes files after 90"), Not(HasSubstr("takes longer than that")))));
    s.run.epochs = 900000;
    EXPECT_THAT(advice_for(s), Contains(HasSubstr("this run takes longer than that")));
    s.data.storage->backed_up = true;
    EXPECT_THAT(advice_for(s), Contains(HasSubstr("scratch is backed up: made to keep data")));
    s.data.checkpoints = Checkpoints{*s.data.storage, 100, {}, false};
    s.data.checkpoints->storage.backed_up = false;
    EXPECT_THAT(advice_for(s), Contains(HasSubstr("scratch is not backed up: copy checkpoints")));
    EXPECT_THAT(advice_for(s), Contains(HasSubstr("keep another copy of the checkpoints")));
    s.data.synthetic = true;  // checkpoints are written all the same
    s.data.storage.reset();
    EXPECT_THAT(advice_for(s), Contains(HasSubstr("scratch is not backed up: copy checkpoints")));
    s.data.checkpoints->storage = *s.cluster.node.local_storage;
    EXPECT_THAT(advice_for(s), Contains(HasSubstr("may be emptied when the job ends: copy checkpoints")));
}

// A job on one of a node's four devices has a quarter of its cores, unless it says otherwise.
TEST(InputAdvice, AsksForNoMoreCoresThanTheJobHas) {
    const std::vector<std::string> one{"plan.dp=1", "plan.global_batch=64", "plan.micro_batch=64", "hardware.devices_per_node=1",
                                       "data.workers=2"};
    const auto with = [&](const char* cores) {
        std::vector<std::string> all = one;
        if (*cores != 0) all.emplace_back(cores);
        return predict(bundled_scenario("input-few-workers", all));
    };
    EXPECT_THAT(with("").advice, Contains(HasSubstr("18 loader workers for each device instead of 2")));
    EXPECT_THAT(with("").assumptions, Contains(HasSubstr("of a node's 72 cores the job has 18")));
    EXPECT_THAT(with("hardware.cores=36").advice, Contains(HasSubstr("36 loader workers for each device instead of 2")));
    EXPECT_THAT(with("hardware.cores=36").assumptions, Not(Contains(HasSubstr("of a node's 72 cores"))));
    EXPECT_THAT(with("hardware.reserved_devices=4").advice, Contains(HasSubstr("72 loader workers for each device instead of 2")));
    EXPECT_THROW(with("hardware.cores=73"), InputError);
}

// 64 workers for each of four devices and 72 cores of the node, or 2 of them.
TEST(InputAdvice, WarnsOfMoreWorkersThanCores) {
    const auto warning = Contains(HasSubstr("256 loader workers and 4 ranks of a node share the 2 cores that the job has there"));
    EXPECT_THAT(advice_for(bundled_scenario("input-few-workers", {"hardware.cores=2", "data.workers=64"})), warning);
    const std::string name = "input-few-workers";
    EXPECT_THAT(advice_for(bundled_scenario(name, {"data.workers=18"})), Not(Contains(HasSubstr("ranks of a node share"))));
    EXPECT_THAT(advice_for(bundled_scenario(name, {"data.workers=19"})), Contains(HasSubstr("76 loader workers and 4 ranks")));
}

TEST(InputAdvice, NamesTheClustersOtherFileSystems) {
    const std::vector<std::string> advice = advice_for(bundled_scenario("input-small-files-home"));
    EXPECT_THAT(advice, Contains(AllOf(HasSubstr("keep the samples on \"scratch\" instead of Mila home"), HasSubstr("saves"))));
    EXPECT_THAT(advice, Not(Contains(HasSubstr("keep the samples on \"datasets\""))));  // where users do not write
    EXPECT_THAT(advice, Contains(HasSubstr("Mila home is backed up: made to keep data")));
    const std::vector<std::string> there = advice_for(bundled_scenario("input-small-files-home", {"data.storage=scratch"}));
    EXPECT_THAT(there, Contains(HasSubstr("Mila scratch removes files after 90")));
    EXPECT_THAT(there, Not(Contains(HasSubstr("is backed up"))));
    const std::vector<std::string> tmp = predict(bundled_scenario("input-small-files-home", {"data.storage=tmp"})).assumptions;
    EXPECT_THAT(tmp, Contains(HasSubstr("of each node already: data.staging counts")));
}

// 36 of Snellius' 72 nodes have a local disk.
TEST(InputAdvice, StagesOnlyToNodesThatHaveADisk) {
    const auto on = [](int nodes, const std::vector<std::string>& more) {
        std::vector<std::string> all{"hardware.nodes=" + std::to_string(nodes), "plan.dp=" + std::to_string(4 * nodes)};
        all.insert(all.end(), more.begin(), more.end());
        return bundled_scenario("input-few-workers", all);
    };
    const std::string staged = R"(data.staging={"mode": "copy"})";
    EXPECT_THAT(predict(on(36, {staged})).assumptions,
                Contains(HasSubstr("which 36 of 72 have: Slurm gives them for --constraint=scratch-node")));
    EXPECT_THROW(on(37, {staged}), InputError);
    const std::string slow = "data.storage=home";
    EXPECT_THAT(advice_for(on(36, {slow})), Contains(HasSubstr("of each node and unpack it there")));
    EXPECT_THAT(advice_for(on(37, {slow})), Not(Contains(HasSubstr("of each node and unpack it there"))));
}

// ResNet-50's 25.6 million weights, master copies and momenta: some 300 MB each time.
TEST(InputAdvice, SaysHowManyCheckpointsThereIsRoomFor) {
    const auto with = [](const std::string& room) {
        return advice_for(bundled_scenario(
            "input-few-workers",
            {R"(data.checkpoints={"every_steps": 500, "storage": {"name": "mine", "type": "nfs", "capacity": ")" + room + "\"}}"}));
    };
    EXPECT_THAT(with("100 MB"), Contains(AllOf(HasSubstr("a checkpoint of"), HasSubstr("does not fit on mine"))));
    EXPECT_THAT(with("1 GB"), Contains(AllOf(HasSubstr("mine has room for"), HasSubstr("remove old ones"))));
    EXPECT_THAT(with("10 TB"), Not(Contains(HasSubstr("mine has room for"))));
}

TEST(InputAdvice, NamesWhatAZipCosts) {
    const std::vector<std::string> local{"data.storage=local", "data.format=zip"};
    EXPECT_THAT(advice_for(bundled_scenario("input-thousand-files", local)), Contains(HasSubstr("instead of zip")));
    // In any order each sample is a place of its own; in order a stream.
    EXPECT_THAT(advice_for(bundled_scenario("input-thousand-files", local)), Contains(HasSubstr("data.shuffle=window")));
    const std::vector<std::string> stream{"data.storage=local", "data.format=zip", "data.shuffle=window"};
    EXPECT_THAT(advice_for(bundled_scenario("input-thousand-files", stream)), Not(Contains(HasSubstr("data.shuffle=window"))));
}

TEST(InputAdvice, SaysWhereOtherJobsAreNotFelt) {
    Scenario s = bundled_scenario("input-few-workers", {"data.other_jobs=0.9"});
    const auto warning = Contains(HasSubstr("bandwidth that other jobs take is not felt"));
    s.data.storage->total_read_bandwidth.reset();
    s.data.storage->random_read_rate.reset();
    EXPECT_THAT(advice_for(s), warning);
    s.data.storage->total_read_bandwidth = {100 * GB / units::s, SourceKind::published, "test"};
    EXPECT_THAT(advice_for(s), Not(warning));
}

TEST(InputAdvice, WarnsOfThousandsOfFilesThatAreReadForHundredsOfEpochs) {
    const auto warning = HasSubstr("each of 1,000 files is opened 100 times: the other users of NFS (SURF Lisa) wait for 100,000 opens");
    EXPECT_THAT(advice_for(bundled_scenario("input-thousand-files", {"run.epochs=100"})), Contains(warning));
    EXPECT_THAT(advice_for(bundled_scenario("input-thousand-files", {"run.epochs=5"})), Not(Contains(HasSubstr("is opened"))));
    EXPECT_THAT(advice_for(bundled_scenario("input-thousand-files", {"run.epochs=100", "data.staging={\"mode\": \"copy\"}"})),
                Not(Contains(HasSubstr("is opened"))));
}

TEST(InputAdvice, SaysWhatIsAssumedOfTheRest) {
    Scenario s = bundled_scenario("input-few-workers");
    EXPECT_THAT(predict(s).assumptions, Contains(HasSubstr("page cache")));
    s.data.samples.reset();
    s.run = {};
    EXPECT_THAT(predict(s).assumptions, Contains(HasSubstr("the number of samples is not stated")));
    EXPECT_THAT(input_assumptions(bundled_scenario("input-nfs-every-epoch")), Contains(HasSubstr("no other job")));
}

TEST(InputBottleneck, IsInputOutputAndNamesWhatLoadersWaitFor) {
    const Bottleneck b = predict(bundled_scenario("input-few-workers")).bottleneck;
    EXPECT_EQ(b.kind, BottleneckKind::io);
    EXPECT_THAT(b.why, HasSubstr("the limit is the number of loader workers"));
    EXPECT_EQ(b.movers.at(0).resource, "number of loader workers");
    EXPECT_THAT(b.changes_at_text, HasSubstr("times the number of loader workers"));
}

TEST(InputBottleneck, IsNotAskedForWhereSamplesAreSynthetic) {
    const std::vector<Mover> movers = predict(bundled_scenario("default")).bottleneck.movers;
    ASSERT_FALSE(movers.empty());
    for (const Mover& m : movers) EXPECT_NE(m.kind, BottleneckKind::io) << m.resource;
}

}  // namespace
}  // namespace sextant
