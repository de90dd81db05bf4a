// The scenarios that the repository carries, for tests that run over them.
#pragma once

#include "model/sextant.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sextant {

// File names without ".json", sorted.
std::vector<std::string> bundled_scenario_names();

// Throws InputError as load_scenario does.
Scenario bundled_scenario(const std::string& name, const std::vector<std::string>& overrides = {});

// The scenario's model on one of its devices.
Scenario on_one_device(Scenario);

// TEST_P(EveryScenario, ...) is one test for each of them, named after it.
class EveryScenario : public testing::TestWithParam<std::string> {};

}  // namespace sextant
