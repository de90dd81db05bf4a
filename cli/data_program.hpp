// Runs the program sextant-data, which makes datasets and measures storage.
#pragma once

#include "model/base/failure.hpp"

#include <string>
#include <vector>

namespace sextant {

bool has_data_program();  // whether it was built

// `words`: its task and arguments; `label`: of the progress bar. Its output goes to stdout. Throws BackendError where it was not built or
// ended unexpectedly.
ExitCode run_data_program(std::vector<std::string> words, const std::string& label);

}  // namespace sextant
