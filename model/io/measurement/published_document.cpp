#include "model/io/measurement/published_document.hpp"

#include "model/io/format/json_text.hpp"
#include "model/io/scenario/scenario_edits.hpp"

#include <nlohmann/json.hpp>

namespace sextant {

ScenarioDocument published_document(const Scenario& published, const std::filesystem::path& name) {
    Scenario plain = published;
    plain.plan = Plan{};
    const nlohmann::ordered_json json = {{"schema", "scenario/1"},
                                         {"name", published.name},
                                         {"description", published.description},
                                         {"assumptions", published.assumptions},
                                         {"workload", published.name},
                                         {"hardware", {{"cluster", published.name}}},
                                         {"plan", {{"dp", 1}, {"micro_batch", 1}, {"global_batch", 1}}},
                                         {"framework", published.framework.name},
                                         {"library", published.library.name}};
    ScenarioDocument document{name, json_document(json), {}};
    const auto set = [&](std::string_view path, std::string_view value) { document = edited(document, path, value); };
    for (const auto& [path, value] : edits_between(plain, published))
        if (path != "plan.grad_accum") set(path, value);
    if (published.framework.offloaded_gradients == OffloadedGradients::added_on_device)  // of one run: see to_scenario
        set("framework.offloaded_gradients", "added_on_device");
    const int per_node = published.plan.devices_per_node.value_or(published.cluster.node.devices);
    if (published.plan.devices() != published.cluster.nodes * per_node) return document;
    set("hardware.nodes", std::to_string(published.cluster.nodes));
    set("plan.dp", "null");
    return document;
}

}  // namespace sextant
