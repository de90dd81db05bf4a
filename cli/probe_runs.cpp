#include "cli/probe_runs.hpp"

#include "cli/executor.hpp"
#include "model/io/format/replace_file.hpp"
#include "model/io/format/text_file.hpp"
#include "model/io/profile/profile_writer.hpp"
#include "model/io/trace/run_reader.hpp"

#include <optional>

namespace sextant {
namespace {

namespace fs = std::filesystem;

// "products 64 x 256 x 256.3.run"
fs::path record_of(const ProbeSeries& series, const Probe& probe, int pass) {
    return series.folder / (probe.name + "." + std::to_string(pass) + ".run");
}

int passes_there(const ProbeSeries& series, const Probe& probe) {
    int passes = 0;
    while (fs::exists(record_of(series, probe, passes + 1))) ++passes;
    return passes;
}

fs::path scenario_of(const ProbeSeries& series, const Probe& probe) { return series.folder / (probe.name + ".json"); }

// Some probes of a series, and where they run.
struct ProbePlaces {
    const std::vector<Probe>& probes;
    std::optional<int> hosts;  // of those that the guessed profile has; absent: it has one
    std::string host_file;     // empty: this machine
};

ProbePlaces places_of(const ProbedMachine& m, ProbesOf which) {
    if (which == ProbesOf::network) return {m.network_probes, m.guess.nodes, m.host_file};
    return {m.probes, m.network_probes.empty() ? std::nullopt : std::optional(1), {}};
}

// The scenarios of the probes, written beside their records. What is kept there from another version may be of other probes.
std::vector<Scenario> write_scenarios(Library& library, const ProbeSeries& series, const ProbePlaces& places) {
    const fs::path machine = "machine.json";  // beside them, so that the folder can be carried elsewhere
    replace_text_file(series.folder / machine, cluster_to_profile(series.machine.guess));
    Diagnostics problems;
    std::vector<Scenario> scenarios;
    for (const Probe& probe : places.probes) {
        const fs::path file = scenario_of(series, probe);
        const std::string text = probe_to_scenario(probe, machine, places.hosts);
        if (passes_there(series, probe) == 0)
            replace_text_file(file, text);
        else if (read_text_file(file, problems) != text)
            problems.add({file.string(), "", "the runs that are kept here are of another probe of this name", "another folder"});
        if (problems.empty()) scenarios.push_back(load_scenario(library, file));
    }
    problems.throw_if_any();
    return scenarios;
}

ExecutorJob job_of(const ProbeSeries& series, const Probe& probe, const std::string& host_file) {
    ExecutorJob job;
    job.backend = series.machine.backend;
    job.scenario.scenario = scenario_of(series, probe).string();
    job.scenario.profiles = series.profiles;
    job.steps = series.steps;
    job.operators = series.machine.backend == "cpu";  // of GPUs, marks between kernels would take their part
    job.out = record_of(series, probe, passes_there(series, probe) + 1);
    job.host_file = host_file;
    return job;
}

// The runs of all passes that the folder has, also of earlier calibrations.
std::vector<ProbeRun> kept_runs(const ProbeSeries& series, const std::vector<Probe>& probes, const std::vector<Scenario>& scenarios) {
    std::vector<ProbeRun> runs;
    for (std::size_t i = 0; i < probes.size(); ++i) {
        const Probe& probe = probes[i];
        for (int pass = 1; pass <= passes_there(series, probe); ++pass)
            runs.push_back(probe_run(probe.name, scenarios[i], load_run(record_of(series, probe, pass))));
    }
    return runs;
}

}  // namespace

std::vector<ProbeRun> run_probes(Library& library, const ProbeSeries& series, ProbesOf which, const std::function<void()>& progress) {
    fs::create_directories(series.folder);
    const ProbePlaces places = places_of(series.machine, which);
    const std::vector<Scenario> scenarios = write_scenarios(library, series, places);
    for (int pass = 0; pass < series.passes; ++pass)
        for (std::size_t i = 0; i < places.probes.size(); ++i) {
            const Probe& probe = places.probes[i];
            const Launch launch = launch_of(job_of(series, probe, places.host_file), scenarios[i], Launcher::mpirun);
            if (execute(launch, [](std::size_t, std::size_t) {}) != ExitCode::done)
                throw BackendError("the probe \"" + probe.name + "\" did not run");
            progress();
        }
    return kept_runs(series, places.probes, scenarios);
}

}  // namespace sextant
