// The host of each rank of a run.
#pragma once

#include "cli/launch.hpp"
#include "model/sextant.hpp"

#include <string>

namespace sextant {

// Throws InputError unless `file` is a host file. Checked here because mpirun's own message names neither the option nor the file. Empty:
// no file is used.
void check_host_file(const std::string& file);

// Places the ranks on hosts as the plan places them on nodes. Throws InputError where the host file names too few hosts, or srun cannot
// place ranks like this.
void place(Launch&, const Scenario&);

}  // namespace sextant
