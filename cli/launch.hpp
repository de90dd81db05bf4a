// How an executor program is started on the ranks of a plan: the words of a command, or a batch script.
//
// Options are those of Open MPI's mpirun and of Slurm's srun. Ranks are not bound to cores, because each has a second thread that
// communicates, and there may be more ranks than cores.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sextant {

enum class Launcher { mpirun, srun };

struct Launch {
    Launcher launcher = Launcher::mpirun;
    int ranks = 1;
    int hosts = 1, ranks_per_host = 1;        // the latter at most: ranks fill one host after the other
    bool in_turn = false;                     // srun: ranks are dealt to the hosts in turn instead
    std::vector<std::string> hosts_of_ranks;  // mpirun: the host of each rank; empty: ranks fill the hosts
    int threads = 1;                          // that compute, of each rank; one more communicates
    std::string host_file;                    // mpirun: the file that lists the hosts; empty: this machine
    bool as_root = false;
    std::vector<std::string> command;  // the user's own command of the launcher; empty: the usual one
    std::vector<std::string> options;  // further options of the launcher
    std::vector<std::string> program;  // the executor and its arguments
};

// srun inside an allocation of Slurm, where it knows the hosts; else mpirun.
Launcher usual_launcher();

std::vector<std::string> command_of(const Launch&);

// The words as a line for a shell, quoted where necessary.
std::string shell_line(const std::vector<std::string>& words);

// The head of a script for sbatch with these options: "--nodes=4".
std::string slurm_header(std::string job_name, const std::vector<std::string>& options);

// A script for sbatch that requests the hosts and cores and starts the executor in `directory`.
std::string slurm_script(const Launch&, const std::string& job_name, const std::filesystem::path& directory);

}  // namespace sextant
