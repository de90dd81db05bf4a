// From the files that a user has of a cluster to a narrower profile of it, and from what a machine says of itself to a guess of its
// profile.
#include "model/io/calibration/gpu_topology.hpp"
#include "model/io/calibration/recorded_machine.hpp"
#include "model/io/format/json_reader.hpp"
#include "model/io/profile/device_names.hpp"
#include "model/io/profile/profile_reader.hpp"
#include "model/sextant.hpp"

#include <utility>

namespace sextant {
namespace {

ClusterRecords read_records(Library& library, const std::vector<std::filesystem::path>& files) {
    Diagnostics problems;
    const LoadScenario load = [&](const std::filesystem::path& file, const std::vector<std::string>& overrides) {
        return load_scenario(library, file, overrides);
    };
    ClusterRecords found = read_cluster_records(files, load, problems);
    library.check_read(problems);
    return found;
}

// Throws InputError where there is no such profile, or its file is wrong.
template <class Profile>
const Profile& named(Library& library, const Profile* (*find)(Catalog&, std::string_view, Diagnostics&, const NamedBy&),
                     std::string_view name, const NamedBy& by = {}) {
    Diagnostics problems;
    const Profile* found = find(library.catalog, name, problems, by);
    library.check_read(problems);
    return *found;
}

// The library that made the curves; where there are only jobs, theirs.
CommunicationLibrary library_of_files(Library& library, const ClusterLogs& logs, const ClusterRecords& files, const Cluster& cluster) {
    const NamedBy option{"--library", ""};
    if (!logs.library.empty()) return named(library, find_library, logs.library, option);
    if (const auto name = recorded_library(files, cluster)) return named(library, find_library, *name, option);
    return files.curves.empty() ? files.jobs.front().observed.scenario.library : *cluster.library;
}

}  // namespace

Cluster guessed_cluster(Library& library, const MachineFacts& machine) {
    return machine_cluster(machine, named(library, find_cluster, "two-core-reference"));
}

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
    row.hardware.gpu = catalog_name(library.catalog, facts.name);
    row.hardware.gpus = row.ranks = static_cast<int>(devices.size());
    if (links) row.hardware.intra_node.kind = links_of(*links);
    MeasurementSources names = measurement_sources(library);
    names.device = [&, known = names.device](std::string_view name) {
        const std::optional<Device> found = known(name);
        return found ? found : device_after(facts, nearest_device(library.catalog, facts));
    };
    Cluster cluster = to_scenario(row, names).cluster;
    if (links && links->gpus.size() == devices.size()) static_cast<void>(apply(*links, cluster, problems));
    problems.throw_if_any();
    return gpu_cluster(machine, facts, cluster);
}

bool are_measurements(const std::vector<std::filesystem::path>& files) {
    Diagnostics problems;
    const std::size_t measurements = count_measurements(files, problems);
    problems.throw_if_any();
    return measurements == files.size();
}

NarrowedCluster narrow_cluster(Library& library, const ClusterLogs& logs, const std::string& source) {
    const ClusterRecords files = read_records(library, logs.files);
    NarrowedCluster result;
    result.cluster = logs.cluster.empty() ? recorded_cluster(library.catalog, files, measurement_sources(library))
                                          : named(library, find_cluster, logs.cluster, {"--cluster", ""});
    result.notes.push_back("prior: " + (result.cluster.title.empty() ? result.cluster.name : result.cluster.title) +
                           (logs.cluster.empty() ? ", named by the files" : ""));
    for (std::string& note : foreign_devices(library.catalog, files, result.cluster)) result.notes.push_back(std::move(note));
    for (const std::string& a : result.cluster.assumptions) result.notes.push_back("assumed: " + a);
    Diagnostics problems;
    for (const GpuTopology& t : files.topologies)
        for (std::string& change : apply(t, result.cluster, problems)) result.notes.push_back(std::move(change));
    problems.throw_if_any();
    result.cluster.calibration.reset();
    if (files.curves.empty() && files.jobs.empty()) return result;
    const CommunicationLibrary of_curves = library_of_files(library, logs, files, result.cluster);
    const bool known = result.cluster.library && result.cluster.library->name == of_curves.name;
    result.fit = fit_cluster(result.cluster, known ? *result.cluster.library : of_curves,
                             observations(files, result.cluster, named(library, find_link, "Host memory copy")), source);
    result.cluster = result.fit->cluster;
    return result;
}

}  // namespace sextant
