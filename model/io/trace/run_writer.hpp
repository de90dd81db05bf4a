// A run's record as JSON (schema run/1; docs/execution.md lists its keys), and for people.
#pragma once

#include "model/graph/run_record.hpp"
#include "model/plan/scenario.hpp"

#include <string>
#include <string_view>

namespace sextant {

inline constexpr std::string_view run_schema = "run/1";

std::string run_to_json(const RunRecord&);

// What was measured, and where the time went. The scenario is the one that ran.
std::string run_to_text(const RunRecord&, const Scenario&);

}  // namespace sextant
