// A scenario file with another plan in it, laid out as people write them.
#pragma once

#include "model/plan/scenario.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace sextant {

// The file at `path` with these overrides and with `plan` in place of its plan: read back, it is the scenario with that plan. Its number of
// nodes follows the plan. Throws InputError when the file cannot be read.
std::string scenario_file_with_plan(const std::filesystem::path& path, const std::vector<std::string>& overrides, const Scenario&,
                                    const Plan& plan);

}  // namespace sextant
