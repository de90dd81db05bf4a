// The facade: all that the CLI, the GUI, tests and bindings call. Free functions on values.
//
//     Library library = open_library();
//     const Scenario scenario = load_scenario(library, "scenarios/default.json", {"plan.tp=2"});
//     const Report report = predict(scenario);
#pragma once

#include "model/calibrate/calibration.hpp"
#include "model/calibrate/cluster_fit.hpp"
#include "model/calibrate/library_fit.hpp"
#include "model/calibrate/training_fit.hpp"
#include "model/hardware/catalog.hpp"
#include "model/io/measurement/measurement_scenario.hpp"
#include "model/io/scenario/scenario_document.hpp"
#include "model/io/scenario/scenario_reader.hpp"
#include "model/plan/scenario.hpp"
#include "model/predict/estimate.hpp"
#include "model/report/comparison.hpp"
#include "model/report/condition.hpp"
#include "model/report/lesson.hpp"
#include "model/report/profiler_comparison.hpp"
#include "model/report/report.hpp"
#include "model/report/simulation_report.hpp"
#include "model/report/storage_report.hpp"
#include "model/report/validation.hpp"
#include "model/report/what_if.hpp"
#include "model/search/plan_answer.hpp"
#include "model/search/scaling.hpp"
#include "model/search/search.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace sextant {

// What is known by name: hardware profiles and frameworks. Files are read when first asked for.
struct Library {
    Catalog catalog;
    std::filesystem::path root;             // holds hardware_profiles/, frameworks/ and measurements/
    std::set<std::filesystem::path> files;  // from which answers were read so far: no output may take their place

    void has_read(const Diagnostics& d) { files.insert(d.files().begin(), d.files().end()); }
    // The same, and throws InputError with all that was wrong there.
    void check_read(const Diagnostics& d) { has_read(d), d.throw_if_any(); }
};

// `profiles`: the directory of --profiles; empty for the bundled one. Throws InputError when there is none.
Library open_library(const std::filesystem::path& profiles = {});

// Where the names in a scenario are looked up. References `library`.
ScenarioSources sources(Library& library);
// Where the names in a measurement are looked up: a name that is not known refuses a row, and no more. What is wrong with a file that has
// the name is thrown as InputError: no row can be predicted by it. References `library`.
MeasurementSources measurement_sources(Library& library);

// What there are predictions of: a training job, or storage that feeds emulated accelerators.
using Predictable = std::variant<Scenario, StorageBenchmark>;

// Reads a scenario, a file of schema "storage-benchmark/1" or a workload of DLIO (FILE.yaml), and applies `overrides` ("plan.tp=8").
// "measurements/transformer/x.json#ID" is the published run of that row. Throws InputError with every problem.
Predictable load_predictable(Library&, const std::filesystem::path&, const std::vector<std::string>& overrides = {});
// Likewise, and throws InputError where it is no training job.
Scenario load_scenario(Library&, const std::filesystem::path&, const std::vector<std::string>& overrides = {});
Scenario load_scenario(Library&, const ScenarioDocument&);

// "FILE#ROW" in its parts; none where a file is called so.
struct RowName {
    std::string file, id;
};
std::optional<RowName> row_named(const std::filesystem::path&);
// A scenario as it is edited and saved; "FILE#ROW" is that published run written out as one. Throws InputError where there is no such.
ScenarioDocument open_scenario(Library&, const std::filesystem::path&);

// The scenarios that the repository carries, in the order of their file names; none where there are no more than profiles.
std::vector<ScenarioTitle> bundled_scenarios(const Library&);

// The lessons that the repository carries, in the order of their file names. Throws InputError when one is no lesson.
std::vector<Lesson> bundled_lessons(const Library&);
// The scenario of a step as it is before and after its change, and what each comes to.
struct LessonAnswer {
    ScenarioDocument start, changed;
    Report before, after;
};
LessonAnswer answer_of(Library&, const LessonStep&);

// The whole answer. Throws InputError when the plan is impossible; a plan that does not fit in memory is an answer.
Report predict(const Scenario&);

StorageReport predict(const StorageBenchmark&);

// The job under each other framework of the library.
std::vector<Scenario> under_other_frameworks(Library&, const Scenario&);
// Where the job of a report does not fit: the framework, devices and nodes of cores of the library under which it does.
void look_elsewhere(Library&, Report&);

// The same answer from an event simulation of the step's task graph: what predict cannot see (who waits for whom when, links that
// several share, noise), and the timeline. `seed`: of the noise that the scenario describes. Throws as predict does, and Stopped where the
// listener says so.
SimulationReport simulate(const Prepared&, std::uint64_t seed = 1, const PlayListener& = {});
SimulationReport simulate(const Scenario&, std::uint64_t seed = 1, const PlayListener& = {});

// What the scenario says makes its ranks differ. `seed`: of the noise.
Jitter jitter_of(const Scenario&, std::uint64_t seed = 1);

// The nodes that the job uses, and where its ranks stand on them. Parameter servers that do not share the workers' hosts have nodes of
// their own, after theirs.
struct UsedMachine {
    std::shared_ptr<const Topology> topology;
    Placement placement;
};
UsedMachine used_machine(const Prepared&);

// What find_plan is at. False from a listener stops it: the answer is what was found so far.
struct PlanProgress {
    enum class Stage { search, simulation, advice } stage = Stage::search;
    double done = 0;                         // of the stage, 0 to 1
    const SearchProgress* search = nullptr;  // of the search
};

// The best plans with their whole reports, and what is worth saying about them. Throws InputError where there is nothing to search.
PlanAnswer find_plan(const PlanQuestion&, const std::function<bool(const PlanProgress&)>& progress = {});

// Processes that run a scenario for real: one for each device, and behind them one for each parameter server.
struct RunLayout {
    int ranks = 1, ranks_per_node = 1;
};
RunLayout run_layout(const Scenario&);
// The number of the node on which each of them stands.
std::vector<int> nodes_of_ranks(const Scenario&);

// The numbers of devices at which scale() is asked where nobody says which: from one node, or what the plan uses of it, doubled up to four
// times the plan's devices, as far as there are any; on one node alone from one device. The plan's own is among them.
std::vector<int> usual_sizes(const Scenario&);

// Prediction, simulation (every rank for itself) and what was measured, side by side. Throws InputError where the run is of another plan.
Comparison compare(const Scenario&, const RunRecord&);
// Prediction and what a profiler saw of one rank. Throws InputError where the profile is of a job of another size.
ProfilerComparison compare(const Scenario&, const ProfilerRecord&);

// The machine with a small machine's numbers in place of its own, for calibrate() to begin with.
Cluster guessed_cluster(Library&, const MachineFacts&);
// The same of a machine with GPUs: as the catalogue has them, else after one of their compute capability or the one before it. `topology`:
// what `nvidia-smi topo -m` prints; empty: no NVLink. Throws InputError where the GPUs are not alike.
Cluster guessed_cluster(Library&, const MachineFacts&, const std::vector<DeviceFacts>&, const std::string& topology);

// The files of published measurements that the repository carries, in the order of their paths.
std::vector<std::filesystem::path> bundled_measurements(const Library&);

// A published run of training, or of storage. Throws InputError where the file has no such row, or nothing says how to predict it.
Predictable published_job(Library&, const std::filesystem::path& file, std::string_view id);
// One of training as a scenario to be changed and saved, with what was measured of it. Throws InputError where it is none.
struct PublishedRun {
    ScenarioDocument document;
    std::optional<Seconds> step;
    std::optional<Bytes> memory;  // peak of a device
};
PublishedRun published_run(Library&, const std::filesystem::path& file, std::string_view id);

// What published rows show and no probe does: of devices and frameworks the training runs, of communication libraries the calls of
// collectives. Fitted to the half of the rows that may be (model/io/measurement/measurement_split.hpp).
struct PublishedFit {
    std::optional<TrainingFit> training;  // none without such rows
    std::optional<LibraryFit> libraries;
};
PublishedFit fit_to_measurements(Library&, const std::vector<std::filesystem::path>& files, const std::function<void()>& progress);

// Files that a user has of a cluster: logs of nccl-tests and OSU, `nvidia-smi topo -m`, records of runs, step times.
struct ClusterLogs {
    std::vector<std::filesystem::path> files;
    std::string cluster;  // the profile to begin with; empty: what the logs name
    std::string library;  // that the curves are of; empty: as the logs say
};
struct NarrowedCluster {
    Cluster cluster;  // what came out, without a fit where only the topology was given
    std::optional<ClusterFit> fit;
    std::vector<std::string> notes;  // what was taken from where
};
// Published measurements are for fit_to_measurements. Are these files such? Throws InputError where a file is neither, or they are mixed.
bool are_measurements(const std::vector<std::filesystem::path>& files);
// `source`: who measured, for the profile. Throws InputError with every problem of every file.
NarrowedCluster narrow_cluster(Library&, const ClusterLogs&, const std::string& source);

// Predicts every row of the files. Throws InputError when a file cannot be read; a row that cannot be predicted is refused in the result.
// `progress` is called after each row with the rows done and those there are.
Validation validate(Library&, const std::vector<std::filesystem::path>& files,
                    const std::function<void(std::size_t done, std::size_t total)>& progress);

}  // namespace sextant
