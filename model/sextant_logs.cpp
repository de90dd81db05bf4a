// From the files that a user has of a cluster to a narrower profile of it: the part of the facade that reads them and lays them on a
// machine.
#include "model/calibrate/fit.hpp"
#include "model/io/calibration/benchmark_log.hpp"
#include "model/io/calibration/gpu_topology.hpp"
#include "model/io/calibration/step_times.hpp"
#include "model/io/format/json_reader.hpp"
#include "model/io/profile/profile_reader.hpp"
#include "model/io/scenario/named_files.hpp"
#include "model/io/trace/run_reader.hpp"
#include "model/sextant.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <utility>

namespace sextant {
namespace {

namespace fs = std::filesystem;

enum class FileKind { nccl_tests, osu, gpu_topology, run, step_times, measurements, unmeasured, unknown };

constexpr auto taken = "nccl-tests, OSU micro-benchmarks, nvidia-smi topo -m, run.json, step times, measurements";

// Of a JSON document; empty where it states none.
std::string schema_of(const JsonFile& file) {
    std::string schema;
    const JsonNode root = file.root();
    if (root.value && root.is_object() && root.child("schema").is_string()) read_value(root.child("schema"), schema);
    return schema;
}

// A document without a schema is taken for measurements, whose reader says what is wrong with it.
FileKind kind_of(const std::string& text, const std::string& name) {
    switch (kind_of_log(text)) {
        case LogKind::nccl_tests:
            return FileKind::nccl_tests;
        case LogKind::osu:
            return FileKind::osu;
        case LogKind::gpu_topology:
            return FileKind::gpu_topology;
        case LogKind::unknown:
            return FileKind::unknown;
        case LogKind::json:
            break;
    }
    Diagnostics unused;
    const JsonFile file = JsonFile::from_text(text, name, unused);
    const std::string schema = schema_of(file);
    if (schema.starts_with("run/")) return FileKind::run;
    if (schema.starts_with("step-times/")) return FileKind::step_times;
    return schema.empty() ? FileKind::measurements : FileKind::unmeasured;
}

struct Job {
    std::string file;
    JobObserved observed;
};

// All that the files hold.
struct Files {
    std::vector<BenchmarkCurve> curves;
    std::vector<GpuTopology> topologies;
    std::vector<Job> jobs;
};

class FilesReader {
public:
    explicit FilesReader(Library& library) : library_(library) {}

    Files read(const std::vector<fs::path>& paths) {
        for (const fs::path& path : paths)
            if (const auto text = read_text_file(path, diagnostics_)) read(path, *text);
        library_.has_read(diagnostics_);
        diagnostics_.throw_if_any();
        return std::move(files_);
    }

private:
    void read(const fs::path& path, const std::string& text) {
        const std::string name = path.string();
        const auto keep = [](auto& list, auto&& more) { std::ranges::move(more, std::back_inserter(list)); };
        switch (kind_of(text, name)) {
            case FileKind::nccl_tests:
                return keep(files_.curves, read_nccl_tests(text, name, diagnostics_));
            case FileKind::osu:
                return keep(files_.curves, read_osu(text, name, diagnostics_));
            case FileKind::gpu_topology:
                return files_.topologies.push_back(read_gpu_topology(text, name, diagnostics_));
            case FileKind::run:
                return diagnostics_.collect([&] { read_run(path, text); });
            case FileKind::step_times:
                return diagnostics_.collect([&] { read_steps(path, text); });
            case FileKind::measurements:
                return diagnostics_.add({name, "", "published measurements beside logs", "fit to them alone"});
            case FileKind::unmeasured:
                return refuse_unmeasured(text, name);
            case FileKind::unknown:
                return diagnostics_.add({name, "", "nobody's log that is known here", taken});
        }
    }

    // A scenario, a profile.
    void refuse_unmeasured(const std::string& text, const std::string& name) {
        Diagnostics unused;
        const std::string schema = schema_of(JsonFile::from_text(text, name, unused));
        diagnostics_.add({name, "", "a " + schema.substr(0, schema.find('/')) + " (" + schema + "), in which nothing was measured",
                          "--from takes " + std::string(taken)});
    }

    // Paths in a file are as seen from where the file was made, or from the file.
    Scenario scenario(const fs::path& file, const std::string& named, const std::vector<std::string>& overrides) {
        const fs::path beside = file.parent_path() / named;
        const bool from_file = !fs::exists(named) && fs::exists(beside);
        return load_scenario(library_, from_file ? beside : fs::path(named),
                             with_whole_paths(overrides, from_file ? fs::absolute(file).parent_path() : fs::current_path()));
    }

    void read_run(const fs::path& path, const std::string& text) {
        const RunRecord run = run_from_text(text, path.string());
        const ProbeRun seen = probe_run(run.scenario, scenario(path, run.scenario_file, run.overrides), run);
        files_.jobs.push_back({path.string(), {seen.name, seen.scenario, seen.measured, run.step(), seen.noise}});
    }

    void read_steps(const fs::path& path, const std::string& text) {
        Diagnostics problems;
        const WrittenSteps times = step_times_from_text(text, path.string(), problems);
        problems.throw_if_any();
        Scenario s = scenario(path, times.scenario, times.overrides);
        JobObserved job{s.name, s, std::nullopt, median(times.steps), noise_of(times.steps)};
        files_.jobs.push_back({path.string(), std::move(job)});
    }

    Library& library_;
    Diagnostics diagnostics_;
    Files files_;
};

// A name of the catalogue for what a driver calls a device: "NVIDIA A100-SXM4-40GB", "Tesla V100-SXM2-16GB".
std::string device_named(Library& library, const std::string& device) {
    for (const std::string_view maker : {"", "NVIDIA ", "Tesla ", "AMD ", "NVIDIA GeForce ", "GeForce "}) {
        Diagnostics unused;
        std::string name = device.starts_with(maker) ? device.substr(maker.size()) : device;
        if (find_device(library.catalog, name, unused)) return name;
    }
    return device;
}

// "8.6" as a number; 0 where there is none.
double capability_of(const std::string& compute_capability) {
    double number = 0;
    std::from_chars(compute_capability.data(), compute_capability.data() + compute_capability.size(), number);
    return number;
}

// What one multiprocessor multiplies in 16 bits.
FlopRate rate_of_multiprocessor(const Device& d) {
    const PeakRate* peak = d.peak(DataType::fp16, ComputeUnit::tensor);
    return peak != nullptr ? *peak->rate / std::max(1, d.multiprocessors) : FlopRate{};
}

// The bundled device of this compute capability, or of the nearest before it; of several the one with most alike multiprocessors, but none
// that is held down for export (an H20 multiplies a quarter of what an H100's multiprocessors do).
Device relative_of(Library& library, const DeviceFacts& facts) {
    constexpr double held_down = 0.4;
    std::vector<const Device*> alike;
    for (const NamesOfKind& kind : all_names(library.catalog)) {
        if (kind.kind != "devices") continue;
        for (const std::string& name : kind.names) {
            Diagnostics unused;
            const Device* d = find_device(library.catalog, name, unused);
            if (!d || d->vendor != "NVIDIA" || capability_of(d->compute_capability) > capability_of(facts.compute_capability)) continue;
            if (!alike.empty() && capability_of(d->compute_capability) < capability_of(alike.front()->compute_capability)) continue;
            if (!alike.empty() && capability_of(d->compute_capability) > capability_of(alike.front()->compute_capability)) alike.clear();
            alike.push_back(d);
        }
    }
    FlopRate fastest;
    for (const Device* d : alike) fastest = max(fastest, rate_of_multiprocessor(*d));
    std::erase_if(alike, [&](const Device* d) { return rate_of_multiprocessor(*d) < held_down * fastest; });
    const auto apart = [&](const Device* d) { return std::abs(d->multiprocessors - facts.multiprocessors); };
    const auto found = std::ranges::min_element(alike, {}, apart);
    const Device* nearest = found != alike.end() ? *found : nullptr;
    if (!nearest)
        throw InputError(
            Diagnostic{"", "", "no device like " + facts.name + " is known here", "a profile of it in hardware_profiles/devices"});
    return *nearest;
}

// The links of a board, in the words of a published row: pairs that have more links together than a device has ports have a switch.
std::string links_of(const GpuTopology& t) {
    constexpr int most_ports = 18;
    const auto all = t.nvlinks_of_all();
    if (all && *all == 0) return "pcie";
    return all && (std::ssize(t.gpus) - 1) * *all > most_ports ? "nvswitch" : "nvlink";
}

std::string place_of(const BenchmarkCurve& c) { return c.file + ":" + std::to_string(c.line); }

CollectiveRow row_of(Library& library, const BenchmarkCurve& c, const GpuTopology* topology) {
    CollectiveRow row;
    row.header.file = place_of(c);
    row.hardware.gpu = device_named(library, c.device);
    row.hardware.gpus = row.ranks = c.ranks / c.nodes;
    row.hardware.gpus_per_node = topology ? static_cast<int>(topology->gpus.size()) : c.ranks / c.nodes;
    if (topology) row.hardware.intra_node.kind = links_of(*topology);
    row.library = c.library;
    row.collective = c.collective;
    return row;
}

// What calls over other devices than the cluster's say of its links is not what its owner asked for.
std::vector<std::string> foreign_devices(Library& library, const std::vector<BenchmarkCurve>& curves, const Cluster& cluster) {
    std::vector<std::string> notes;
    for (const BenchmarkCurve& c : curves) {
        Diagnostics unused;
        const Device* of_log = c.device.empty() ? nullptr : find_device(library.catalog, device_named(library, c.device), unused);
        if (of_log == nullptr || of_log->name == cluster.node.device.name) continue;
        std::string note = "WARNING: " + c.file + " is of " + of_log->name + ", and " + cluster.name + " has " + cluster.node.device.name +
                           ": its links are fitted to those of other devices";
        if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
    }
    return notes;
}

Cluster named_cluster(Library& library, const std::string& name) {
    Diagnostics problems;
    const Cluster* found = find_cluster(library.catalog, name, problems, {"--cluster", ""});
    library.has_read(problems);
    problems.throw_if_any();
    return *found;
}

// What the logs say of their machine, where nobody names a profile.
Cluster cluster_of_logs(Library& library, const Files& files) {
    for (const Job& job : files.jobs)
        if (job.observed.scenario.cluster.name != files.jobs.front().observed.scenario.cluster.name)
            throw InputError(Diagnostic{
                job.file, "",
                "of " + job.observed.scenario.cluster.name + ", the first job of " + files.jobs.front().observed.scenario.cluster.name,
                "jobs of one cluster, or --cluster"});
    if (!files.jobs.empty()) return files.jobs.front().observed.scenario.cluster;
    const auto with_device = std::ranges::find_if(files.curves, [](const BenchmarkCurve& c) { return !c.device.empty(); });
    const std::string hint = "--cluster names a profile to begin with: one of `sextant profiles list`, or a file";
    if (with_device == files.curves.end())
        throw InputError(Diagnostic{"--from", "", "these files do not say of which machine they are", hint});
    if (std::ranges::any_of(files.curves, [](const BenchmarkCurve& c) { return c.nodes > 1; }))
        throw InputError(Diagnostic{"--from", "", "the logs are of several hosts, and do not say which network joins these", hint});
    if (files.topologies.empty())
        throw InputError(Diagnostic{place_of(*with_device), "", "the log does not say which links join the devices",
                                    "the output of nvidia-smi topo -m beside it, or --cluster"});
    const CollectiveScenario machine = to_scenario(row_of(library, *with_device, &files.topologies.front()), measurement_sources(library));
    Cluster cluster = machine.cluster;
    cluster.name = std::to_string(cluster.node.devices) + "x " + cluster.node.device.name;
    return cluster;
}

CommunicationLibrary library_named(Library& library, const std::string& name) {
    Diagnostics problems;
    const CommunicationLibrary* found = find_library(library.catalog, name, problems, {"--library", ""});
    library.has_read(problems);
    problems.throw_if_any();
    return *found;
}

// Of the curves; of jobs alone, theirs.
CommunicationLibrary library_of_logs(Library& library, const Files& files, const Cluster& cluster) {
    const auto is_nccl = [](const BenchmarkCurve& c) { return !c.library.empty(); };
    const auto nccl = std::ranges::count_if(files.curves, is_nccl);
    if (nccl > 0 && nccl < std::ssize(files.curves))
        throw InputError(Diagnostic{"--from", "", "curves of NCCL and of an MPI: a profile holds one library",
                                    "one command for each; the second begins with --cluster and the profile of the first"});
    if (nccl > 0)
        return library_named(library, std::string(library_of(std::ranges::find_if(files.curves, is_nccl)->library, cluster.node.device)));
    if (!files.curves.empty())
        return cluster.library && cluster.library->messages ? *cluster.library : library_named(library, "openmpi-4.0");
    return files.jobs.front().observed.scenario.library;
}

CurveObserved observed(const BenchmarkCurve& c) {
    CurveObserved o;
    o.name = c.benchmark + ", " + std::to_string(c.ranks) + " ranks on " + std::to_string(c.nodes) + (c.nodes == 1 ? " host" : " hosts");
    o.what = find_collective(c.collective).value_or(Collective::send);
    o.ranks = c.ranks;
    o.nodes = c.nodes;
    o.devices_of_process = c.ranks_of_process;
    for (const BenchmarkCurve::Point& p : c.points) o.points.emplace_back(p.size, p.time);
    return o;
}

std::vector<Observation> observations(Library& library, const Files& files, const Cluster& cluster) {
    Diagnostics problems;
    const LinkType* memory = find_link(library.catalog, "Host memory copy", problems);
    problems.throw_if_any();
    std::vector<Observation> seen;
    std::map<std::string, int> alike;  // the same benchmark of as many ranks, between other hosts: told apart by their files
    for (const BenchmarkCurve& c : files.curves) ++alike[observed(c).name];
    for (const BenchmarkCurve& c : files.curves) {
        CurveObserved o = observed(c);
        if (alike[o.name] > 1) o.name += ", " + fs::path(c.file).filename().string();
        if (c.host_buffers && cluster.node.device.kind != DeviceKind::cpu) o.host_memory = *memory;
        try {
            seen.push_back(observation_of(std::move(o), cluster));
        } catch (const InputError& error) {
            for (Diagnostic d : error.diagnostics()) d.file = place_of(c), problems.add(std::move(d));
        }
    }
    for (const Job& job : files.jobs) {
        JobObserved o = job.observed;
        o.scenario.cluster = cluster;
        if (const auto wrong = check_plan(o.scenario); !wrong.empty()) {
            for (Diagnostic d : wrong) d.file = job.file, problems.add(std::move(d));
            continue;
        }
        seen.push_back(observation_of(std::move(o)));
    }
    problems.throw_if_any();
    return seen;
}

}  // namespace

Cluster guessed_cluster(Library& library, const MachineFacts& machine, const std::vector<DeviceFacts>& devices,
                        const std::string& topology) {
    Diagnostics problems;
    for (const DeviceFacts& d : devices)
        if (d.name != devices.front().name)
            problems.add({"", "", "a " + devices.front().name + " and a " + d.name + ": a profile is of GPUs that are alike",
                          "CUDA_VISIBLE_DEVICES=0,1 says which are used"});
    problems.throw_if_any();
    const DeviceFacts& facts = devices.front();
    std::optional<GpuTopology> links;
    if (devices.size() > 1 && !topology.empty()) links = read_gpu_topology(topology, "nvidia-smi topo -m", problems);

    CollectiveRow row;
    row.hardware.gpu = device_named(library, facts.name);
    row.hardware.gpus = row.ranks = static_cast<int>(devices.size());
    if (links) row.hardware.intra_node.kind = links_of(*links);
    MeasurementSources names = measurement_sources(library);
    names.device = [&, known = names.device](std::string_view name) {
        const std::optional<Device> found = known(name);
        return found ? found : device_after(facts, relative_of(library, facts));
    };
    Cluster cluster = to_scenario(row, names).cluster;
    if (links && links->gpus.size() == devices.size()) static_cast<void>(apply(*links, cluster, problems));
    problems.throw_if_any();
    return gpu_cluster(machine, facts, cluster);
}

bool are_measurements(const std::vector<fs::path>& files) {
    Diagnostics problems;
    std::size_t measurements = 0;
    for (const fs::path& path : files)
        if (const auto text = read_text_file(path, problems))
            measurements += kind_of(*text, path.string()) == FileKind::measurements ? 1 : 0;
    problems.throw_if_any();
    return measurements == files.size();
}

NarrowedCluster narrow_cluster(Library& library, const ClusterLogs& logs, const std::string& source) {
    const Files files = FilesReader(library).read(logs.files);
    NarrowedCluster result;
    result.cluster = logs.cluster.empty() ? cluster_of_logs(library, files) : named_cluster(library, logs.cluster);
    result.notes.push_back("begun with " + (result.cluster.title.empty() ? result.cluster.name : result.cluster.title) +
                           (logs.cluster.empty() ? ", as the files say" : ""));
    for (std::string& note : foreign_devices(library, files.curves, result.cluster)) result.notes.push_back(std::move(note));
    for (const std::string& a : result.cluster.assumptions) result.notes.push_back("assumed: " + a);
    Diagnostics problems;
    for (const GpuTopology& t : files.topologies)
        for (std::string& change : apply(t, result.cluster, problems)) result.notes.push_back(std::move(change));
    problems.throw_if_any();
    result.cluster.calibration.reset();
    if (files.curves.empty() && files.jobs.empty()) return result;
    const CommunicationLibrary of_curves =
        logs.library.empty() ? library_of_logs(library, files, result.cluster) : library_named(library, logs.library);
    const bool known = result.cluster.library && result.cluster.library->name == of_curves.name;
    result.fit =
        fit_cluster(result.cluster, known ? *result.cluster.library : of_curves, observations(library, files, result.cluster), source);
    result.cluster = result.fit->cluster;
    return result;
}

}  // namespace sextant
