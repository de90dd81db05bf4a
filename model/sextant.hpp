// The facade: all that the CLI, the GUI, tests and bindings call. Free functions on values.
//
//     Library library = open_library();
//     const Scenario scenario = load_scenario(library, "scenarios/default.json", {"plan.tp=2"});
//     const Report report = predict(scenario);
#pragma once

#include "model/hardware/catalog.hpp"
#include "model/io/scenario_reader.hpp"
#include "model/plan/scenario.hpp"
#include "model/predict/estimate.hpp"
#include "model/report/condition.hpp"
#include "model/report/report.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace sextant {

// What is known by name: hardware profiles and frameworks. Files are read when first asked for.
struct Library {
    Catalog catalog;
    std::filesystem::path root;  // holds hardware_profiles/ and frameworks/
};

// `profiles`: the directory of --profiles; empty for the bundled one. Throws InputError when there is none.
Library open_library(const std::filesystem::path& profiles = {});

// Where the names in a scenario or a measurement are looked up. References `library` and `diagnostics`.
ScenarioSources sources(Library& library, Diagnostics& diagnostics);

// Reads a scenario and applies `overrides` ("plan.tp=8"). Throws InputError with every problem.
Scenario load_scenario(Library&, const std::filesystem::path&, const std::vector<std::string>& overrides = {});

// The whole answer. Throws InputError when the plan is impossible; a plan that does not fit in memory is an answer.
Report predict(const Scenario&);

}  // namespace sextant
