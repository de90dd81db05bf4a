// sextant export: what other systems are told so that they run a scenario's plan.
#include "cli/commands.hpp"
#include "cli/container.hpp"
#include "cli/launch.hpp"
#include "cli/output_option.hpp"
#include "cli/scenario_options.hpp"
#include "cli/slurm_job.hpp"
#include "cli/writable.hpp"
#include "model/io/export/plan_export.hpp"
#include "model/io/format/replace_file.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>

namespace sextant {
namespace {

struct ExportOptions {
    std::string system, launch, script, out;  // launch: empty where nobody says
    Container container;
    ScenarioOptions scenario;
};

// What starts a program of a plan, inside a container where one is asked for.
struct Started {
    ExportedLaunch launch;
    std::string container;  // words in front of it
};

Started started_by(const std::string& system, const Scenario& scenario, const ExportOptions& o) {
    if (system == "horovod" && !o.container.docker.empty())
        throw InputError(Diagnostic{"--docker " + o.container.docker, "",
                                    "horovodrun tells ranks who they are by an environment that Docker does not hand on", "--apptainer"});
    ExportedLaunch launch = system == "megatron"    ? megatron_launch(scenario)
                            : system == "deepspeed" ? deepspeed_launch(scenario)
                            : system == "horovod"   ? horovod_launch(scenario)
                                                    : torchrun_launch(scenario);
    if (!o.script.empty()) launch.script = o.script;
    std::string container = container_words(o.container, launch, scenario);
    return {std::move(launch), std::move(container)};
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
std::string torchrun_script(const Started& started) {
    const ExportedLaunch& launch = started.launch;
    const std::string per_node = " --nproc-per-node=" + std::to_string(launch.per_node);
    const std::string ranks = launch.nodes == 1 ? "torchrun --standalone" + per_node
                                                : "torchrun --nnodes=" + std::to_string(launch.nodes) + per_node +
                                                      " --rdzv-backend=c10d --rdzv-endpoint=\"$MASTER_ADDR:29400\"";
    const std::string everywhere =
        launch.nodes == 1 ? "" : "# on each of the " + std::to_string(launch.nodes) + " nodes, with MASTER_ADDR the name of the first\n";
    return "#!/bin/bash\n" + comments(launch.notes) + everywhere + exports(launch) + started.container + ranks + " \\\n" +
           program(launch, "  ");
}

// One torchrun on each node, which starts the ranks there; options as in https://slurm.schedmd.com/sbatch.html.
std::string slurm_torchrun(const Started& started) {
    const ExportedLaunch& launch = started.launch;
    return "hosts=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\")\nMASTER_ADDR=${hosts%%$'\\n'*}\nsrun " + started.container +
           "torchrun --nnodes=" + std::to_string(launch.nodes) + " --nproc-per-node=" + std::to_string(launch.per_node) +
           " --rdzv-id=\"$SLURM_JOB_ID\" --rdzv-backend=c10d --rdzv-endpoint=\"$MASTER_ADDR:29400\" \\\n" + program(launch, "  ");
}

// Options as in https://horovod.readthedocs.io/en/stable/running_include.html. `hosts`: what sets HOSTS.
std::string horovod_command(const Started& started, const std::string& hosts) {
    const ExportedLaunch& launch = started.launch;
    const std::string ranks = "horovodrun -np " + std::to_string(launch.nodes * launch.per_node) + " -H ";
    if (launch.nodes == 1)
        return ranks + "localhost:" + std::to_string(launch.per_node) + " " + started.container + "python \\\n" + program(launch, "  ");
    return hosts + ranks + "\"$HOSTS\" " + started.container + "python \\\n" + program(launch, "  ");
}

std::string horovod_script(const Started& started) {
    const ExportedLaunch& launch = started.launch;
    const std::string slots = ":" + std::to_string(launch.per_node);
    return "#!/bin/bash\n" + comments(launch.notes) + exports(launch) +
           horovod_command(started, ": \"${HOSTS:?as in first" + slots + ",second" + slots + "}\"\n");
}

// Where nobody says what a script for Slurm starts.
std::string launch_of(const Framework& framework) {
    if (framework.starter == RankStarter::horovodrun) return "horovod";
    switch (framework.program) {
        case TrainingProgram::megatron: return "megatron";
        case TrainingProgram::deepspeed: return "deepspeed";
        case TrainingProgram::yours: break;
    }
    return "torchrun";
}

std::string text_of(const ExportOptions& o, const Scenario& scenario) {
    if (o.system == "slurm") {
        const std::string system = o.launch.empty() ? launch_of(scenario.framework) : o.launch;
        const bool horovod = system == "horovod";
        const Started started = started_by(system, scenario, o);
        const ExportedLaunch& launch = started.launch;
        const std::string slots = ":" + std::to_string(launch.per_node);
        const std::string hosts = "HOSTS=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | sed 's/$/" + slots + "/' | paste -sd,)\n";
        return slurm_job_script(
            {launch, comments(launch.notes) + exports(launch), horovod ? horovod_command(started, hosts) : slurm_torchrun(started)},
            scenario, predict(scenario));
    }
    if (o.system == "lightning") return lightning_program(scenario);
    if (o.system == "tf-distribute") return tf_distribute_program(scenario);
    if (o.system == "horovod") return horovod_script(started_by(o.system, scenario, o));
    if (o.system != "deepspeed") return torchrun_script(started_by(o.system, scenario, o));
    const ExportedConfig config = deepspeed_config(scenario);
    for (const std::string& note : config.notes) std::cerr << "note: " << note << '\n';  // JSON has no comments
    return config.json;
}

// An option that the system has no use for is a mistake of whoever wrote it.
void check_options(const ExportOptions& o, bool names_launch) {
    Diagnostics problems;
    if (names_launch && o.system != "slurm")
        problems.add({"--launch " + o.launch, "", "only a script for Slurm starts something else", "export slurm"});
    const bool starts_nothing = o.system == "deepspeed" || o.system == "lightning" || o.system == "tf-distribute";
    if (!o.script.empty() && starts_nothing)
        problems.add({"--script " + o.script, "", "what " + o.system + " is told names no program",
                      o.system == "deepspeed" ? "export slurm --launch deepspeed" : "it is a part of your program"});
    for (const auto& [option, image] : {std::pair{"--docker ", &o.container.docker}, {"--apptainer ", &o.container.apptainer}})
        if (!image->empty() && starts_nothing)
            problems.add(
                {option + *image, "", "what " + o.system + " is told starts nothing", "export slurm, torchrun, megatron or horovod"});
    problems.throw_if_any();
}

ExitCode run_export(const ExportOptions& o) {
    check_writable(o.out);
    const Scenario scenario = o.scenario.load({o.out});
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
    auto* command = app.add_subcommand(
        "export", "export a scenario's plan to torchrun, Megatron-LM, DeepSpeed, Lightning, tf.distribute, Horovod or Slurm");
    auto options = std::make_shared<ExportOptions>();
    command->add_option("system", options->system, "system to export to")
        ->required()
        ->check(CLI::IsMember({"torchrun", "megatron", "deepspeed", "lightning", "tf-distribute", "horovod", "slurm"}));
    options->scenario.add_to(*command);
    auto* launch = command->add_option("--launch", options->launch, "launcher in the Slurm script; default: what runs the framework");
    launch->check(CLI::IsMember({"torchrun", "megatron", "deepspeed", "horovod"}));
    command->add_option("--script", options->script, "your training program")->type_name("FILE.py");
    auto* docker = command->add_option("--docker", options->container.docker, "Docker image to run in");
    docker->type_name("IMAGE");
    command->add_option("--apptainer", options->container.apptainer, "Apptainer (Singularity) image to run in")
        ->type_name("IMAGE.sif")
        ->excludes(docker);
    add_output(*command, "--out", options->out, "write to a file", "FILE");
    command->callback([options, launch, &exit_code] {
        check_options(*options, launch->count() > 0);
        exit_code = run_export(*options);
    });
}

}  // namespace sextant
