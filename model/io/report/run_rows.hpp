// What is said of samples, checkpoints, the whole run and the sweep, as rows of a label and a text: for text, pages and the window.
#pragma once

#include "model/report/report.hpp"

#include <string>
#include <utility>
#include <vector>

namespace sextant {

using SaidRows = std::vector<std::pair<std::string, std::string>>;

struct SaidSection {
    std::string heading;
    SaidRows rows;
};
// Those that the report has something to say in.
std::vector<SaidSection> sections_of_run(const Report&);

}  // namespace sextant
