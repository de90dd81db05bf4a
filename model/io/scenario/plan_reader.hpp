// The "plan" of a scenario.
#pragma once

#include "model/io/format/json_reader.hpp"
#include "model/plan/plan.hpp"

#include <cstdint>
#include <optional>

namespace sextant {

// `devices`: what there is to use, where that is stated; it gives dp when the plan does not (without it dp stays 1). Any two of
// micro_batch, global_batch and grad_accum give the third. Nothing when a value could not be used; the reason is among the diagnostics
// then. Whether the plan can be on a given cluster is check_plan's to say.
std::optional<Plan> read_plan(const JsonNode&, std::optional<std::int64_t> devices);

}  // namespace sextant
