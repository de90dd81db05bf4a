#include "model/io/scenario_writer.hpp"

#include "model/io/json_reader.hpp"
#include "model/io/plan_writer.hpp"

#include <nlohmann/json.hpp>

#include <fstream>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

// A document's members in the order of another, then those that only it has.
Json in_order_of(const Json& like, const nlohmann::json& value) {
    if (!value.is_object()) return Json(value);
    Json ordered = Json::object();
    if (like.is_object())
        for (const auto& [key, inner] : like.items())
            if (value.contains(key)) ordered[key] = in_order_of(inner, value[key]);
    for (const auto& [key, inner] : value.items())
        if (!ordered.contains(key)) ordered[key] = in_order_of(Json(), inner);
    return ordered;
}

// Blanks behind commas and colons, no line breaks.
std::string on_a_line(const Json& value) {
    if (!value.is_structured()) return value.dump();
    std::string out;
    for (const auto& [key, inner] : value.items())
        out += (out.empty() ? "" : ", ") + (value.is_object() ? Json(key).dump() + ": " : std::string()) + on_a_line(inner);
    return value.is_object() ? "{" + out + "}" : "[" + out + "]";
}

std::string line_for_each_member(const Json& document) {
    std::string out;
    for (const auto& [key, inner] : document.items()) out += (out.empty() ? "  " : ",\n  ") + Json(key).dump() + ": " + on_a_line(inner);
    return "{\n" + out + "\n}\n";
}

// Settings of what the plan no longer does.
void erase_idle_settings(Json& in, const Plan& plan) {
    if (!plan.has_servers())
        for (const char* key : {"parameter_servers", "servers_on_workers"}) in.erase(key);
    if (plan.recompute != Recompute::selective) in.erase("recompute_modules");
}

void follow(Json& hardware, const Scenario& scenario, const Plan& plan) {
    const int there = scenario.cluster.node.devices, per_node = plan.devices_per_node.value_or(there);
    if (hardware.contains("nodes")) hardware["nodes"] = (plan.devices() + per_node - 1) / per_node;
    if (scenario.reserved_devices != 0 && plan.devices() != scenario.plan.devices()) hardware.erase("reserved_devices");
}

}  // namespace

std::string scenario_file_with_plan(const std::filesystem::path& path, const std::vector<std::string>& overrides, const Scenario& scenario,
                                    const Plan& plan) {
    Diagnostics diagnostics;
    JsonFile file = JsonFile::load(path, diagnostics);
    for (const std::string& o : overrides) file.set(o);
    diagnostics.throw_if_any();
    std::ifstream original(path);
    Json document = in_order_of(Json::parse(original, nullptr, false), *file.root().value);
    Json& own = document["plan"];
    // What is as usual need not be written; dp would be derived otherwise.
    const Json fields = plan_json(plan), usual = plan_json(Plan{});
    for (const auto& [key, value] : fields.items()) {
        if (value.is_null())
            own.erase(key);
        else if (own.contains(key) || value != usual.at(key) || key == "dp")
            own[key] = value;
    }
    erase_idle_settings(own, plan);
    follow(document["hardware"], scenario, plan);
    return line_for_each_member(document);
}

}  // namespace sextant
