// `sextant predict` of storage that feeds emulated accelerators.
#include "tests/cli/process_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace sextant {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

// A workload as DLIO takes it.
std::string workload_file() {
    const auto path = std::filesystem::temp_directory_path() / ("sextant_dlio_" + std::to_string(getpid()) + ".yaml");
    std::ofstream(path) << "dataset: {format: npz, num_files_train: 1000, record_length_bytes: 100000000}\n"
                           "reader: {batch_size: 10, read_threads: 4}\n"
                           "train: {computation_time: 0.4, epochs: 2}\n";
    return path.string();
}

TEST(PredictStorage, SaysHowManyAcceleratorsAStorageFeeds) {
    const std::string file = workload_file(), storage = R"(storage={"name": "ours", "type": "nvme", "read_bandwidth": "10 GB/s"})";
    const ProcessResult text = run_sextant({"predict", file, "--set", storage});
    EXPECT_EQ(text.exit_code, 0) << text.err;
    // A gigabyte for each batch, and 444 ms for each of them at 90 %: 4.4 accelerators' worth.
    EXPECT_THAT(text.out, HasSubstr("at work for 90.0 % of the time: 4\n"));
    const Json report = json_of(run_sextant({"predict", file, "--set", storage, "--set", "accelerators=8", "--format", "json"}));
    EXPECT_EQ(report.at("schema"), "storage-report/1");
    EXPECT_EQ(report.at("training").at("most_accelerators"), 4);
    // Eight wait for 8 GB: 800 ms, half of which they compute.
    EXPECT_NEAR(report.at("training").at("first_epoch").at("utilization"), 0.5, 0.01);
    EXPECT_NEAR(report.at("training").at("first_epoch").at("read_bytes_per_s"), 10e9, 0.1e9);
    EXPECT_EQ(run_sextant({"predict", file, "--set", storage, "--fail-if", "most_accelerators < 5"}).exit_code, 1);
    EXPECT_EQ(run_sextant({"predict", file, "--set", storage, "--fail-if", "most_accelerators < 4"}).exit_code, 0);
    // One on each of ten thousand hosts is kept at work; nobody asks whether more are.
    EXPECT_THAT(run_sextant({"predict", file, "--set", storage, "--set", "hosts=10000"}).out, HasSubstr("10,000 or more"));
    // One file of one sample, of which a step takes ten.
    EXPECT_THAT(run_sextant({"predict", file, "--set", storage, "--set", "training.files=1"}),
                exits_with(2, HasSubstr("less than one step takes: 10")));
    EXPECT_THAT(run_sextant({"predict", file}), exits_with(2, HasSubstr("\"storage\" is missing")));
    EXPECT_THAT(run_sextant({"simulate", file}), exits_with(2, HasSubstr("this is a benchmark of storage, no training run")));
    EXPECT_EQ(run_sextant({"import", "dlio", file, "--out", file + ".json"}).exit_code, 0);
    EXPECT_EQ(run_sextant({"predict", file + ".json", "--set", storage}).out, text.out);
    std::filesystem::remove(file);
    std::filesystem::remove(file + ".json");
}

TEST(PredictStorage, AnswersAPublishedRow) {
    const ProcessResult r = run_sextant({"predict", "measurements/loading/mlperf_storage_v1_0.json#mlperf_storage-0105"});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_THAT(r.out, HasSubstr("With 12 accelerators"));
}

}  // namespace
}  // namespace sextant
