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
    static Library library = open_library(root / "hardware_profiles");  // most of what a scenario takes is to read its profiles
    return load_scenario(library, root / "scenarios" / (name + ".json"), overrides);
}

INSTANTIATE_TEST_SUITE_P(Bundled, EveryScenario, testing::ValuesIn(bundled_scenario_names()), test_name);

Scenario on_one_device(Scenario s) {
    Plan& p = s.plan;
    p.dp = p.tp = p.pp = p.cp = p.vpp = p.ep = 1;
    p.expert_tp = 0;
    p.sequence_parallel = false;
    p.data_parallel = DataParallel::all_reduce;
    p.schedule = Schedule::one_f_one_b;
    p.shard_group.reset();
    p.stage_blocks.clear();
    p.global_batch = p.micro_batch;
    s.straggler.reset();
    return s;
}

}  // namespace sextant
