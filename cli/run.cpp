// sextant run: the plan for real. Starts an executor on as many ranks as the plan has, and shows what it measured; with --compare beside
// what was predicted.
#include "cli/commands.hpp"
#include "cli/executor.hpp"
#include "cli/hosts.hpp"
#include "cli/output_option.hpp"
#include "cli/progress.hpp"
#include "cli/scratch_folder.hpp"
#include "cli/show_comparison.hpp"
#include "cli/trace_file.hpp"
#include "cli/whole_number.hpp"
#include "cli/writable.hpp"
#include "model/base/grouped_digits.hpp"
#include "model/io/format/replace_file.hpp"
#include "model/io/format/separate_files.hpp"
#include "model/io/profile/processor_info.hpp"
#include "model/io/trace/run_reader.hpp"
#include "model/io/trace/run_writer.hpp"
#include "model/sextant.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <optional>

namespace sextant {
namespace {

namespace fs = std::filesystem;

constexpr int most_threads = 1'000'000;  // that a machine has so many, it says itself

struct RunOptions {
    ExecutorJob job;
    ReportOptions report;
    std::string out, trace, print_launch;
    bool compare = false, progress = false;
};

void print_launch(const RunOptions& o, const Scenario& scenario) {
    ExecutorJob job = o.job;
    job.out = o.out.empty() ? "run.json" : o.out;
    if (o.print_launch == "slurm")
        std::cout << slurm_script(launch_of(job, scenario, Launcher::srun), scenario.name, std::filesystem::current_path());
    else
        std::cout << shell_line(command_of(launch_of(job, scenario, Launcher::mpirun))) << '\n';
}

ExitCode show(const RunOptions& o, const Scenario& scenario, const RunRecord& record, const std::vector<Condition>& conditions) {
    if (o.compare) return show_comparison(scenario, record, o.report, conditions, o.trace);
    if (!o.trace.empty()) write_trace_file(record.trace, o.trace);
    std::cout << (o.report.json() ? run_to_json(record) : run_to_text(record, scenario));
    return ExitCode::done;
}

// Whatever happens to the ranks, a record appears whole or not at all.
void keep(const fs::path& record, const fs::path& as) {
    replace_file(as, [&](const fs::path& aside) {
        std::error_code error;
        if (!fs::copy_file(record, aside, fs::copy_options::overwrite_existing, error))
            throw BackendError("cannot write " + as.string() + ": " + error.message());
    });
}

// Ranks that have to share cores here, and not on the scenario's hardware, are slower than predicted; no report could tell why.
void note_missing_cores(const Launch& launch, const Scenario& scenario) {
    const int nodes = std::ranges::max(nodes_of_ranks(scenario)) + 1;
    const int here = usable_cores(), there = nodes * scenario.cluster.node.host.cores;
    if (here >= std::min(launch.ranks * launch.threads, there)) return;
    std::cerr << "note: " << counted(launch.ranks, "rank") << " share " << counted(here, "core")
              << " here, where the scenario's hardware has " << there << ": a step takes longer than predicted\n";
}

ExitCode run_for_real(const RunOptions& o) {
    if (!o.report.fail_if.empty() && !o.compare)
        throw InputError(Diagnostic{"--fail-if", "", "a run alone has nothing that could fail", "add --compare"});
    const Scenario scenario = o.job.scenario.load({o.out, o.trace});
    const std::vector<Condition> conditions = fail_conditions(o.report.fail_if, [&] { return comparable_quantities(scenario); });
    if (!o.print_launch.empty()) {
        print_launch(o, scenario);
        return ExitCode::done;
    }
    check_host_file(o.job.host_file);
    check_apart({o.out, o.trace}, {o.job.host_file});
    check_writable(o.out);
    o.compare ? check_timelines_file(o.trace) : check_trace_file(o.trace);
    const Launcher launcher = usual_launcher();
    // Rank 0 writes the record, maybe on another host: what hosts share is the folder at hand.
    const bool here = launcher == Launcher::mpirun && o.job.host_file.empty() && o.job.launcher.empty();
    const ScratchFolder scratch(here ? temporary_folder() : fs::current_path());
    ExecutorJob job = o.job;
    job.out = scratch.path() / "run.json";
    const Launch launch = launch_of(job, scenario, launcher);
    if (const ExitCode refusal = ask(launch, here); refusal != ExitCode::done) return refusal;
    if (here && job.backend == "cpu") note_missing_cores(launch, scenario);
    std::optional<Progress> progress(std::in_place, "training on " + counted(launch.ranks, "rank"), job.steps, STDERR_FILENO, o.progress);
    const ExitCode end = execute(launch, [&](std::size_t done, std::size_t steps) {
        progress->set_total(steps);
        progress->show(done);
    });
    progress.reset();
    if (end != ExitCode::done) return end;
    if (!o.out.empty()) keep(job.out, o.out);
    return show(o, scenario, load_run(job.out), conditions);
}

// CLI::PositiveNumber takes NaN and infinity.
CLI::Validator finite_and_positive() {
    const auto problem_of = [](const std::string& text) {
        double value = 0;
        const bool is_number = CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value > 0;
        return is_number ? std::string() : "\"" + text + "\" is no number above zero";
    };
    return CLI::Validator(problem_of, "POSITIVE");
}

}  // namespace

void add_run(CLI::App& app, ExitCode& exit_code) {
    auto* command =
        app.add_subcommand("run", "train for real under a scenario's plan; --compare shows prediction and measurement side by side");
    auto options = std::make_shared<RunOptions>();
    ExecutorJob& job = options->job;
    job.scenario.add_to(*command);
    options->report.add_to(*command);
    command->add_option("--backend", job.backend, "run on CPU cores or GPUs")->check(CLI::IsMember({"cpu", "cuda"}));
    command->add_option("--steps", job.steps, "training steps")->check(CLI::Range(1, 1'000'000));
    command->add_flag("--compare", options->compare, "compare prediction and measurement");
    command->add_flag("--operators", job.operators, "time each operator too, which slows the run slightly");
    add_output(*command, "--out", options->out, "keep the record of the run", "RUN.json");
    add_output(*command, "--trace", options->trace, "write the timeline: FILE.json for Perfetto, FILE.h5 as columns", "FILE");
    command->add_option("--threads", job.threads, "compute threads of each rank")->check(whole_number(1, most_threads))->type_name("N");
    command->add_option("--seed", job.seed, "random seed of weights and data")->check(whole_number())->type_name("N");
    command->add_option("--learning-rate", job.learning_rate, "default: the usual one of the optimizer")->check(finite_and_positive());
    auto* data =
        command->add_option("--data", job.data, "dataset to train on (sextant data make); default: synthetic samples")->type_name("PATH");
    command->add_option("--data-workers", job.data_workers, "loader threads of each rank, which read and decode")
        ->check(whole_number(1, most_threads))
        ->type_name("N")
        ->needs(data);
    auto* stage =
        command->add_option("--stage", job.stage, "copy the dataset to this local directory of each host first, and remove it at the end")
            ->type_name("DIR")
            ->needs(data);
    command->add_option("--stage-mode", job.stage_mode, "copy, or untar (unpack an archive there); default: copy")
        ->check(CLI::IsMember({"copy", "untar"}))
        ->needs(stage);
    command->add_option("--bad-samples", job.bad_samples, "what to do with damaged samples")
        ->check(CLI::IsMember({"fail", "skip"}))
        ->needs(data);
    command->add_option("--hostfile", job.host_file, "hosts, in the format of mpirun; default: this machine")->type_name("FILE");
    command->add_option("--launch-option", job.launch_options, "one more argument for mpirun or srun (repeatable)")
        ->take_all()
        ->type_name("WORD");
    command->add_option("--launcher", job.launcher, "command that starts the ranks, instead of mpirun or srun; -n RANKS is added")
        ->type_name("WORDS")
        ->excludes("--hostfile");
    command->add_flag("--progress", options->progress, "report each step on stderr, one line each, for other programs");
    command->add_option("--print-launch", options->print_launch, "print the command (mpirun) or batch script (slurm), and run nothing")
        ->check(CLI::IsMember({"mpirun", "slurm"}));
    command->callback([options, &exit_code] { exit_code = run_for_real(*options); });
}

}  // namespace sextant
