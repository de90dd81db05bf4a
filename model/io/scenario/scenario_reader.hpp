// A scenario file of schema "scenario/1": everything a prediction depends on. docs/scenario_format.md describes it.
#pragma once

#include "model/io/workload/workload_reader.hpp"
#include "model/plan/scenario.hpp"

#include <functional>
#include <string_view>

namespace sextant {

// Where the names in a scenario are looked up. Each takes what stands there, a name or an inline object, and complains through the node.
struct ScenarioSources {
    FindWorkload workload;
    std::function<Cluster(const JsonNode&)> cluster;
    std::function<Device(const JsonNode&)> device;
    std::function<LinkType(const JsonNode&)> link;
    std::function<StorageClass(const JsonNode&)> storage;
    std::function<Framework(const JsonNode&)> framework;
    // The name comes from the scenario or from the framework; the node is where to complain.
    std::function<CommunicationLibrary(std::string_view name, const JsonNode&)> library;
};

// Adds every problem that the file and the plan have, check_plan's included. The scenario is usable when there is none.
Scenario read_scenario(const JsonFile&, const ScenarioSources&, Diagnostics&);

}  // namespace sextant
