#include "model/io/scenario/scenario_writer.hpp"

#include "model/base/ceil_divide.hpp"
#include "model/io/scenario/plan_writer.hpp"

#include <nlohmann/json.hpp>

namespace sextant {

ScenarioDocument document_with_plan(ScenarioDocument document, const Scenario& scenario, const Plan& plan) {
    const auto stated = [&](const std::string& path) { return stated_at(document, path).has_value(); };
    const auto set = [&](const std::string& path, const std::string& value) { document = edited(document, path, value); };
    const auto take_away = [&](const std::string& path) {
        if (stated(path)) set(path, "null");
    };
    // What is as usual need not be written; dp would be derived otherwise.
    const nlohmann::ordered_json fields = plan_json(plan), usual = plan_json(Plan{});
    for (const auto& [key, value] : fields.items()) {
        const std::string path = "plan." + key;
        if (value.is_null())
            take_away(path);
        else if (stated(path) || value != usual.at(key) || key == "dp")
            set(path, value.dump());
    }
    const int there = scenario.cluster.node.devices, per_node = plan.devices_per_node.value_or(there);
    if (stated("hardware.nodes")) set("hardware.nodes", std::to_string(ceil_divide(plan.devices(), per_node)));
    if (plan.devices() != scenario.plan.devices())
        for (const char* key : {"hardware.reserved_devices", "hardware.node_list"}) take_away(key);
    if (plan.node_ranks.empty() && !scenario.plan.node_ranks.empty()) take_away("hardware.devices_per_node");
    return document;
}

}  // namespace sextant
