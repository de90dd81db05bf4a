// A job of two ranks and some milliseconds a step, which this machine trains for real, and a folder for what it leaves.
#pragma once

#include "tests/cli/process.hpp"
#include "tests/temporary_folder.hpp"

#include <filesystem>
#include <fstream>
#include <string>

namespace sextant {

class TinyRun : public TemporaryFolder {
protected:
    explicit TinyRun(std::string cluster) : cluster_(std::move(cluster)) {}

    void SetUp() override {
        namespace fs = std::filesystem;
        if (!fs::exists(fs::path(SEXTANT_BINARY).parent_path() / "sextant-exec-cpu")) GTEST_SKIP() << "built without oneDNN and MPI";
        TemporaryFolder::SetUp();
        std::ofstream(file("tiny.json")) << R"({
  "schema": "scenario/1", "name": "tiny",
  "workload": {"transformer": {"layers": 2, "hidden": 32, "heads": 4, "vocab": 64, "seq_len": 16, "dropout": false}},
  "hardware": {"cluster": ")" << cluster_ << R"("},
  "plan": {"dp": 2, "micro_batch": 2, "global_batch": 8, "precision": "fp32", "optimizer": "adam"},
  "framework": "sextant"
})";
    }

private:
    std::string cluster_;
};

}  // namespace sextant
