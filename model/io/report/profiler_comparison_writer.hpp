// A comparison with a profile as text for people and as JSON for programs (schema "profiler-comparison/1"; docs/compare.md lists its keys).
#pragma once

#include "model/report/profiler_comparison.hpp"

#include <string>

namespace sextant {

std::string profiler_comparison_to_text(const ProfilerComparison&);
std::string profiler_comparison_to_json(const ProfilerComparison&);

}  // namespace sextant
