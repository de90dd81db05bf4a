// How an executor program is started on as many ranks as a plan has: the words of a command, or a batch script.
//
// Options are those of Open MPI's mpirun and of Slurm's srun. Ranks are not bound to cores, because each has a second thread that
// communicates, and may be more than the machine has cores.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sextant {

enum class Launcher { mpirun, srun };

struct Launch {
    Launcher launcher = Launcher::mpirun;
    int ranks = 1;
    int hosts = 1, ranks_per_host = 1;        // at most; ranks fill one host after the other. On a single machine all share it
    bool in_turn = false;                     // srun: ranks do not fill hosts, but are dealt to them in turn
    std::vector<std::string> hosts_of_ranks;  // mpirun: ranks do not fill hosts, but stand on these; else empty
    int threads = 1;                          // that compute, of each rank; one more communicates
    std::string host_file;                    // mpirun: which hosts; empty: this machine
    bool as_root = false;
    std::vector<std::string> command;  // somebody's own words for the launcher; empty: the usual ones
    std::vector<std::string> options;  // more words for the launcher
    std::vector<std::string> program;  // the executor and its arguments
};

// Inside an allocation of Slurm, srun knows the hosts.
Launcher usual_launcher();

std::vector<std::string> command_of(const Launch&);

// For a shell: words quoted where they need it.
std::string shell_line(const std::vector<std::string>& words);

// The head of a script for sbatch, which asks for what these options say: "--nodes=4".
std::string slurm_header(std::string job_name, const std::vector<std::string>& options);

// For sbatch: asks for the hosts and cores, then starts the executor in `directory`.
std::string slurm_script(const Launch&, const std::string& job_name, const std::filesystem::path& directory);

}  // namespace sextant
