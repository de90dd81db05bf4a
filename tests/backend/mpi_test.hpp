// Tests that start the executor under mpirun.
#pragma once

#include "tests/cli/process.hpp"
#include "tests/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace sextant {

using nlohmann::json;

inline const json as_usual = json::object();  // nothing that differs from the usual

// The executor that a test program is of.
std::string executor_program();

class MpiTest : public TemporaryFolder {
protected:
    void SetUp() override;
    void TearDown() override;

    // To stem_ + ".json". `plan` is added to one of a global batch of eight.
    void write_scenario(const json& workload, const json& plan) const;
    [[nodiscard]] ProcessResult start(const json& workload, const json& plan, int ranks, std::vector<std::string> arguments = {}) const;
    // The run's record; null, and a failure, when it fails.
    [[nodiscard]] json train(const json& workload, const json& plan, std::vector<std::string> arguments = {}) const;
    // Losses, and norms and products of the final weights, are those of one rank.
    void expect_serial_results(const json& workload, const std::vector<json>& plans, const json& alone = as_usual,
                               const std::vector<std::string>& arguments = {}) const;

    // By kind, over all ranks: of the step that a run traced, and of the simulation of the scenario that was started last.
    struct SpanSums {
        double count = 0, bytes = 0;
    };
    using SpansByKind = std::map<std::string, SpanSums>;
    [[nodiscard]] static SpansByKind spans_of(const json& run);
    [[nodiscard]] SpansByKind predicted_spans() const;
    // The arrays of each rank at their peak, of a run and as they are predicted for the scenario that was started last.
    [[nodiscard]] static std::vector<double> peaks_of(const json& run);
    [[nodiscard]] std::vector<double> predicted_peaks() const;

    const std::string stem_ = file("job");  // of the test's files
    std::vector<std::string> through_;      // words before the executor's, of a program that starts it
    json framework_ = "sextant";
    double loss_tolerance_ = 1e-5, weight_tolerance_ = 1e-5;  // of a tensor of weights in its norm
};

json transformer(bool tied);
json perceptron();

}  // namespace sextant
