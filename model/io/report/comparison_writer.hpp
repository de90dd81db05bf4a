// A comparison as text for people, as JSON for programs (schema "comparison/1"; docs/compare.md lists its keys), and as two timelines.
#pragma once

#include "model/report/comparison.hpp"

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

inline constexpr std::string_view comparison_schema = "comparison/1";

std::string comparison_to_text(const Comparison&);
// Of the term in which they part most, of memory, and what to know besides: a line each.
std::vector<std::string> residual_lines(const Comparison&);
std::string comparison_to_json(const Comparison&);
// For Perfetto: the simulated step above the measured one.
void write_comparison_trace(std::ostream&, const Comparison&, const Trace& measured);

}  // namespace sextant
