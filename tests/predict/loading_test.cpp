#include "model/predict/loading.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;

// 0.79 ms of the benchmark's own loop for each batch: 100 samples in 100 ms. The storage has room for all.
StorageBenchmark ten_accelerators() {
    StorageBenchmark b;
    b.accelerators = 10;
    b.storage.kind = StorageKind::parallel;
    b.storage.shared = true;
    complete(b.storage);
    BenchmarkTraining& t = b.training.emplace();
    t.batch = 100;
    t.computation = 99.21 * ms;
    t.readers = 8;
    t.sample = 100 * KB;
    t.format = DataFormat::tfrecord;
    t.samples_per_file = 1000;
    t.files = 100;
    return b;
}
StorageBenchmark with_node_bandwidth(Bandwidth bandwidth) {
    StorageBenchmark b = ten_accelerators();
    b.storage.client_read_bandwidth = {bandwidth, SourceKind::datasheet, ""};
    return b;
}
double samples_per_s(const StorageBenchmark& b) { return estimate_loading(b, *b.accelerators).samples.si(); }

TEST(LoadingBenchmark, IsAsFastAsItsAcceleratorsWhereStorageIsFaster) {
    // Each takes 100 samples in 100 ms: ten take 10,000 a second.
    EXPECT_NEAR(samples_per_s(ten_accelerators()), 10000, 1e-6);
    EXPECT_FALSE(estimate_loading(ten_accelerators(), 10).limit);
}

TEST(LoadingBenchmark, IsAsFastAsTheStorageThatItsMakerStates) {
    // 100,064 bytes a record at 500 MB/s.
    StorageBenchmark b = with_node_bandwidth(500 * MB / s);
    EXPECT_NEAR(samples_per_s(b), 500e6 / 100064, 1e-6);
    EXPECT_EQ(estimate_loading(b, 10).limit, LoaderLimit::node_bandwidth);
    b.hosts = 2;  // each with such storage
    EXPECT_NEAR(samples_per_s(b), 2 * 500e6 / 100064, 1e-6);
}

TEST(LoadingBenchmark, WaitsForTheHostWithMostAccelerators) {
    // Nine on two hosts: five share 500 MB/s, and the others meet them at the barrier.
    StorageBenchmark b = with_node_bandwidth(500 * MB / s);
    b.hosts = 2;
    b.accelerators = 9;
    EXPECT_NEAR(900 / samples_per_s(b) * s / ms, 5 * 100 * 100064 / 500e6 * 1e3, 1e-6);
    // What both hosts share serves nine.
    b.storage.client_read_bandwidth.reset();
    b.storage.total_read_bandwidth = {500 * MB / s, SourceKind::datasheet, ""};
    EXPECT_NEAR(900 / samples_per_s(b) * s / ms, 9 * 100 * 100064 / 500e6 * 1e3, 1e-6);
}

TEST(LoadingBenchmark, HasAsManyAcceleratorsAsTheStorageKeepsAtWork) {
    // At work for nine tenths of the time: 99.21 / 0.9 = 110.2 ms a batch, and with eleven of them more. So ten take between 10/11 of that,
    // which is as if nothing held them up, and all of it.
    StorageBenchmark b = ten_accelerators();
    b.has_most_accelerators = true;
    b.training->least_utilization = 0.9;
    EXPECT_NEAR(1000 / samples_per_s(b) * s / ms, 99.21 / 0.9 * (1 - 0.5 / 11), 1e-9);
    // One alone says nothing of the storage: two might take twice as long.
    b.accelerators = 1;
    EXPECT_NEAR(100 / samples_per_s(b) * s / ms, 100, 1e-9);
    // Slower than it may be it is not, whatever the drive's maker states.
    b.storage.client_read_bandwidth = {1 * MB / s, SourceKind::datasheet, ""};
    EXPECT_NEAR(100 / samples_per_s(b) * s / ms, 99.21 / 0.9, 1e-9);
}

TEST(LoadingBenchmark, SaysHowManyAcceleratorsStayAtWork) {
    // A batch may take 110.2 ms: 907.2 samples a second each. Of 100,064 bytes 5 GB/s are 49,968 a second: 55 of them. Nothing else is
    // stated of the storage, and a bandwidth alone knows no waiting for each other.
    StorageBenchmark b = with_node_bandwidth(5 * GB / s);
    b.training->least_utilization = 0.9;
    const StorageEstimate e = estimate(b);
    EXPECT_EQ(e.accelerators, 10);
    ASSERT_TRUE(e.training->most);
    const int most = *e.training->most;
    EXPECT_LE(most, 55);
    EXPECT_GE(most, 50);
    EXPECT_GE(estimate_loading(b, most).utilization, 0.9);
    EXPECT_LT(estimate_loading(b, most + 1).utilization, 0.9);
    // Where no number of them is stated, it is that one.
    b.accelerators.reset();
    EXPECT_EQ(estimate(b).accelerators, most);
    // The loop alone takes 0.8 % of the time.
    b.training->least_utilization = 0.995;
    EXPECT_EQ(estimate(b).training->most, 0);
    EXPECT_EQ(estimate(b).accelerators, 1);
}

TEST(LoadingBenchmark, HasAnyNumberOfAcceleratorsWhereNothingHoldsThemUp) {
    StorageBenchmark b = ten_accelerators();
    b.training->least_utilization = 0.9;
    EXPECT_FALSE(estimate(b).training->most);
}

TEST(LoadingBenchmark, CountsTheStepsAndWritesOfARun) {
    StorageBenchmark b = ten_accelerators();
    b.training->epochs = 5;
    BenchmarkCheckpoint& c = b.checkpoint.emplace();
    c.size = 3 * GB;
    c.writers = 1;
    c.first_epoch = 2;
    c.every_epochs = 2;
    b.storage.write_bandwidth = {1 * GB / s, SourceKind::estimated, ""};
    b.storage.read_bandwidth = {1.5 * GB / s, SourceKind::estimated, ""};
    const StorageEstimate e = estimate(b);
    // 100,000 samples are 100 steps of ten accelerators with 100 each, 100 ms a step.
    EXPECT_EQ(e.training->steps, 100);
    EXPECT_NEAR(e.training->first_epoch / s, 10, 1e-9);
    b.accelerators = 7;
    EXPECT_EQ(estimate(b).training->steps, 142) << "the 600 samples that are left make no step";
    b.accelerators = 10;
    // After epochs 2 and 4; 1 ms to open a file, 3 s at 1 GB/s and 2 s at 1.5.
    EXPECT_EQ(e.checkpoint->writes, 2);
    EXPECT_NEAR(e.checkpoint->write / s, 3.001, 1e-9);
    EXPECT_NEAR(e.checkpoint->read / s, 2.001, 1e-9);
    EXPECT_NEAR(e.run / s, 5 * 10 + 2 * 3.001, 1e-9);
    c.every_steps = 30;  // 3 in each epoch
    EXPECT_EQ(estimate(b).checkpoint->writes, 15);
}

TEST(LoadingBenchmark, FindsLaterEpochsInMemory) {
    // 10 GB of samples and memory for all: the storage's 100 MB/s count in the first epoch only.
    StorageBenchmark b = with_node_bandwidth(100 * MB / s);
    b.page_cache = 11 * GB;
    const StorageEstimate e = estimate(b);
    EXPECT_EQ(e.training->cached, 1);
    EXPECT_NEAR(e.training->first_epoch / s, 100064 * 100e3 / 100e6, 1e-6);
    EXPECT_NEAR(e.training->later_epoch / s, 10, 1e-9);
}

TEST(LoadingBenchmark, WaitsForEveryBatchWithoutThreadsThatRead) {
    StorageBenchmark b = ten_accelerators();
    b.training->readers = 0;
    // 20 us of work for a record, a thousandth of 1 ms to open and 0.8 ms to find its file, 100,064 bytes at 1.5 GB/s; 100 of them.
    const double sample_ms = 0.020 + 0.001 + 0.0008 + 100064 / 1.5e6;
    EXPECT_NEAR(estimate_loading(b, 10).batch / ms, 100 + 100 * sample_ms, 1e-6);
}

}  // namespace
}  // namespace sextant
