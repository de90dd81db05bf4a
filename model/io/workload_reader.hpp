// What is trained, from JSON: the "workload" of a scenario, or a file of schema "workload/1". docs/scenario_format.md lists the fields.
#pragma once

#include "model/io/json_reader.hpp"
#include "model/workload/workload.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

// Where the names of bundled models are looked up.
struct WorkloadSource {
    std::function<std::optional<Workload>(std::string_view)> find;
    std::vector<std::string> names;  // for the hint about an unknown one
};

// "gpt3-175b" | {"model": "gpt3-175b", "seq_len": 4096} | {"transformer": {...}} | {"convolutional": {...}} | {"mlp": {...}} | {"chain":
// {...}} Nothing when a value could not be used; the reason is among the diagnostics then.
std::optional<Workload> read_workload(const JsonNode&, const WorkloadSource&);

// A file as write_workload makes it: the same object with its "schema".
std::optional<Workload> read_workload_file(const JsonFile&, const WorkloadSource&);

}  // namespace sextant
