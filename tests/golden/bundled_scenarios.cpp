#include "tests/golden/bundled_scenarios.hpp"

#include <algorithm>

namespace sextant {
namespace {

const std::filesystem::path root = SEXTANT_SOURCE_DIR;

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
