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
    int ranks_per_host = 1;  // in the order of the hosts; on a single machine all ranks share it
    int threads = 1;         // that compute, of each rank; one more communicates
    std::string host_file;   // mpirun: which hosts; empty: this machine
    bool as_root = false;
    std::vector<std::string> command;  // somebody's own words for the launcher; empty: the usual ones
    std::vector<std::string> options;  // more words for the launcher
    std::vector<std::string> program;  // the executor and its arguments

    [[nodiscard]] int hosts() const { return (ranks + ranks_per_host - 1) / ranks_per_host; }
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
