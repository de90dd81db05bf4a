// A batch script for Slurm that requests the nodes and the time that a scenario needs, once or for each job of a sweep. Options as in
// https://slurm.schedmd.com/sbatch.html.
#pragma once

#include "model/io/export/plan_export.hpp"
#include "model/sextant.hpp"

#include <string>

namespace sextant {

struct SlurmJob {
    ExportedLaunch launch;
    std::string before;   // lines that set up what the command needs
    std::string command;  // runs once, or once for each task of a sweep
};

std::string slurm_job_script(const SlurmJob&, const Scenario&, const Report&);

}  // namespace sextant
