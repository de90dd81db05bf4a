#include "cli/executor.hpp"

#include "cli/child_process.hpp"
#include "cli/hosts.hpp"
#include "cli/rank_output_filter.hpp"
#include "cli/scratch_folder.hpp"
#include "model/base/diagnostics.hpp"
#include "model/io/profile/processor_info.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include <unistd.h>

namespace sextant {
namespace {

namespace fs = std::filesystem;

int threads_of(const Scenario& scenario, int ranks_here) {
    const int cores = usable_cores();
    const int share = std::max(1, cores / ranks_here);
    const Device& device = scenario.cluster.node.device;
    return device.kind == DeviceKind::cpu ? std::min(share, std::max(1, device.multiprocessors)) : share;
}

std::vector<std::string> arguments_of(const ExecutorJob& job, int threads) {
    std::vector<std::string> words{executor_of(job.backend), job.scenario.scenario};
    const auto add = [&words](const std::string& option, const std::string& value) { words.insert(words.end(), {option, value}); };
    for (const std::string& set : job.scenario.overrides) add("--set", set);
    if (!job.scenario.profiles.empty()) add("--profiles", job.scenario.profiles);
    add("--steps", std::to_string(job.steps));
    add("--seed", std::to_string(job.seed));
    add("--threads", std::to_string(threads));
    if (job.learning_rate) {
        std::ostringstream exact;
        exact.precision(17);
        exact << *job.learning_rate;
        add("--learning-rate", exact.str());
    }
    if (!job.data.empty()) add("--data", fs::absolute(job.data).string());
    if (job.data_workers) add("--data-workers", std::to_string(*job.data_workers));
    if (!job.stage.empty()) add("--stage", job.stage);
    if (!job.stage_mode.empty()) add("--stage-mode", job.stage_mode);
    if (!job.bad_samples.empty()) add("--bad-samples", job.bad_samples);
    if (job.operators) words.emplace_back("--operators");
    add("--out", fs::absolute(job.out).string());
    return words;
}

// Open MPI 4.1 keeps what it notes of all jobs of a user in one folder of the host, and fails where another job makes that folder in the
// same moment. The memory that ranks share are files of /dev/shm, which stay when ranks are killed. So a job on this machine has folders of
// its own for both, gone with it, where nobody has words of their own for mpirun. Open MPI 5 calls `sm` what was `vader`.
constexpr auto sessions_of_mpirun = "orte_tmpdir_base";
constexpr auto shared_memory = "/dev/shm";
bool shares_folders(const Launch& l) {
    const bool usual = l.launcher == Launcher::mpirun && l.command.empty() && l.host_file.empty() && l.options.empty();
    return usual && std::getenv(("OMPI_MCA_" + std::string(sessions_of_mpirun)).c_str()) == nullptr;
}

// Where that is not there, mpirun waits for ever. Two ranks need between 8 and 12 MiB of Open MPI 4.1.
constexpr std::uintmax_t room_of_sessions = std::uintmax_t{16} << 20;
void check_room(const fs::path& sessions) {
    std::error_code wrong;
    const fs::space_info space = fs::space(sessions, wrong);
    if (!wrong && space.available < room_of_sessions)
        throw BackendError("no room for what mpirun notes of a job: " + sessions.parent_path().string() + " has " +
                           std::to_string(space.available >> 20) + " MiB left, and 16 are needed; TMPDIR may name another folder");
}

class FoldersOfMpirun {
public:
    FoldersOfMpirun() {
        check_room(sessions_.path());
        if (::access(shared_memory, W_OK) == 0) memory_.emplace(shared_memory);
    }
    [[nodiscard]] std::vector<std::string> options() const {
        std::vector<std::string> words{"--mca", sessions_of_mpirun, sessions_.path().string()};
        if (memory_)
            for (const char* files : {"btl_vader_backing_directory", "btl_sm_backing_directory"})
                words.insert(words.end(), {"--mca", files, memory_->path().string()});
        return words;
    }

private:
    ScratchFolder sessions_;
    std::optional<ScratchFolder> memory_;
};

}  // namespace

fs::path executor_of(const std::string& backend) {
    return program_beside("sextant-exec-" + backend,
                          backend == "cpu" ? "oneDNN and MPI: libdnnl-dev, libopenmpi-dev"
                                           : "the CUDA Toolkit of NVIDIA, 12 or 13, with cuDNN and NCCL, and what --backend cpu needs; "
                                             "-DCMAKE_CUDA_COMPILER=/usr/local/cuda/bin/nvcc where CMake does not find it");
}

Launch launch_of(const ExecutorJob& job, const Scenario& scenario, Launcher launcher) {
    Launch l;
    l.launcher = launcher;
    l.ranks = run_layout(scenario).ranks;
    l.host_file = job.host_file;
    l.as_root = ::geteuid() == 0;
    l.options = job.launch_options;
    std::istringstream words(job.launcher);
    for (std::string word; words >> word;) l.command.push_back(word);
    place(l, scenario);
    const bool one_host = launcher == Launcher::mpirun && job.host_file.empty();
    l.threads = job.threads.value_or(threads_of(scenario, one_host ? l.ranks : l.ranks_per_host));
    l.program = arguments_of(job, l.threads);
    return l;
}

ExitCode ask(const Launch& launch, bool here) {
    std::vector<std::string> question = launch.program;
    question.emplace_back("--check");
    if (here) question.emplace_back("--here");
    const int answer = run_child(question, [](const std::string&) {});
    for (const ExitCode refusal : {ExitCode::wrong_input, ExitCode::machine_refused, ExitCode::defect})
        if (answer == static_cast<int>(refusal)) return refusal;
    return ExitCode::done;
}

ExitCode execute(const Launch& launch, const std::function<void(std::size_t, std::size_t)>& progress) {
    std::vector<std::string> words = command_of(launch);
    const std::string starter = words[0];
    std::optional<FoldersOfMpirun> folders;
    if (shares_folders(launch)) {
        const std::vector<std::string> options = folders.emplace().options();
        words.insert(words.begin() + 1, options.begin(), options.end());
    }
    RankOutputFilter output(std::cerr);
    const auto hear = [&](const std::string& line) {
        constexpr std::string_view begin = "step ", between = " of ";  // "step 3 of 10": so many are done
        if (!line.starts_with(begin)) return output.pass(line);
        char* rest = nullptr;
        const std::size_t done = std::strtoul(line.c_str() + begin.size(), &rest, 10);
        progress(done, std::string_view(rest).starts_with(between) ? std::strtoul(rest + between.size(), nullptr, 10) : done);
    };
    const int end = run_child(words, hear, ChildStderr::heard);
    for (const ExitCode known : {ExitCode::done, ExitCode::wrong_input, ExitCode::does_not_fit, ExitCode::defect})
        if (end == static_cast<int>(known)) {  // a rank said why
            output.end(true);
            return known;
        }
    output.end(false);
    throw BackendError("the run did not come to its end: " + starter + " ended with " + std::to_string(end));
}

}  // namespace sextant
