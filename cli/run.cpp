// sextant run: the plan for real. Starts an executor on as many ranks as the plan has, and shows what it measured; with --compare beside
// what was predicted.
#include "cli/child_process.hpp"
#include "cli/commands.hpp"
#include "cli/launch.hpp"
#include "cli/progress.hpp"
#include "cli/show_comparison.hpp"
#include "cli/trace_file.hpp"
#include "model/io/run_reader.hpp"
#include "model/io/run_writer.hpp"
#include "model/sextant.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>

#include <unistd.h>

namespace sextant {
namespace {

namespace fs = std::filesystem;

struct RunOptions {
    ScenarioOptions scenario;
    ReportOptions report;
    std::string backend = "cpu";
    int steps = 10;
    std::uint64_t seed = 1;
    std::optional<int> threads;
    std::optional<double> learning_rate;
    std::string out, trace, print_launch;
    std::string host_file;
    std::vector<std::string> launch_options;
    bool compare = false;
};

// A file that is gone when its owner is, unless the user asked for it by name.
class RecordFile {
public:
    explicit RecordFile(const std::string& asked_for)
        : path_(asked_for.empty() ? fs::temp_directory_path() / ("sextant-run-" + std::to_string(::getpid()) + ".json")
                                  : fs::absolute(asked_for)),
          keep_(!asked_for.empty()) {}
    RecordFile(const RecordFile&) = delete;
    RecordFile& operator=(const RecordFile&) = delete;
    ~RecordFile() {
        std::error_code none;
        if (!keep_) fs::remove(path_, none);
    }
    [[nodiscard]] const fs::path& path() const { return path_; }

private:
    fs::path path_;
    bool keep_;
};

// Executors lie beside this program.
fs::path executor_of(const std::string& backend) {
    const fs::path program = fs::read_symlink("/proc/self/exe").parent_path() / ("sextant-exec-" + backend);
    if (fs::exists(program)) return program;
    throw BackendError(program.string() + " is not there: sextant was built without what it needs (" +
                       (backend == "cpu" ? "oneDNN and MPI" : "the CUDA Toolkit, NCCL and MPI") + ")");
}

// Cores of this machine over the ranks that share it, but no more than the device that a rank stands for has.
int threads_of(const Scenario& scenario, int ranks_here) {
    const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    const int share = std::max(1, cores / ranks_here);
    const Device& device = scenario.cluster.node.device;
    return device.kind == DeviceKind::cpu ? std::min(share, std::max(1, device.multiprocessors)) : share;
}

std::vector<std::string> executor_arguments(const RunOptions& o, int threads, const fs::path& out) {
    std::vector<std::string> words{executor_of(o.backend), o.scenario.scenario};
    const auto add = [&words](const std::string& option, const std::string& value) { words.insert(words.end(), {option, value}); };
    for (const std::string& set : o.scenario.overrides) add("--set", set);
    if (!o.scenario.profiles.empty()) add("--profiles", o.scenario.profiles);
    add("--steps", std::to_string(o.steps));
    add("--seed", std::to_string(o.seed));
    add("--threads", std::to_string(threads));
    if (o.learning_rate) add("--learning-rate", CLI::detail::to_string(*o.learning_rate));
    add("--out", out.string());
    return words;
}

Launch launch_of(const RunOptions& o, const Scenario& scenario, const fs::path& out) {
    const RunLayout layout = run_layout(scenario);
    Launch l;
    l.launcher = usual_launcher();
    l.ranks = layout.ranks;
    l.ranks_per_host = layout.ranks_per_node;
    l.host_file = o.host_file;
    l.as_root = ::geteuid() == 0;
    l.options = o.launch_options;
    const bool one_host = l.launcher == Launcher::mpirun && o.host_file.empty() && o.print_launch != "slurm";
    l.threads = o.threads.value_or(threads_of(scenario, one_host ? l.ranks : l.ranks_per_host));
    l.program = executor_arguments(o, l.threads, out);
    return l;
}

void print_launch(const RunOptions& o, const Scenario& scenario) {
    Launch launch = launch_of(o, scenario, fs::absolute(o.out.empty() ? "run.json" : o.out));
    if (o.print_launch == "slurm") {
        std::cout << slurm_script(launch, scenario.name, fs::current_path());
        return;
    }
    launch.launcher = Launcher::mpirun;
    std::cout << shell_line(command_of(launch)) << '\n';
}

// What the executor said on stderr is the reason of any other end. It says "step 3" on stdout when it has done three.
ExitCode execute(const Launch& launch, int steps) {
    std::optional<Progress> progress(std::in_place, "training on " + std::to_string(launch.ranks) + " ranks", steps);
    const ChildExit end = run_child(command_of(launch), [&](const std::string& line) {
        if (line.starts_with("step "))
            progress->show(std::strtoul(line.c_str() + 5, nullptr, 10));
        else
            std::cerr << line << '\n';
    });
    progress.reset();
    for (const ExitCode known : {ExitCode::done, ExitCode::wrong_input, ExitCode::does_not_fit})
        if (end.code == static_cast<int>(known)) return known;
    throw BackendError("the run did not come to its end: " + command_of(launch)[0] + " ended with " + std::to_string(end.code));
}

ExitCode run_for_real(const RunOptions& o) {
    const std::vector<Condition> conditions = parse_conditions(o.report.fail_if);
    const Scenario scenario = o.scenario.load();
    if (!o.print_launch.empty()) {
        print_launch(o, scenario);
        return ExitCode::done;
    }
    const RecordFile file(o.out);
    const ExitCode end = execute(launch_of(o, scenario, file.path()), o.steps);
    if (end != ExitCode::done) return end;
    const RunRecord record = load_run(file.path());
    if (o.compare) return show_comparison(scenario, record, o.report, conditions, o.trace);
    if (!o.trace.empty()) write_trace_file(record.trace, o.trace);
    std::cout << (o.report.json() ? run_to_json(record) : run_to_text(record, scenario));
    return ExitCode::done;
}

}  // namespace

void add_run(CLI::App& app, ExitCode& exit_code) {
    auto* command = app.add_subcommand("run", "train for real under a scenario's plan; with --compare beside the prediction");
    auto options = std::make_shared<RunOptions>();
    options->scenario.add_to(*command);
    options->report.add_to(*command);
    command->add_option("--backend", options->backend, "what computes")->check(CLI::IsMember({"cpu", "cuda"}));
    command->add_option("--steps", options->steps, "to train")->check(CLI::Range(1, 1'000'000));
    command->add_flag("--compare", options->compare, "show prediction beside measurement");
    command->add_option("--out", options->out, "keep the record of the run")->type_name("RUN.json");
    command->add_option("--trace", options->trace, "write the timeline: FILE.json for Perfetto, FILE.h5 as columns")->type_name("FILE");
    command->add_option("--threads", options->threads, "of each rank that compute")->check(CLI::PositiveNumber);
    command->add_option("--seed", options->seed, "of weights and data")->type_name("N");
    command->add_option("--learning-rate", options->learning_rate, "instead of the optimizer's usual")->check(CLI::PositiveNumber);
    command->add_option("--hostfile", options->host_file, "hosts, as mpirun reads them; none: this machine")->type_name("FILE");
    command->add_option("--launch-option", options->launch_options, "one more word for mpirun or srun (repeatable)")
        ->take_all()
        ->type_name("WORD");
    command->add_option("--print-launch", options->print_launch, "write the command (mpirun) or batch script (slurm), and run nothing")
        ->check(CLI::IsMember({"mpirun", "slurm"}));
    command->callback([options, &exit_code] { exit_code = run_for_real(*options); });
}

}  // namespace sextant
