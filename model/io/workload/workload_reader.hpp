// What is trained, from JSON: the "workload" of a scenario, or a file that it names. docs/scenario_format.md lists the fields.
#pragma once

#include "model/io/format/json_reader.hpp"
#include "model/workload/workload.hpp"

#include <functional>
#include <optional>
#include <string_view>

namespace sextant {

// Where names are looked up: find_workload, unless a test has models of its own.
using FindWorkload = std::function<std::optional<Workload>(std::string_view)>;

// "gpt3-175b" | "model.json", a file as below | {"model": "gpt3-175b", "seq_len": 4096} | {"transformer": {...}} |
// {"convolutional": {...}} | {"mlp": {...}} | {"chain": {...}} | {"graph": {...}}. Nothing when a value could not be used; the reason is
// among the diagnostics then.
std::optional<Workload> read_workload(const JsonNode&, const FindWorkload&);

// A file as write_workload makes it, the same object with its "schema"; or the config.json of a Hugging Face model, which has none and says
// its "model_type".
std::optional<Workload> read_workload_file(const JsonFile&, const FindWorkload&);

}  // namespace sextant
