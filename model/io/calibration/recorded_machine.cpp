#include "model/io/calibration/recorded_machine.hpp"

#include "model/io/profile/device_names.hpp"
#include "model/io/profile/profile_reader.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace sextant {
namespace {

std::string place_of(const BenchmarkCurve& c) { return c.file + ":" + std::to_string(c.line); }

CollectiveRow row_of(Catalog& catalog, const BenchmarkCurve& c, const GpuTopology& topology) {
    CollectiveRow row;
    row.header.file = place_of(c);
    row.hardware.gpu = catalog_name(catalog, c.device);
    row.hardware.gpus = row.ranks = c.ranks / c.nodes;
    row.hardware.gpus_per_node = static_cast<int>(topology.gpus.size());
    row.hardware.intra_node.kind = links_of(topology);
    row.library = c.library;
    row.collective = c.collective;
    return row;
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

}  // namespace

// Pairs that have more links together than a device has ports have a switch.
std::string links_of(const GpuTopology& t) {
    constexpr int most_ports = 18;
    const auto all = t.nvlinks_of_all();
    if (all && *all == 0) return "pcie";
    return all && (std::ssize(t.gpus) - 1) * *all > most_ports ? "nvswitch" : "nvlink";
}

Cluster recorded_cluster(Catalog& catalog, const ClusterRecords& files, const MeasurementSources& names) {
    for (const ClusterRecords::Job& job : files.jobs)
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
    const CollectiveScenario machine = to_scenario(row_of(catalog, *with_device, files.topologies.front()), names);
    Cluster cluster = machine.cluster;
    cluster.name = std::to_string(cluster.node.devices) + "x " + cluster.node.device.name;
    return cluster;
}

std::optional<std::string> recorded_library(const ClusterRecords& files, const Cluster& cluster) {
    const auto is_nccl = [](const BenchmarkCurve& c) { return !c.library.empty(); };
    const auto nccl = std::ranges::count_if(files.curves, is_nccl);
    if (nccl > 0 && nccl < std::ssize(files.curves))
        throw InputError(Diagnostic{"--from", "", "curves of NCCL and of an MPI: a profile holds one library",
                                    "one command for each; the second begins with --cluster and the profile of the first"});
    if (nccl > 0) return std::string(library_of(std::ranges::find_if(files.curves, is_nccl)->library, cluster.node.device));
    const bool is_known = files.curves.empty() || (cluster.library && cluster.library->messages);
    return is_known ? std::nullopt : std::optional<std::string>("openmpi-4.0");
}

std::vector<std::string> foreign_devices(Catalog& catalog, const ClusterRecords& files, const Cluster& cluster) {
    std::vector<std::string> notes;
    for (const BenchmarkCurve& c : files.curves) {
        Diagnostics unused;
        const Device* of_log = c.device.empty() ? nullptr : find_device(catalog, catalog_name(catalog, c.device), unused);
        if (of_log == nullptr || of_log->name == cluster.node.device.name) continue;
        std::string note = "WARNING: " + c.file + " is of " + of_log->name + ", and " + cluster.name + " has " + cluster.node.device.name +
                           ": its links are fitted to those of other devices";
        if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
    }
    return notes;
}

std::vector<Observation> observations(const ClusterRecords& files, const Cluster& cluster, const LinkType& host_memory) {
    Diagnostics problems;
    std::vector<Observation> seen;
    std::map<std::string, int> alike;  // the same benchmark of as many ranks, between other hosts: told apart by their files
    for (const BenchmarkCurve& c : files.curves) ++alike[observed(c).name];
    for (const BenchmarkCurve& c : files.curves) {
        CurveObserved o = observed(c);
        if (alike[o.name] > 1) o.name += ", " + std::filesystem::path(c.file).filename().string();
        if (c.host_buffers && cluster.node.device.kind != DeviceKind::cpu) o.host_memory = host_memory;
        try {
            seen.push_back(observation_of(std::move(o), cluster));
        } catch (const InputError& error) {
            for (Diagnostic d : error.diagnostics()) {
                d.file = place_of(c);
                problems.add(std::move(d));
            }
        }
    }
    for (const ClusterRecords::Job& job : files.jobs) {
        JobObserved o = job.observed;
        o.scenario.cluster = cluster;
        if (const auto wrong = check_plan(o.scenario); !wrong.empty()) {
            for (Diagnostic d : wrong) {
                d.file = job.file;
                problems.add(std::move(d));
            }
            continue;
        }
        seen.push_back(observation_of(std::move(o)));
    }
    problems.throw_if_any();
    return seen;
}

}  // namespace sextant
