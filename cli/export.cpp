// sextant export: what torchrun, Megatron-LM, DeepSpeed or Slurm are told so that they run a scenario's plan.
#include "cli/commands.hpp"
#include "cli/launch.hpp"
#include "cli/output_option.hpp"
#include "cli/scenario_options.hpp"
#include "cli/writable.hpp"
#include "model/io/format/replace_file.hpp"
#include "model/io/search/plan_export.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>

namespace sextant {
namespace {

struct ExportOptions {
    std::string system, launch = "torchrun", script, out;
    ScenarioOptions scenario;
};

ExportedLaunch launch_for(const std::string& system, const Scenario& scenario, const std::string& script) {
    ExportedLaunch launch = system == "megatron"    ? megatron_launch(scenario)
                            : system == "deepspeed" ? deepspeed_launch(scenario)
                                                    : torchrun_launch(scenario);
    if (!script.empty()) launch.script = script;
    return launch;
}

std::string comments(const std::vector<std::string>& notes) {
    std::string text;
    for (const std::string& note : notes) text += "# " + note + "\n";
    return text;
}

std::string exports(const ExportedLaunch& launch) {
    std::string text;
    for (const auto& [name, value] : launch.environment) text += "export " + name + "=" + shell_line({value}) + "\n";
    return text;
}

// The program and its flags, a line each.
std::string program(const ExportedLaunch& launch, const std::string& indent) {
    std::string text = indent + shell_line({launch.script});
    for (const auto& words : launch.arguments) text += " \\\n" + indent + "  " + shell_line(words);
    return text + "\n";
}

// Options as in https://docs.pytorch.org/docs/stable/elastic/run.html.
std::string torchrun_script(const ExportedLaunch& launch) {
    const std::string per_node = " --nproc-per-node=" + std::to_string(launch.per_node);
    const std::string ranks = launch.nodes == 1 ? "torchrun --standalone" + per_node
                                                : "torchrun --nnodes=" + std::to_string(launch.nodes) + per_node +
                                                      " --rdzv-backend=c10d --rdzv-endpoint=\"$MASTER_ADDR:29400\"";
    const std::string everywhere =
        launch.nodes == 1 ? "" : "# on each of the " + std::to_string(launch.nodes) + " nodes, with MASTER_ADDR the name of the first\n";
    return "#!/bin/bash\n" + comments(launch.notes) + everywhere + exports(launch) + ranks + " \\\n" + program(launch, "  ");
}

// Whole nodes are for the job alone; of others it takes its part of the cores. Ranks that exchange within layers or between stages want to
// be near each other.
std::vector<std::string> slurm_options(const ExportedLaunch& launch, const Scenario& s) {
    const NodeSpec& node = s.cluster.node;
    const bool on_cores = node.device.kind == DeviceKind::cpu;
    std::vector<std::string> options{"--nodes=" + std::to_string(launch.nodes), "--ntasks-per-node=1"};
    if (!on_cores) options.push_back("--gpus-per-node=" + std::to_string(launch.per_node));
    if (const int cores = on_cores ? launch.per_node : launch.cores; cores > 0)
        options.push_back("--cpus-per-task=" + std::to_string(cores));
    if (launch.per_node == node.devices) options.emplace_back("--exclusive");
    const bool cuts_the_model = s.plan.tp * s.plan.pp * s.plan.cp > 1;
    if (cuts_the_model && launch.nodes > 1 && launch.nodes <= s.cluster.fabric.nodes_per_leaf) options.emplace_back("--switches=1");
    return options;
}

// Copies or unpacks the samples on every node, and removes them at the end.
std::string staging_lines(const DataSource& data) {
    if (data.synthetic || (data.staging.mode != StagingMode::copy && data.staging.mode != StagingMode::untar)) return {};
    const bool unpacks = data.staging.mode == StagingMode::untar;
    return "\n# Staged as the plan says: DATA names " + std::string(unpacks ? "the tarball" : "the samples") + " on " + data.storage->name +
           ", and the program is to read $STAGED.\n" + ": \"${DATA:?what is to be staged}\"\n" +
           "export STAGED=${TMPDIR:-/tmp}/sextant-$SLURM_JOB_ID\n" + "trap 'srun --ntasks-per-node=1 rm -rf \"$STAGED\"' EXIT\n" +
           "srun --ntasks-per-node=1 mkdir -p \"$STAGED\"\n" + "srun --ntasks-per-node=1 " +
           (unpacks ? "tar -xf \"$DATA\" -C \"$STAGED\"" : "cp -r \"$DATA\" \"$STAGED\"") + "\n\n";
}

// One torchrun on each node, which starts the ranks there; options as in https://slurm.schedmd.com/sbatch.html.
std::string slurm_torchrun_script(const ExportedLaunch& launch, const Scenario& s) {
    const std::string nodes = std::to_string(launch.nodes), per_node = std::to_string(launch.per_node);
    return slurm_header(s.name, slurm_options(launch, s)) + comments(launch.notes) + exports(launch) + staging_lines(s.data) +
           "hosts=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\")\n" + "MASTER_ADDR=${hosts%%$'\\n'*}\n" +
           "srun torchrun --nnodes=" + nodes + " --nproc-per-node=" + per_node +
           " --rdzv-id=\"$SLURM_JOB_ID\" --rdzv-backend=c10d --rdzv-endpoint=\"$MASTER_ADDR:29400\" \\\n" + program(launch, "  ");
}

std::string text_of(const ExportOptions& o, const Scenario& scenario) {
    if (o.system == "slurm") return slurm_torchrun_script(launch_for(o.launch, scenario, o.script), scenario);
    if (o.system != "deepspeed") return torchrun_script(launch_for(o.system, scenario, o.script));
    const ExportedConfig config = deepspeed_config(scenario);
    for (const std::string& note : config.notes) std::cerr << "note: " << note << '\n';  // JSON has no comments
    return config.json;
}

// An option that the system has no use for is a mistake of whoever wrote it.
void check_options(const ExportOptions& o, bool names_launch) {
    Diagnostics problems;
    if (names_launch && o.system != "slurm")
        problems.add({"--launch " + o.launch, "", "only a script for Slurm starts something else", "export slurm"});
    if (!o.script.empty() && o.system == "deepspeed")
        problems.add({"--script " + o.script, "", "DeepSpeed's configuration names no program", "export slurm --launch deepspeed"});
    problems.throw_if_any();
}

ExitCode run_export(const ExportOptions& o) {
    check_writable(o.out);
    const Scenario scenario = o.scenario.load();
    const std::string text = text_of(o, scenario);
    if (o.out.empty())
        std::cout << text;
    else
        replace_text_file(o.out, text);
    if (estimate(prepare(scenario)).fits()) return ExitCode::done;
    std::cerr << "note: this plan does not fit in memory\n";
    return ExitCode::does_not_fit;
}

}  // namespace

void add_export(CLI::App& app, ExitCode& exit_code) {
    auto* command = app.add_subcommand("export", "a scenario's plan in the words of torchrun, Megatron-LM, DeepSpeed or Slurm");
    auto options = std::make_shared<ExportOptions>();
    command->add_option("system", options->system, "whose words")
        ->required()
        ->check(CLI::IsMember({"torchrun", "megatron", "deepspeed", "slurm"}));
    options->scenario.add_to(*command);
    auto* launch = command->add_option("--launch", options->launch, "what a Slurm script starts");
    launch->check(CLI::IsMember({"torchrun", "megatron", "deepspeed"}));
    command->add_option("--script", options->script, "your training program")->type_name("FILE.py");
    add_output(*command, "--out", options->out, "write to a file", "FILE");
    command->callback([options, launch, &exit_code] {
        check_options(*options, launch->count() > 0);
        exit_code = run_export(*options);
    });
}

}  // namespace sextant
