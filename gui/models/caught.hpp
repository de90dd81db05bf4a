// Turns exceptions into problems to be shown: no exception of a thread may end the program.
#pragma once

#include "model/base/diagnostics.hpp"

#include <string>
#include <vector>

namespace sextant::gui {

// To be called in a catch block. Returns the problems of an InputError; any other exception is reported as a defect of the program.
// `file`: the file concerned.
std::vector<Diagnostic> problems_caught(const std::string& file = {});

}  // namespace sextant::gui
