#include "cli/scenario_options.hpp"

#include <CLI/CLI.hpp>

namespace sextant {

void ScenarioOptions::add_to(CLI::App& command) {
    command.add_option("scenario", scenario, "scenario file, such as scenarios/default.json")->required();
    // One value each time: what follows may be a file.
    command.add_option("--set", overrides, "override a field: plan.tp=8 (repeatable)")
        ->take_all()
        ->allow_extra_args(false)
        ->type_name("PATH=VALUE");
    command.add_option("--profiles", profiles, "directory of hardware profiles")->type_name("DIR");
}

Scenario ScenarioOptions::load() const {
    Library library = open_library(profiles);
    return load_scenario(library, scenario, overrides);
}

Predictable ScenarioOptions::load_predictable() const {
    Library library = open_library(profiles);
    return sextant::load_predictable(library, scenario, overrides);
}

void ReportOptions::add_to(CLI::App& command) {
    command.add_option("--format", format, "text or json")->check(CLI::IsMember({"text", "json"}));
    command.add_option("--fail-if", fail_if, "exit with 1 when this holds: 'step_time > 500 ms' (repeatable)")
        ->take_all()
        ->allow_extra_args(false)
        ->type_name("CONDITION");
}

}  // namespace sextant
