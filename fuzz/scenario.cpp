#include "fuzz/targets.hpp"
#include "model/io/scenario/scenario_reader.hpp"

namespace sextant::fuzz {

// A scenario, whose every name of hardware or software is known: eight devices on each of four nodes.
void scenario(std::string_view input) {
    ScenarioSources sources;
    sources.workload = find_workload;
    sources.cluster = [](const JsonNode&) {
        Cluster cluster;
        cluster.nodes = 4;
        cluster.node.devices = 8;
        cluster.node.nics = 1;
        return cluster;
    };
    sources.device = [](const JsonNode&) { return Device{}; };
    sources.link = [](const JsonNode&) { return LinkType{}; };
    sources.storage = [](const JsonNode&) { return StorageClass{}; };
    sources.framework = [](const JsonNode&) { return Framework{}; };
    sources.library = [](std::string_view, const JsonNode&) { return CommunicationLibrary{}; };
    Diagnostics diagnostics;
    const JsonFile file = JsonFile::from_text(input, "input.json", diagnostics);
    read_scenario(file, sources, diagnostics);
}

}  // namespace sextant::fuzz
