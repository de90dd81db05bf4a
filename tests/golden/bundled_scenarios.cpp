#include "tests/golden/bundled_scenarios.hpp"

#include <algorithm>
#include <cctype>

namespace sextant {
namespace {

const std::filesystem::path root = SEXTANT_SOURCE_DIR;

std::string test_name(const testing::TestParamInfo<std::string>& info) {
    std::string name = info.param;
    std::ranges::replace_if(
        name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return name;
}

}  // namespace

std::vector<std::string> bundled_scenario_names() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(root / "scenarios"))
        if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
    std::ranges::sort(names);
    return names;
}

Scenario bundled_scenario(const std::string& name, const std::vector<std::string>& overrides) {
    Library library = open_library(root / "hardware_profiles");
    return load_scenario(library, root / "scenarios" / (name + ".json"), overrides);
}

INSTANTIATE_TEST_SUITE_P(Bundled, EveryScenario, testing::ValuesIn(bundled_scenario_names()), test_name);

}  // namespace sextant
