// The fields of a plan in the words of a scenario file.
#pragma once

#include "model/search/plan_space.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace sextant {

// Null where the plan leaves it to be as usual: no shard group, stages as even as possible.
nlohmann::ordered_json plan_field_json(PlanField, const Plan&);
// The same for a table: "zero1", "4 blocks", "on", "tp dp pp" (the order of ranks, fastest first).
std::string plan_field_text(PlanField, const Plan&);

// Every field that a search may choose, and the global batch. Laid over the plan of a scenario file, null removing a key, it makes this
// plan of it.
nlohmann::ordered_json plan_json(const Plan&);

}  // namespace sextant
