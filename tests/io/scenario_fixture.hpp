// A small world for the tests of the scenario reader: two clusters, four models, one framework, so that nothing depends on bundled
// profiles.
#pragma once

#include "model/io/scenario/scenario_reader.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sextant::fixtures {

inline constexpr std::string_view good_scenario = R"({
    "schema": "scenario/1", "name": "test", "workload": "gpt", "hardware": {"cluster": "box", "nodes": 2}, "framework": "plain",
    "plan": {"tp": 2, "pp": 2, "micro_batch": 1, "global_batch": 32}})";

ScenarioSources test_sources();

struct ReadScenario {
    Scenario scenario;
    std::vector<Diagnostic> problems;
};
// Reads `text` after `--set`ting each assignment.
ReadScenario read_text(std::string_view text, const std::vector<std::string>& assignments = {});

// All problems as people see them, for the message of a failed assertion.
std::string all_of(const std::vector<Diagnostic>&);

}  // namespace sextant::fixtures
