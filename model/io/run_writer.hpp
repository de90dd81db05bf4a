// A run's record as JSON (schema run/1; docs/execution.md lists its keys).
#pragma once

#include "model/graph/run_record.hpp"

#include <string>
#include <string_view>

namespace sextant {

inline constexpr std::string_view run_schema = "run/1";

std::string run_to_json(const RunRecord&);

}  // namespace sextant
