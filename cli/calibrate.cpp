// sextant calibrate: runs small jobs on this machine and fits its profile to them; or to what a cluster already has.
#include "cli/calibrate_storage.hpp"
#include "cli/commands.hpp"
#include "cli/hosts.hpp"
#include "cli/machine.hpp"
#include "cli/output_option.hpp"
#include "cli/probe_runs.hpp"
#include "cli/probed_machine.hpp"
#include "cli/progress.hpp"
#include "cli/sample_speeds.hpp"
#include "cli/scratch_folder.hpp"
#include "cli/writable.hpp"
#include "model/io/calibration/calibration_writer.hpp"
#include "model/io/format/replace_file.hpp"
#include "model/io/format/separate_files.hpp"
#include "model/io/profile/framework_writer.hpp"
#include "model/io/profile/processor_info.hpp"
#include "model/io/profile/profile_reader.hpp"
#include "model/io/profile/profile_writer.hpp"
#include "model/sextant.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>

namespace sextant {
namespace {

namespace fs = std::filesystem;

constexpr int passes = 3, steps = 12, quick_steps = 8;
constexpr double too_noisy = 0.45;  // of a step, relative: no fit could tell one parameter from another
constexpr double too_shared = 0.3;  // of the cores' time, by others: the profile would be theirs too

struct CalibrateOptions {
    std::string out, backend = "cpu", profiles, keep, host_file, cluster, library, show, picture, format = "text";
    std::optional<int> passes;
    std::vector<std::string> from;
    StorageCalibration storage;
    bool quick = false, progress = false;
};

// Beside the profile of "h200.json": "h200.framework.json".
fs::path framework_file(const std::string& out) { return fs::path(out).replace_extension(".framework.json"); }

// The fraction of the processors' time that other programs take while this machine is measured.
class OtherPrograms {
public:
    [[nodiscard]] double share() const {
        const CoreTime now = core_time();
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
        return std::max(0.0, ((now.all - before_.all) - (now.ours - before_.ours)) / (processors_ * seconds * units::s));
    }

private:
    double processors_ = static_cast<double>(given_processors().size());
    CoreTime before_ = core_time();
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

std::string source_of(const CalibrateOptions& o, const MachineFacts& machine) {
    return std::string("sextant calibrate") + (o.backend == "cuda" ? " --backend cuda" : "") + (o.quick ? " --quick" : "") + " on " +
           machine.host + (o.host_file.empty() ? "" : " and other hosts") + ", " + today();
}

// The parameters of the cores or of the GPUs, and of the network where that was measured too.
std::vector<ProfileParameter> parameters_of(const ProbedMachine& machine, const Scenario& probed) {
    if (machine.backend == "cuda") return gpu_parameters(probed);
    std::vector<ProfileParameter> list = cpu_parameters(machine.guess.node);
    if (!machine.network_probes.empty()) std::ranges::move(network_parameters(), std::back_inserter(list));
    return list;
}

struct MeasuredProbes {
    std::vector<ProbeRun> runs;
    double share_of_others = 0;  // of the cores' time, while this machine ran its own
};

MeasuredProbes measure(Library& library, const ProbeSeries& series, bool lines) {
    const ProbedMachine& machine = series.machine;
    const std::size_t probes = machine.probes.size() + machine.network_probes.size();
    Progress progress("calibrating", static_cast<std::size_t>(series.passes) * probes, STDERR_FILENO, lines);
    std::size_t done = 0;
    const auto count = [&] { progress.show(++done); };
    const OtherPrograms other_programs;
    MeasuredProbes found{run_probes(library, series, ProbesOf::this_machine, count)};
    found.share_of_others = other_programs.share();
    std::ranges::move(run_probes(library, series, ProbesOf::network, count), std::back_inserter(found.runs));
    return found;
}

void run_calibrate(const CalibrateOptions& o) {
    check_host_file(o.host_file);
    if (o.backend == "cuda" && !o.host_file.empty())
        throw InputError(Diagnostic{"--hostfile", "", "the network is measured between CPU hosts",
                                    "logs of nccl-tests tell that of GPUs: sextant calibrate --from"});
    check_apart({o.out}, {o.host_file});
    check_writable(o.out);
    Library library = open_library(o.profiles);
    const ScratchFolder scratch(o.host_file.empty() ? temporary_folder() : fs::current_path());  // what hosts share is the folder at hand
    const bool gpus = o.backend == "cuda";
    const ProbeSeries series{gpus ? probed_gpus(library, o.quick) : probed_cores(library, o.quick, o.host_file),
                             o.keep.empty() ? scratch.path() : fs::path(o.keep), o.profiles, o.passes.value_or(o.quick ? 1 : passes),
                             o.quick ? quick_steps : steps};
    check_apart({o.out, gpus ? framework_file(o.out) : fs::path()}, library.files);
    const MachineFacts& machine = series.machine.facts;
    const auto [runs, share_of_others] = measure(library, series, o.progress);
    const std::string source = source_of(o, machine);
    if (runs.empty()) throw InputError(Diagnostic{"--passes", "", "there are no runs to fit to", "--keep names a folder that has some"});
    Calibration found = calibrate(runs, parameters_of(series.machine, runs.front().scenario), source);
    if (series.passes > 0) found.others = share_of_others;
    const double others = found.others.value_or(0);
    if (found.noise > too_noisy || (!gpus && others > too_shared))
        throw BackendError("this machine is too busy to be measured: the steps of a run differ by " + percent_text(found.noise, 2) +
                           " from each other, and other programs took " + percent_text(others, 2) + " of its cores; nothing was written");
    Cluster cluster = calibrated_cluster(found, machine, today());
    cluster.node.host.samples = measured_sample_speeds(source);
    replace_text_file(o.out, cluster_to_profile(cluster));
    std::cout << calibration_to_text(found) << written_line(o.out, "hardware.cluster");
    if (!gpus) return;
    const Framework& framework = found.calibrated.framework;
    replace_text_file(framework_file(o.out), framework_to_profile(library.root / "frameworks" / (framework.name + ".json"), framework));
    std::cout << written_line(framework_file(o.out).string(), "framework");
}

// Passes over the runs that a fit takes; how many is not known before.
constexpr std::size_t usual_passes = 4000;

// Logs and runs of a cluster.
void run_narrowing(const CalibrateOptions& o, Library& library) {
    check_apart({o.out}, {o.from.begin(), o.from.end()});
    check_writable(o.out);
    std::string source = "sextant calibrate --from";
    for (const std::string& file : o.from) source += " " + fs::path(file).filename().string();
    NarrowedCluster found = narrow_cluster(library, {{o.from.begin(), o.from.end()}, o.cluster, o.library}, source + ", " + today());
    if (found.cluster.calibration) found.cluster.calibration->date = today();
    check_apart({o.out}, library.files);  // also what the files name
    if (!o.out.empty()) replace_text_file(o.out, cluster_to_profile(found.cluster));
    if (o.format == "json") {
        if (found.fit) std::cout << cluster_fit_to_json(*found.fit);
        return;
    }
    for (const std::string& note : found.notes) std::cout << note << '\n';
    if (found.fit) std::cout << '\n' << cluster_fit_to_text(*found.fit);
    if (!o.out.empty()) std::cout << written_line(o.out, "hardware.cluster");
}

void run_fit(const CalibrateOptions& o) {
    Library library = open_library(o.profiles);
    const std::vector<fs::path> files(o.from.begin(), o.from.end());
    check_named_once(files);
    if (!are_measurements(files)) return run_narrowing(o, library);
    if (!o.out.empty())
        throw InputError(Diagnostic{"--out", "", "published measurements are of many machines, and make no profile of one",
                                    "logs, runs or step times of a cluster do"});
    std::optional<Progress> progress(std::in_place, "fitting", usual_passes);
    std::size_t done = 0;
    const PublishedFit found = fit_to_measurements(library, files, [&] { progress->show(++done); });
    progress.reset();
    const bool json = o.format == "json";
    if (found.training) std::cout << (json ? training_fit_to_json(*found.training) : training_fit_to_text(*found.training));
    if (found.libraries) std::cout << (json ? library_fit_to_json(*found.libraries) : library_fit_to_text(*found.libraries));
}

void run_show(const CalibrateOptions& o) {
    Library library = open_library(o.profiles);
    Diagnostics problems;
    const Cluster* cluster = find_cluster(library.catalog, o.show, problems, {"--show", ""});
    problems.throw_if_any();
    if (!cluster->calibration || cluster->calibration->terms.empty())
        throw InputError(Diagnostic{o.show, "/calibration", "the profile does not say from which measurements it was made",
                                    "one that this version of sextant calibrate wrote"});
    if (o.picture.empty()) {
        std::cout << stamp_to_text(*cluster);
        return;
    }
    const bool page = fs::path(o.picture).extension() == ".html";
    if (page)
        check_writable(o.picture);
    else
        check_picture(o.picture);
    check_apart({o.picture}, problems.files());
    replace_text_file(o.picture, page ? calibration_html(*cluster) : calibration_svg(*cluster));
}

}  // namespace

void add_calibrate(CLI::App& app, ExitCode& exit_code) {
    auto* command = app.add_subcommand("calibrate", "measure this machine and write its profile");
    auto options = std::make_shared<CalibrateOptions>();
    auto* out = add_output(*command, "--out", options->out, "write the profile here", "PROFILE.json");
    command->add_option("--backend", options->backend, "measure CPU cores or GPUs")->check(CLI::IsMember({"cpu", "cuda"}));
    command->add_flag("--quick", options->quick, "fewer runs, in under 40 seconds");
    command->add_option("--passes", options->passes, "times that all small jobs are run; default: 3, with --quick 1")
        ->check(CLI::Range(0, 100));
    command->add_option("--keep", options->keep, "keep the runs here, and use those already there")->type_name("DIR");
    auto* hosts = command
                      ->add_option("--hostfile", options->host_file,
                                   "measure the network between these hosts too, in the format of mpirun; they are like this machine")
                      ->type_name("FILE");
    command->add_flag("--progress", options->progress, "report each run on stderr, one line each, for other programs");
    auto* from =
        command
            ->add_option("--from", options->from,
                         "instead of measuring, fit to files of a cluster (logs of nccl-tests and OSU, nvidia-smi topo -m, run.json, step "
                         "times), or to published measurements (measurements/FORMAT.md)")
            ->type_name("FILE");
    command->add_option("--cluster", options->cluster, "with --from: the profile to start from, by name or file")->needs(from);
    command->add_option("--library", options->library, "with --from: the communication library that was benchmarked")->needs(from);
    auto* show =
        command->add_option("--show", options->show, "show what a profile was fitted to")->type_name("PROFILE.json")->excludes(from);
    add_output(*command, "--picture", options->picture, "with --show: draw it, as a picture or as a page with tables", "FILE.svg|FILE.html")
        ->needs(show);
    command->add_option("--format", options->format, "with --from: text or json")->check(CLI::IsMember({"text", "json"}))->needs(from);
    command->add_option("--profiles", options->profiles, "directory of hardware profiles")->type_name("DIR");
    add_storage_options(*command, options->storage)->needs(out)->excludes("--from")->excludes("--quick");
    hosts->excludes(from)->excludes(show)->excludes("--storage");
    command->callback([options, &exit_code] {
        if (!options->storage.of.empty()) {
            exit_code = calibrate_storage(options->storage, options->out);
            return;
        }
        if (!options->show.empty())
            run_show(*options);
        else if (!options->from.empty())
            run_fit(*options);
        else if (options->out.empty())
            throw InputError(Diagnostic{"calibrate", "", "no output file is given", "--out PROFILE.json"});
        else
            run_calibrate(*options);
        exit_code = ExitCode::done;
    });
}

}  // namespace sextant
