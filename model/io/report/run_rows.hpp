// The whole run and the sweep as rows of a label and what is said, for text and pages.
#pragma once

#include "model/report/report.hpp"

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace sextant {

using SaidRows = std::vector<std::pair<std::string, std::string>>;

SaidRows run_rows(const Report&);
SaidRows sweep_rows(const SweepEstimate&);

// "copy 18.9 min, unpack 2.06 min": those that take a part of `whole` worth telling; empty where none does.
std::string parts_text(std::initializer_list<std::pair<std::string_view, Seconds>> parts, Seconds whole);

}  // namespace sextant
