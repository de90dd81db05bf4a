#include "cli/launch.hpp"

#include "model/base/list_text.hpp"

#include <algorithm>
#include <cstdlib>

namespace sextant {
namespace {

std::string shell_word(const std::string& word) {
    constexpr auto plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
    return quoted + "'";
}

}  // namespace

Launcher usual_launcher() { return std::getenv("SLURM_JOB_ID") != nullptr ? Launcher::srun : Launcher::mpirun; }

std::vector<std::string> command_of(const Launch& l) {
    const std::string ranks = std::to_string(l.ranks);
    std::vector<std::string> words;
    if (!l.command.empty()) {
        words = l.command;
        words.insert(words.end(), {"-n", ranks});  // understood by all of them
    } else if (l.launcher == Launcher::srun) {
        // Ranks may use all cores of the allocation: one more than compute, where it has that, is for the thread that communicates. The
        // script asks for none, as cores that compute may be all that a node has.
        words = {"srun", "--ntasks", ranks, "--cpu-bind=none", "--kill-on-bad-exit=1"};
        if (l.in_turn) words.emplace_back("--distribution=cyclic");
    } else {
        words = {"mpirun", "-n", ranks, "--bind-to", "none", "--oversubscribe"};
        if (!l.hosts_of_ranks.empty())
            words.insert(words.end(), {"--host", joined(l.hosts_of_ranks, {}, ","), "--map-by", "seq"});
        else if (!l.host_file.empty())
            words.insert(words.end(), {"--hostfile", l.host_file, "--map-by", "ppr:" + std::to_string(l.ranks_per_host) + ":node"});
        if (l.as_root) words.emplace_back("--allow-run-as-root");
    }
    words.insert(words.end(), l.options.begin(), l.options.end());
    words.insert(words.end(), l.program.begin(), l.program.end());
    return words;
}

std::string shell_line(const std::vector<std::string>& words) { return joined(words, shell_word, " "); }

std::string slurm_header(std::string job_name, const std::vector<std::string>& options) {
    std::ranges::replace_if(
        job_name, [](unsigned char c) { return c <= ' ' || c == '"' || c >= 0x7f; }, '-');
    std::string text = "#!/bin/bash\n#SBATCH --job-name=\"" + job_name + "\"\n";
    for (const std::string& option : options) text += "#SBATCH " + option + "\n";
    return text + "\nset -euo pipefail\n";
}

std::string slurm_script(const Launch& launch, const std::string& job_name, const std::filesystem::path& directory) {
    Launch l = launch;
    l.launcher = Launcher::srun;
    return slurm_header(job_name,
                        {"--nodes=" + std::to_string(l.hosts), "--ntasks=" + std::to_string(l.ranks),
                         "--ntasks-per-node=" + std::to_string(l.ranks_per_host), "--cpus-per-task=" + std::to_string(l.threads)}) +
           "cd " + shell_word(directory.string()) + "\nexec " + shell_line(command_of(l)) + "\n";
}

}  // namespace sextant
