// A job of two ranks and some milliseconds a step, which this machine trains for real, and a folder for what it leaves.
#pragma once

#include "tests/cli/process.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace sextant {

class TinyRun : public testing::Test {
protected:
    explicit TinyRun(std::string cluster) : cluster_(std::move(cluster)) {}

    void SetUp() override {
        namespace fs = std::filesystem;
        if (!fs::exists(fs::path(SEXTANT_BINARY).parent_path() / "sextant-exec-cpu")) GTEST_SKIP() << "built without oneDNN and MPI";
        fs::create_directories(folder_);
        std::ofstream(file("tiny.json")) << R"({
  "schema": "scenario/1", "name": "tiny",
  "workload": {"transformer": {"layers": 2, "hidden": 32, "heads": 4, "vocab": 64, "seq_len": 16, "dropout": false}},
  "hardware": {"cluster": ")" << cluster_ << R"("},
  "plan": {"dp": 2, "micro_batch": 2, "global_batch": 8, "precision": "fp32", "optimizer": "adam"},
  "framework": "sextant"
})";
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    [[nodiscard]] std::string file(const std::string& name) const { return (folder_ / name).string(); }

private:
    std::string cluster_;
    std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("sextant-tiny-run-" + std::to_string(::getpid()));
};

}  // namespace sextant
