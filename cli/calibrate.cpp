// sextant calibrate: runs small jobs on this machine and fits its profile to them.
#include "cli/commands.hpp"
#include "cli/executor.hpp"
#include "cli/machine.hpp"
#include "cli/progress.hpp"
#include "cli/scratch_folder.hpp"
#include "cli/writable.hpp"
#include "model/io/calibration_writer.hpp"
#include "model/io/probe_reader.hpp"
#include "model/io/profile_writer.hpp"
#include "model/io/replace_file.hpp"
#include "model/io/run_reader.hpp"
#include "model/sextant.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>

namespace sextant {
namespace {

namespace fs = std::filesystem;

constexpr int passes = 3, steps = 12, quick_steps = 8;
constexpr double too_noisy = 0.3;   // of a step, relative: no fit could tell one parameter from another
constexpr double too_shared = 0.3;  // of the cores' time, by others: the profile would be theirs too

struct CalibrateOptions {
    std::string out, profiles, format = "text";
    std::vector<std::string> from;
    bool quick = false, progress = false;
};

void write_text(const fs::path& path, const std::string& text) {
    replace_text_file(path, [&](std::ostream& out) { out << text; });
}

std::vector<Probe> probes_for(const Library& library, int cores, bool quick) {
    std::vector<Probe> probes = load_probes(library.root / "calibration" / "probes.json");
    std::erase_if(probes, [&](const Probe& p) { return (cores * p.ranks_per_device) % p.cut != 0 || (quick && !p.quick); });
    return probes;
}

// One after the other, and all of them again: what changes while they run spreads over all.
std::vector<ProbeRun> run_probes(Library& library, const std::vector<Probe>& probes, const CalibrateOptions& o, const fs::path& cluster,
                                 const fs::path& folder) {
    const int rounds = o.quick ? 1 : passes;
    Progress progress("calibrating", static_cast<std::size_t>(rounds) * probes.size(), STDERR_FILENO, o.progress);
    std::vector<ProbeRun> runs;
    for (int round = 0; round < rounds; ++round)
        for (const Probe& probe : probes) {
            ExecutorJob job;
            job.scenario.scenario = (folder / "probe.json").string();
            job.scenario.profiles = o.profiles;
            job.steps = o.quick ? quick_steps : steps;
            job.out = folder / "run.json";
            write_text(job.scenario.scenario, probe_to_scenario(probe, cluster));
            const Scenario scenario = load_scenario(library, job.scenario.scenario);
            if (execute(launch_of(job, scenario, Launcher::mpirun), [](std::size_t) {}) != ExitCode::done)
                throw BackendError("the probe \"" + probe.name + "\" did not run");
            runs.push_back(probe_run(probe.name, scenario, load_run(job.out)));
            progress.show(runs.size());
        }
    return runs;
}

void run_calibrate(const CalibrateOptions& o) {
    check_writable(o.out);
    Library library = open_library(o.profiles);
    const MachineFacts machine = facts_of_this_machine();
    const ScratchFolder scratch;
    const fs::path guess = scratch.path() / "machine.json";
    write_text(guess, cluster_to_profile(guessed_cluster(library, machine)));
    const CoreTime before = core_time();
    const auto began = std::chrono::steady_clock::now();
    const std::vector<ProbeRun> runs = run_probes(library, probes_for(library, machine.cores, o.quick), o, guess, scratch.path());
    const CoreTime after = core_time();
    const double cores = machine.cores * std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    Calibration found = calibrate(runs, cpu_parameters(),
                                  "sextant calibrate" + std::string(o.quick ? " --quick" : "") + " on " + machine.host + ", " + today());
    found.others = std::max(0.0, ((after.all - before.all) - (after.ours - before.ours)) / (cores * units::s));
    if (found.noise > too_noisy || found.others > too_shared)
        throw BackendError("this machine is too busy to be measured: the steps of a run differ by " + percent_text(found.noise, 2) +
                           " from each other, and other programs took " + percent_text(found.others, 2) +
                           " of its cores; nothing was written");
    write_text(o.out, cluster_to_profile(calibrated_cluster(found, machine, today())));
    std::cout << calibration_to_text(found) << "\nwritten to " << o.out
              << "; use it by --set hardware.cluster=" << fs::absolute(o.out).string() << '\n';
}

// Passes over the runs that a fit takes; how many is not known before.
constexpr std::size_t usual_passes = 4000;

void run_fit(const CalibrateOptions& o) {
    Library library = open_library(o.profiles);
    std::optional<Progress> progress(std::in_place, "fitting", usual_passes);
    std::size_t done = 0;
    const PublishedFit found = fit_to_measurements(library, {o.from.begin(), o.from.end()}, [&] { progress->show(++done); });
    progress.reset();
    const bool json = o.format == "json";
    if (found.training) std::cout << (json ? training_fit_to_json(*found.training) : training_fit_to_text(*found.training));
    if (found.libraries) std::cout << (json ? library_fit_to_json(*found.libraries) : library_fit_to_text(*found.libraries));
}

}  // namespace

void add_calibrate(CLI::App& app, ExitCode& exit_code) {
    auto* command = app.add_subcommand("calibrate", "measure this machine, and write its profile");
    auto options = std::make_shared<CalibrateOptions>();
    auto* out = command->add_option("--out", options->out, "the profile")->type_name("PROFILE.json");
    command->add_flag("--quick", options->quick, "fewer runs: under 40 seconds");
    command->add_flag("--progress", options->progress, "say each run on stderr, in a line for a program that listens");
    command
        ->add_option("--from", options->from,
                     "instead: what published runs say of devices and frameworks, published calls of libraries (measurements/FORMAT.md)")
        ->type_name("FILE")
        ->excludes(out);
    command->add_option("--format", options->format, "of --from: text or json")->check(CLI::IsMember({"text", "json"}));
    command->add_option("--profiles", options->profiles, "directory of hardware profiles")->type_name("DIR");
    command->callback([options, &exit_code] {
        if (options->from.empty() && options->out.empty())
            throw InputError(Diagnostic{"calibrate", "", "it is not said where the profile goes", "--out PROFILE.json"});
        options->from.empty() ? run_calibrate(*options) : run_fit(*options);
        exit_code = ExitCode::done;
    });
}

}  // namespace sextant
