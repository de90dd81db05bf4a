#include "model/plan/job_storage.hpp"

#include "model/base/list_text.hpp"
#include "model/base/quantity_text.hpp"
#include "model/plan/partition.hpp"

namespace sextant {
namespace {

// A storage that the scenario names, and where.
struct NamedStorage {
    const char* pointer;
    const StorageClass* storage;
};

std::vector<NamedStorage> storage_named_by(const DataSource& data) {
    std::vector<NamedStorage> named;
    if (!data.synthetic && data.storage) named.push_back({"/data/storage", &*data.storage});
    if (!data.synthetic && data.staging.mode != StagingMode::none && data.staging.to) named.push_back({"/data/staging", &*data.staging.to});
    if (data.checkpoints) named.push_back({"/data/checkpoints/storage", &data.checkpoints->storage});
    return named;
}

// A hint: file systems of the cluster that a job may write to and that have so much room; where there is none, `otherwise`.
std::string room_elsewhere(const Cluster& cluster, Bytes wanted, const std::string& otherwise) {
    std::string names;
    for (const auto& [name, s] : cluster.file_systems)
        if (s.shared && !s.read_only && (!s.capacity || s.capacity->value >= wanted)) append_to_list(names, name);
    return names.empty() ? otherwise : "there is room on: " + names;
}

Diagnostic too_few_disks(const Scenario& s, const char* pointer) {
    const Cluster& c = s.cluster;
    const std::string some = std::to_string(*c.local_storage_nodes);
    return {s.file, pointer,
            std::to_string(used_nodes(s)) + " nodes are to have a local disk, and " + some + " of the " + std::to_string(c.nodes) + " of " +
                c.name + " have one",
            "at most " + some + " nodes, or a storage that all nodes share"};
}

Diagnostic too_large(const Scenario& s, Bytes dataset) {
    const StorageClass& from = *s.data.storage;
    return {s.file, "/data/storage",
            "samples of " + to_text(dataset) + " do not fit on " + from.name + ", where a job may use " + to_text(from.capacity->value),
            room_elsewhere(s.cluster, dataset, "a storage with more room, or its \"capacity\" where yours is larger")};
}

}  // namespace

bool lies_on_some_nodes(const StorageClass& storage, const Cluster& c) {
    const auto& local = c.node.local_storage;
    return !storage.shared && local && local->name == storage.name && c.local_storage_nodes && *c.local_storage_nodes < c.nodes;
}

const StorageClass* local_disk_of_job(const Scenario& s) {
    const auto& local = s.cluster.node.local_storage;
    if (!local || (lies_on_some_nodes(*local, s.cluster) && used_nodes(s) > *s.cluster.local_storage_nodes)) return nullptr;
    return &*local;
}

std::vector<Diagnostic> check_job_storage(const Scenario& s) {
    std::vector<Diagnostic> problems;
    const DataSource& data = s.data;
    for (const NamedStorage& named : storage_named_by(data))
        if (lies_on_some_nodes(*named.storage, s.cluster) && !local_disk_of_job(s)) problems.push_back(too_few_disks(s, named.pointer));
    if (!data.synthetic && data.storage && data.storage->capacity && data.samples) {
        const Bytes dataset = static_cast<double>(*data.samples) * data.sample_bytes;
        if (dataset > data.storage->capacity->value) problems.push_back(too_large(s, dataset));
    }
    if (data.checkpoints && data.checkpoints->storage.read_only)
        problems.push_back({s.file, "/data/checkpoints/storage", "jobs only read from " + data.checkpoints->storage.name,
                            room_elsewhere(s.cluster, {}, "a storage that jobs write to")});
    return problems;
}

}  // namespace sextant
