// On which host each rank of a run stands.
#pragma once

#include "cli/launch.hpp"
#include "model/sextant.hpp"

#include <string>

namespace sextant {

// Checked here, because mpirun's own message names neither the option nor the file. Empty: there is no host file. Throws InputError.
void check_host_file(const std::string& file);

// On its hosts as the plan has its ranks on nodes. Throws InputError where the host file names too few, or srun cannot place ranks so.
void place(Launch&, const Scenario&);

}  // namespace sextant
