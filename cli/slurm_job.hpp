// A batch script for Slurm, which asks for the nodes, the time and the jobs that a scenario needs. Options as in
// https://slurm.schedmd.com/sbatch.html.
#pragma once

#include "model/io/search/plan_export.hpp"
#include "model/sextant.hpp"

#include <string>

namespace sextant {

struct SlurmJob {
    ExportedLaunch launch;
    std::string before;   // lines that set up what the command needs
    std::string command;  // that runs once, or once for each task of a sweep
};

std::string slurm_job_script(const SlurmJob&, const Scenario&, const Report&);

}  // namespace sextant
