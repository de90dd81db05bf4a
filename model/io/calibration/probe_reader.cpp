#include "model/io/calibration/probe_reader.hpp"

#include "model/io/format/json_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

Probe read_probe(const JsonNode& n) {
    ObjectReader r(n);
    Probe p;
    r.required("name", p.name);
    r.optional("quick", p.quick);
    r.optional("ranks_per_device", p.ranks_per_device, Bounds{1, 64});
    if (const JsonNode workload = r.need("workload", "as a scenario has it"); workload.value) p.workload = workload.value->dump();
    const JsonNode plan = r.need("plan", "as a scenario has it");
    if (!plan.is_object()) return p;
    p.plan = plan.value->dump();
    if (const auto precision = plan.value->find("precision"); precision != plan.value->end() && precision->is_string())
        p.precision = precision->get<std::string>();
    for (const char* degree : {"tp", "pp"})
        if (const auto d = plan.value->find(degree); d != plan.value->end() && d->is_number_integer()) p.cut *= std::max(1, d->get<int>());
    return p;
}

}  // namespace

std::vector<Probe> load_probes(const std::filesystem::path& path) {
    Diagnostics diagnostics;
    const JsonFile file = JsonFile::load(path, diagnostics);
    diagnostics.throw_if_any();
    std::vector<Probe> probes;
    ObjectReader r(file.root());
    r.schema("probes/1");
    std::string notes;
    r.optional("notes", notes);
    std::string framework = "sextant";
    r.optional("framework", framework);
    r.need("probes", "a list");
    r.each("probes", [&](const JsonNode& n) {
        probes.push_back(read_probe(n));
        probes.back().framework = framework;
    });
    diagnostics.throw_if_any();
    return probes;
}

std::string probe_to_scenario(const Probe& probe, const std::filesystem::path& cluster, std::optional<int> hosts) {
    Json plan = {{"precision", "fp32"}, {"optimizer", "adam"}, {"gradient_overlap", false}};
    plan.update(Json::parse(probe.plan));
    Json hardware = {{"cluster", cluster.string()}, {"ranks_per_device", probe.ranks_per_device}};
    if (hosts) hardware["nodes"] = *hosts;
    const Json scenario = {{"schema", "scenario/1"}, {"name", probe.name}, {"workload", Json::parse(probe.workload)},
                           {"hardware", hardware},   {"plan", plan},       {"framework", probe.framework}};
    return json_document(scenario);
}

}  // namespace sextant
