#include "model/io/measurement/published_document.hpp"

#include "model/io/format/json_text.hpp"
#include "model/io/profile/profile_writer.hpp"
#include "model/io/scenario/scenario_edits.hpp"
#include "model/io/workload/workload_writer.hpp"

#include <nlohmann/json.hpp>

#include <utility>
#include <vector>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

// Its device by name: what was measured of one stands beside its profile.
Json described_cluster(const Cluster& cluster) {
    Json json = Json::parse(cluster_to_profile(cluster));
    json["node"]["device"] = cluster.node.device.name;
    if (cluster.name.empty()) json["name"] = cluster.title;  // the row names no machine
    return json;
}

Json described_workload(const Workload& workload) {
    Json json = Json::parse(write_workload(workload));
    json.erase("schema");
    return json;
}

// As set_habits_of_one_run() sets them.
std::vector<std::pair<std::string, std::string>> habits_of_one_run(const Framework& run, const Framework& described) {
    std::vector<std::pair<std::string, std::string>> habits;
    if (run.offloaded_gradients != described.offloaded_gradients) habits.emplace_back("offloaded_gradients", "added_on_device");
    constexpr std::pair<const char*, bool Framework::*> flags[] = {
        {"fused_cross_entropy", &Framework::fused_cross_entropy}, {"fused_gradient_accumulation", &Framework::fused_gradient_accumulation}};
    for (const auto& [name, flag] : flags)
        if (run.*flag != described.*flag) habits.emplace_back(name, run.*flag ? "true" : "false");
    return habits;
}

}  // namespace

ScenarioDocument published_document(const Scenario& published, const Framework& described, const std::filesystem::path& name) {
    Scenario plain = published;
    plain.plan = Plan{};
    const Json json = {{"schema", "scenario/1"},
                       {"name", published.name},
                       {"description", published.description},
                       {"assumptions", published.assumptions},
                       {"workload", described_workload(published.workload)},
                       {"hardware", {{"cluster", described_cluster(published.cluster)}}},
                       {"plan", {{"dp", 1}, {"micro_batch", 1}, {"global_batch", 1}}},
                       {"framework", published.framework.name},
                       {"library", published.library.name}};
    ScenarioDocument document{name, json_document(json), {}};
    const auto set = [&](std::string_view path, std::string_view value) { document = edited(document, path, value); };
    for (const auto& [path, value] : edits_between(plain, published))
        if (path != "plan.grad_accum") set(path, value);
    for (const auto& [habit, value] : habits_of_one_run(published.framework, described)) set("framework." + habit, value);
    const int per_node = published.plan.devices_per_node.value_or(published.cluster.node.devices);
    if (published.plan.devices() == published.cluster.nodes * per_node) {
        set("hardware.nodes", std::to_string(published.cluster.nodes));
        set("plan.dp", "null");
    }
    return {name, json_document(Json::parse(text_of(document))), {}};
}

}  // namespace sextant
