#include "cli/scenario_options.hpp"

#include "model/io/format/separate_files.hpp"

#include <CLI/CLI.hpp>

namespace sextant {

void ScenarioOptions::add_to(CLI::App& command) {
    command.add_option("scenario", scenario, "scenario file, such as scenarios/default.json, or a published run: 'FILE#ROW'")->required();
    // One value each time: what follows may be a file.
    command.add_option("--set", overrides, "override a field: plan.tp=8 (repeatable)")
        ->take_all()
        ->allow_extra_args(false)
        ->type_name("PATH=VALUE");
    command.add_option("--profiles", profiles, "directory of hardware profiles")->type_name("DIR");
}

Scenario ScenarioOptions::load(const std::vector<std::filesystem::path>& outputs) const {
    Library library = open_library(profiles);
    Scenario found = load_scenario(library, scenario, overrides);
    check_apart(outputs, library.files);
    return found;
}

Predictable ScenarioOptions::load_predictable(const std::vector<std::filesystem::path>& outputs) const {
    Library library = open_library(profiles);
    Predictable found = sextant::load_predictable(library, scenario, overrides);
    check_apart(outputs, library.files);
    return found;
}

void ReportOptions::add_to(CLI::App& command) {
    command.add_option("--format", format, "text or json")->check(CLI::IsMember({"text", "json"}));
    command.add_option("--fail-if", fail_if, "exit with 1 when this holds: 'step_time > 500 ms' (repeatable)")
        ->take_all()
        ->allow_extra_args(false)
        ->type_name("CONDITION");
}

}  // namespace sextant
