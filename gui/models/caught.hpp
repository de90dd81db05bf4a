// What went wrong, as problems to be shown: nothing that a thread throws may end the program.
#pragma once

#include "model/base/diagnostics.hpp"

#include <string>
#include <vector>

namespace sextant::gui {

// To be called where something was caught: the problems of an InputError; of any other exception, a defect of ours. `file`: what it is
// about.
std::vector<Diagnostic> problems_caught(const std::string& file = {});

}  // namespace sextant::gui
