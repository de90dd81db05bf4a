// The host of each rank of a run.
#pragma once

#include "cli/launch.hpp"
#include "model/sextant.hpp"

#include <string>
#include <vector>

namespace sextant {

// Each once, in the order of a file as mpirun reads it: "node1 slots=2", one line for each.
std::vector<std::string> host_names(const std::string& file);

// Throws InputError unless `file` is a host file. Checked here because mpirun's own message names neither the option nor the file. Empty:
// no file is used.
void check_host_file(const std::string& file);

// Places the ranks on hosts as the plan places them on nodes. Throws InputError where the host file names too few hosts, or srun cannot
// place ranks like this.
void place(Launch&, const Scenario&);

}  // namespace sextant
