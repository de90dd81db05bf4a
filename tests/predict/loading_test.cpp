#include "model/predict/loading.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;

// 0.79 ms of the benchmark's own loop for each batch.
LoadingBenchmark ten_accelerators() {
    LoadingBenchmark b;
    b.accelerators = 10;
    b.batch = 100;
    b.computation = 99.21 * ms;
    b.threads = 8;
    b.sample = 100 * KB;
    b.format = DataFormat::tfrecord;
    b.samples_per_file = 1000;
    return b;
}

TEST(LoadingBenchmark, IsAsFastAsItsAcceleratorsWhereStorageIsFaster) {
    // Each takes 100 samples in 100 ms: ten take 10,000 a second.
    EXPECT_NEAR(1 / (sample_time(ten_accelerators()) / s), 10000, 1e-6);
}

TEST(LoadingBenchmark, IsAsFastAsTheStorageThatItsMakerStates) {
    // 100,064 bytes a record at 500 MB/s.
    LoadingBenchmark b = ten_accelerators();
    b.node_bandwidth = 500 * MB / s;
    EXPECT_NEAR(1 / (sample_time(b) / s), 500e6 / 100064, 1e-6);
    b.hosts = 2;  // each with such storage
    EXPECT_NEAR(1 / (sample_time(b) / s), 2 * 500e6 / 100064, 1e-6);
}

TEST(LoadingBenchmark, HasAsManyAcceleratorsAsTheStorageKeepsAtWork) {
    // At work for nine tenths of the time: 99.21 / 0.9 = 110.2 ms a batch, and with eleven of them more. So ten take between 10/11 of that,
    // which is as if nothing held them up, and all of it.
    LoadingBenchmark b = ten_accelerators();
    b.least_utilization = 0.9;
    EXPECT_NEAR(sample_time(b) * 1000 / ms, 99.21 / 0.9 * (1 - 0.5 / 11), 1e-9);
    // One alone says nothing of the storage: two might take twice as long.
    b.accelerators = 1;
    EXPECT_NEAR(sample_time(b) * 100 / ms, 100, 1e-9);
    // Slower than it may be it is not, whatever the drive's maker states.
    b.node_bandwidth = 1 * MB / s;
    EXPECT_NEAR(sample_time(b) * 100 / ms, 99.21 / 0.9, 1e-9);
}

}  // namespace
}  // namespace sextant
