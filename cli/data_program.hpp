// The program sextant-data as a child: datasets, and what storage can do.
#pragma once

#include "model/base/failure.hpp"

#include <string>
#include <vector>

namespace sextant {

bool has_data_program();  // it was built

// `words`: its task and arguments; `label`: of the progress. What it says goes to stdout. Throws BackendError where it was not built, or
// ended as nobody expects.
ExitCode run_data_program(std::vector<std::string> words, const std::string& label);

}  // namespace sextant
