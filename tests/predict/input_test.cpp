#include "model/predict/input.hpp"

#include "model/predict/state.hpp"
#include "model/report/report.hpp"
#include "model/simulate/fluid_network.hpp"
#include "tests/predict/mlp_job.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace sextant {
namespace {

using namespace units;
using round_machine::given;

// Eight products forward and sixteen backward, and nothing else takes time: 24 g for 1024 samples on one device. A worker reads a sample in
// `reading`, and does 5 us of work: a row of an array.
Scenario fed_job(Seconds reading, int workers) {
    Scenario job = products_job(8);
    job.cluster.node.host.cores = 100;
    DataSource& data = job.data;
    data.synthetic = false;
    data.storage.emplace();
    data.storage->kind = StorageKind::parallel;
    data.storage->shared = true;
    data.storage->open_latency = data.storage->create_latency = given(Seconds{});
    data.storage->seek_latency = given(reading);
    data.storage->read_bandwidth = given(1e12 * TB / s);
    data.sample_bytes = 1 * KB;
    data.format = DataFormat::npy;
    data.workers = workers;
    return job;
}
// Two GPUs keep a core each busy, two CPUs of 20 cores all 40 of their node, or the 30 that the job has.
TEST(InputJob, CoresThatAreTheDeviceAreBusy) {
    Scenario job = fed_job(1 * us, 1);
    job.cluster.node.devices = 2;
    job.cluster.node.host.cores = 40;
    job.plan.dp = 2;
    job.plan.global_batch *= 2;
    EXPECT_EQ(prepare(job).state().input->busy_cores, 2);
    job.cluster.node.device.kind = DeviceKind::cpu;
    EXPECT_EQ(prepare(job).state().input->busy_cores, 40);
    job.cores = 30;
    EXPECT_EQ(prepare(job).state().input->busy_cores, 30);
}

Seconds training_of(const Scenario& job) { return 24.0 * one_product(job); }
Seconds input_of(const Scenario& job) { return estimate(prepare(job)).terms[Term::input]; }

TEST(Input, IsWhatLoadersTakeBeyondTheStep) {
    // 1024 samples at 95 + 5 us by two workers: 51.2 ms, of which the step hides 24 g.
    const Scenario job = fed_job(95 * us, 2);
    EXPECT_NEAR(input_of(job) / ms, 51.2 - training_of(job) / ms, 1e-6);
    const Estimate e = estimate(prepare(job));
    EXPECT_NEAR(e.step / ms, 51.2, 1e-6);
    EXPECT_NEAR(e.terms.total() / e.step, 1, 1e-12);
}

TEST(Input, IsNothingWhereLoadersAreFaster) { EXPECT_EQ(input_of(fed_job(Seconds{}, 100)), Seconds{}); }

TEST(Input, IsAllOfTheLoadingWhereNothingIsReadAhead) {
    // In turn: the step, a copy of 4 MB that takes 10 us to issue, 1024 samples of 100 us; with no worker the process reads itself.
    Scenario job = fed_job(95 * us, 0);
    EXPECT_NEAR(input_of(job) / ms, 102.4 + 0.01, 1e-6);
    job.data.workers = 2;
    job.data.prefetch = 0;
    EXPECT_NEAR(input_of(job) / ms, 51.2 + 0.01, 1e-6);
}

TEST(Input, ComesWhileAStepTakesWhereTheQueueIsShort) {
    // Four micro-batches, of which one may wait, and 10 ms at the end of the step T in which none is taken. Loading takes T as well, so
    // three quarters of T must come between the first take and the last: in 3/4 (T - 10 ms), which is 7.5 ms too little. The copy of the
    // last takes 10 us to issue.
    Scenario job = fed_job(Seconds{}, 1);
    job.plan.micro_batch = 256;
    job.framework.step_overhead = given(10 * ms);
    job.data.synthetic = true;
    const Seconds step = estimate(prepare(job)).step;
    job.data.synthetic = false;
    job.data.storage->seek_latency = given(step / 1024 - 5 * us);
    job.data.prefetch = 1;
    EXPECT_NEAR(input_of(job) / ms, 7.5 + 0.01, 1e-6);
    job.data.prefetch = 4;
    EXPECT_NEAR(input_of(job) / ms, 0, 1e-6);
}

TEST(Input, SharesTheHostsCoresWithTheTraining) {
    // One core that drives the device and decodes: 24 g and 1024 x 5 us, one after the other.
    Scenario job = fed_job(Seconds{}, 4);
    job.cluster.node.host.cores = 1;
    EXPECT_NEAR(input_of(job) / ms, 5.12, 1e-6);
}

TEST(Input, BlocksForCopiesFromPageableMemory) {
    // 1024 samples of 1024 numbers of 4 bytes, 4.19 MB, at 20 GB/s x 10.0 / 25.7: 0.539 ms and the call.
    Scenario job = fed_job(Seconds{}, 100);
    job.cluster.node.host_link.bandwidth = given(20 * GB / s);
    EXPECT_EQ(input_of(job), Seconds{});
    job.data.pinned = false;
    EXPECT_NEAR(input_of(job) / ms, 4.194304 / 20 * 2.57 + 0.01, 1e-6);
    job.data.by_sample = true;
    EXPECT_NEAR(input_of(job) / ms, 4.194304 / 20 * 2.57 + 10.24, 1e-6);
}

TEST(Input, LeavesAHostThatIsTheDeviceWithoutCopies) {
    Scenario job = fed_job(Seconds{}, 100);
    job.cluster.node.device.kind = DeviceKind::cpu;
    job.data.pinned = false;
    EXPECT_EQ(input_of(job), Seconds{});
}

TEST(Input, IsLongerInTheFirstEpochWhereMemoryHoldsTheData) {
    Scenario job = fed_job(95 * us, 2);
    job.data.samples = 102400;
    job.cluster.node.host.memory = given(1 * GB);  // of 102.4 MB
    const Prepared cold = prepare(job);
    const InputEstimate e = estimate_input(*cold.state().input, {training_of(job), {}}, {});
    EXPECT_EQ(e.cached, 1);
    EXPECT_NEAR(e.first_loading / ms, 51.2, 1e-6);
    EXPECT_LT(e.later_loading, e.first_loading / 10);
    EXPECT_NEAR(e.steps_per_epoch, 100, 1e-9);
    // A cached file on NFS is asked for once more, when it is opened.
    job.data.format = DataFormat::files;
    const auto reading = [&] { return estimate_input(*input_job(job.data, cold.state()), {}, {}).later.reading; };
    job.data.storage->seek_latency = given(1 * ms);
    EXPECT_LT(reading(), 10 * us);
    job.data.storage->kind = StorageKind::nfs;
    EXPECT_GT(reading(), 1 * ms);
}

TEST(Input, ReadsOncePerTensorGroup) {
    Scenario job = fed_job(95 * us, 2);
    job.plan.tp = 2;
    job.plan.dp = 4;
    job.plan.global_batch = 4096;
    const InputJob in = *prepare(job).state().input;
    EXPECT_EQ(in.readers, 2);  // of four devices of a node
    EXPECT_EQ(in.nodes, 2);
    EXPECT_EQ(in.samples, 1024);
}

TEST(Input, OfScatteredRanksIsReadOnEachOfTheirNodes) {
    // Two ranks on two nodes: one reader on each, where one node would hold both.
    Scenario job = fed_job(95 * us, 2);
    job.plan.dp = 2;
    job.plan.global_batch = 2048;
    EXPECT_EQ(prepare(job).state().input->readers, 2);
    job.plan.scattered = true;
    const InputJob in = *prepare(job).state().input;
    EXPECT_EQ(in.readers, 1);
    EXPECT_EQ(in.nodes, 2);
}

Scenario staged_job(double epochs) {
    Scenario job = fed_job(95 * us, 2);
    job.data.samples = 10240;
    job.run.epochs = epochs;
    job.run.dataset_samples = 10240;
    StorageClass disk;
    disk.kind = StorageKind::nvme;
    disk.open_latency = disk.seek_latency = given(Seconds{});
    disk.create_latency = disk.remove_latency = given(Seconds{});
    disk.read_bandwidth = disk.write_bandwidth = given(10 * MB / s);
    disk.client_read_bandwidth = given(1e12 * TB / s);
    job.data.staging = {StagingMode::copy, disk};
    return job;
}

TEST(Staging, IsPartOfTheRunAndNoPartOfItsSteps) {
    // 10,240 KB written at 10 MB/s in 1.024 s; a sample is then read in 100 us, as it was from afar.
    const Report r = make_report(prepare(staged_job(10)));
    ASSERT_TRUE(r.run);
    EXPECT_NEAR(r.run->staging / s, 1.024, 1e-6);
    EXPECT_NEAR(r.run->time / s, 1.024 + 100 * r.estimate.step / s, 1e-6);
    EXPECT_NEAR(r.run->goodput, 100 * r.estimate.step / r.run->time, 1e-12);
}

TEST(Staging, WinsWhereItSavesMoreInAllEpochsThanItTakes) {
    for (const double epochs : {1.0, 3.0, 10.0, 30.0, 100.0}) {
        Scenario staged = staged_job(epochs);
        staged.data.staging.to->read_bandwidth = given(1e12 * TB / s);
        Scenario plain = staged;
        plain.data.staging = {};
        const Report with = make_report(prepare(staged)), without = make_report(prepare(plain));
        const Seconds saved = without.run->steps * (without.estimate.step - with.estimate.step);
        EXPECT_GT(saved, Seconds{});
        EXPECT_EQ(with.run->time < without.run->time, with.run->staging < saved) << epochs << " epochs";
    }
}

TEST(Staging, HoldsNoMoreThanThereIsRoomFor) {
    Scenario job = staged_job(1);
    job.data.staging.to->capacity = given(2.56 * MB);  // of 10.24
    job.data.page_cache = Bytes{};
    const InputEstimate e = estimate_input(*prepare(job).state().input, {}, {});
    EXPECT_NEAR(e.staged, 0.25, 1e-12);
    EXPECT_NEAR(e.staging.copy / s, 0.256, 1e-6);
}

TEST(Staging, LeavesInMemoryWhatFitsThere) {
    Scenario job = staged_job(1);
    job.data.page_cache = 1 * GB;
    EXPECT_LT(estimate_input(*prepare(job).state().input, {}, {}).first.reading, 5 * us);
    job.data.page_cache = 5 * MB;  // half of it
    EXPECT_NEAR(estimate_input(*prepare(job).state().input, {}, {}).first.reading / us, 100, 1e-6);
}

TEST(Staging, WhileTheFirstEpochReadsCostsThatEpoch) {
    Scenario job = staged_job(1);
    job.data.staging.mode = StagingMode::first_epoch;
    const InputEstimate e = estimate_input(*prepare(job).state().input, {}, {});
    EXPECT_EQ(e.staging.total(), Seconds{});
    EXPECT_NEAR(e.first.reading / us, 95 + 100, 1e-6);  // read there, written here
}

TEST(Checkpoints, HoldUpTheRunEverySoManySteps) {
    // Of each parameter the bf16 weight, the master copy and the two states of AdamW: 2 + 4 + 8 bytes.
    Scenario job = fed_job(Seconds{}, 100);
    StorageClass server;
    server.kind = StorageKind::parallel;
    server.shared = true;
    server.open_latency = server.create_latency = given(Seconds{});
    server.read_bandwidth = server.write_bandwidth = given(1 * GB / s);
    job.data.checkpoints = Checkpoints{server, 1000, {}, false};
    job.run.samples = 2500 * 1024;
    const Report r = make_report(prepare(job));
    ASSERT_TRUE(r.checkpoints && r.run);
    const double parameters = size_of(job.workload).parameters;
    EXPECT_NEAR(r.checkpoints->bytes / B, 14 * parameters, 1);
    EXPECT_NEAR(r.checkpoints->write / s, 14 * parameters / 1e9, 1e-9);
    EXPECT_NEAR(r.run->checkpoints / r.checkpoints->wait, 2, 1e-9);  // after 1000 and 2000 of 2500 steps
    // Training that goes on waits for the copy to the host alone, which takes no time here.
    job.data.checkpoints->asynchronous = true;
    const Report beside = make_report(prepare(job));
    EXPECT_LT(beside.run->checkpoints, r.run->checkpoints / 100);
    // One after every step waits for the one before.
    job.data.checkpoints->every_steps = 1;
    const Report each = make_report(prepare(job));
    EXPECT_NEAR(each.checkpoints->wait / s, (each.checkpoints->write - each.estimate.step) / s, 1e-9);
    // Muon has one state of the matrices in the seven layers before the last.
    job.plan.optimizer = Optimizer::muon;
    EXPECT_NEAR(make_report(prepare(job)).checkpoints->bytes / B, 14 * parameters - 4 * 7 * 1024 * 1024, 1);
}

TEST(Checkpoints, AreWrittenByAsManyNodesAsHaveAWriter) {
    // Two nodes with a device each, 1 GB/s from each of them. Two copies of the same are written by one, two shards by both.
    Scenario job = fed_job(Seconds{}, 100);
    job.cluster.node.devices = 1;
    job.cluster.nodes = job.plan.dp = 2;
    job.plan.global_batch *= 2;
    StorageClass& server = *job.data.storage;
    server.write_bandwidth = given(1 * TB / s);
    server.client_write_bandwidth = given(1 * GB / s);
    job.data.checkpoints = Checkpoints{server, 1000, {}, false};
    const CheckpointEstimate one = *make_report(prepare(job)).checkpoints;
    EXPECT_NEAR(one.write / s, one.bytes / GB, 1e-9);
    job.plan.data_parallel = DataParallel::zero1;
    const CheckpointEstimate both = *make_report(prepare(job)).checkpoints;
    EXPECT_NEAR(both.write / s, both.bytes / (2 * GB), 1e-9);
}

TEST(Checkpoints, WrittenBesideTheTrainingTakeHalfOfTheStorageThatItsSamplesComeFrom) {
    // 1024 samples of 1 KB from 10.24 MB/s are all that a step waits for: 0.1 s of the storage alone, 0.2 s of half of it.
    Scenario job = fed_job(Seconds{}, 100);
    StorageClass& server = *job.data.storage;
    server.shared = true;
    server.total_read_bandwidth = given(10.24 * MB / s);
    job.data.page_cache = Bytes{};
    server.write_bandwidth = given(1 * GB / s);
    job.data.checkpoints = Checkpoints{server, 1'000'000, {}, true};
    const Report r = make_report(prepare(job));
    ASSERT_TRUE(r.checkpoints);
    EXPECT_NEAR(r.checkpoints->wait / r.checkpoints->write, 0.5, 1e-3);  // half as many steps as usual
    // Other jobs have half of it: of the other half the same is true.
    job.data.others = 0.5;
    const Report less = make_report(prepare(job));
    EXPECT_NEAR(less.checkpoints->wait / less.checkpoints->write, 0.5, 1e-3);
    job.data.others = 0;
    // From another place nothing is taken.
    job.data.checkpoints->storage.name = "another";
    EXPECT_LT(make_report(prepare(job)).checkpoints->wait / r.checkpoints->write, 1e-3);
}

TEST(Checkpoints, WrittenBesideTheTrainingHaveWhatLoadersLeave) {
    // Loaders draw 1024 KB a step, and have 2 x, 4 x, 1 x and half of that from a storage that writes 10 MB/s. As the simulation shares a
    // link: the checkpoint takes all that it gets, the loaders no more than they need.
    for (const double speed : {2.0, 4.0, 1.0, 0.5}) {
        Scenario job = fed_job(Seconds{}, 100);
        const double needed = 1024 * 1000 / (training_of(job) / s);
        StorageClass& server = *job.data.storage;
        server.shared = true;
        server.total_read_bandwidth = given(Bandwidth::from_si(speed * needed));
        server.write_bandwidth = server.total_write_bandwidth = given(10 * MB / s);
        job.data.page_cache = Bytes{};
        job.data.checkpoints = Checkpoints{server, 1'000'000, {}, true};
        const Report r = make_report(prepare(job));
        ASSERT_TRUE(r.checkpoints);
        FluidNetwork storage({1 * MB / s});
        const LinkUse all{0, 1};
        storage.start({}, 1 * TB, {&all, 1}, Bandwidth::from_si(1e6 / speed));
        const FlowIndex checkpoint = storage.start({}, 1 * TB, {&all, 1}, 1 * TB / s);
        storage.settle({});
        const double part = storage.rate(checkpoint).si() / 1e6;
        EXPECT_NEAR(r.checkpoints->write / (r.checkpoints->bytes / (part * 10 * MB / s)), 1, 1e-3) << speed;
    }
}

TEST(Checkpoints, ToStorageThatOtherJobsUseTakeLonger) {
    Scenario job = fed_job(Seconds{}, 100);
    StorageClass& server = *job.data.storage;
    server.write_bandwidth = server.total_write_bandwidth = given(10 * MB / s);
    job.data.checkpoints = Checkpoints{server, 1000, {}, false};
    const Seconds alone = make_report(prepare(job)).checkpoints->write;
    job.data.others = 0.75;
    EXPECT_NEAR(make_report(prepare(job)).checkpoints->write / alone, 4, 1e-3);
}

// Whatever the data and the machine: nothing that is better makes a step longer.
TEST(Input, IsNeverLongerWithMoreOfAnything) {
    std::mt19937 random(3);
    const auto pick = [&](double low, double high) { return low * std::pow(high / low, std::uniform_real_distribution<>(0, 1)(random)); };
    static constexpr double Resources::*better[] = {&Resources::storage, &Resources::storage_operations, &Resources::loader_workers,
                                                    &Resources::loader_cores, &Resources::node_bandwidth};
    for (int i = 0; i < 200; ++i) {
        Scenario job = fed_job(pick(1e-6, 1e-2) * s, static_cast<int>(pick(1, 64)));
        job.cluster.node.host.cores = static_cast<int>(pick(1, 128));
        job.data.storage->read_bandwidth = given(pick(1e6, 1e10) * B / s);
        if (i % 2 == 0) job.data.storage->total_read_bandwidth = given(pick(1e7, 1e11) * B / s);
        if (i % 3 == 0) job.data.storage->metadata_rate = given(pick(10, 1e6) * Hz);
        job.data.format = static_cast<DataFormat>(i % 7);
        job.data.encoding = static_cast<SampleEncoding>(i % 3);
        job.data.samples = static_cast<std::int64_t>(pick(1e3, 1e7));
        job.cluster.node.host.memory = given(pick(1e6, 1e12) * B);
        job.data.pinned = i % 5 != 0;
        const Prepared prepared = prepare(job);
        const Seconds now = estimate(prepared).step;
        for (const auto field : better) {
            Resources twice;
            twice.*field = 2;
            EXPECT_LE(estimate(prepared, twice).step / now, 1 + 1e-9) << i;
        }
        Scenario more = job;
        more.data.workers *= 2;
        EXPECT_LE(estimate(prepare(more)).step / now, 1 + 1e-9) << i;
        more = job;
        more.cluster.node.host.memory.value *= 2;
        EXPECT_LE(estimate(prepare(more)).step / now, 1 + 1e-9) << i;
    }
}

}  // namespace
}  // namespace sextant
