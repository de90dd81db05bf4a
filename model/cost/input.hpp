// How fast samples come: from storage through the workers of a node to the memory of its devices. docs/model/input.md derives it.
//
// A loader is a closed system: each worker reads a sample, decodes it, hands it on and begins again. Its rate is bounded by
// the time that each worker takes alone, and by each resource that workers share (asymptotic bounds: Denning and Buzen, "The
// Operational Analysis of Queueing Network Models", ACM Computing Surveys 10(3), 1978). Where two bounds meet, workers wait
// for each other, and the rate is below both.
#pragma once

#include "model/cost/sample.hpp"

#include <string_view>
#include <vector>

namespace sextant {

// Some of the samples of an epoch, and where they are read from. The storage is complete (model/hardware/storage.hpp).
struct SampleSource {
    StorageClass storage;
    SampleAccess access;
    double share = 1;  // the fraction of all samples
    Seconds keep;      // beside reading: the time that a worker takes to copy a sample elsewhere
};

struct LoaderNode {
    double workers = 1;  // processes that read and decode side by side
    double cores = 1;    // that they run on
    Bandwidth network;   // to shared storage; zero: no limit
};

// What-if multipliers, of Resources (model/predict/estimate.hpp).
struct LoaderScale {
    double bandwidth = 1, operations = 1, workers = 1, cores = 1;
};
// Calls multiply(number, factor) for each number of a storage class that bounds reading. Memory is left as it is.
template <class Multiply>
void scale_reading(StorageClass& s, const LoaderScale& by, const Multiply& multiply) {
    if (s.kind == StorageKind::memory) return;
    for (auto* bandwidth : {&s.read_bandwidth, &s.random_read_bandwidth, &s.client_read_bandwidth, &s.total_read_bandwidth})
        multiply(*bandwidth, by.bandwidth);
    for (auto* latency : {&s.open_latency, &s.seek_latency}) multiply(*latency, 1 / by.operations);
    for (auto* rate : {&s.random_read_rate, &s.metadata_rate}) multiply(*rate, by.operations);
}

enum class LoaderLimit { workers, cores, operations, metadata, node_bandwidth, total_bandwidth, network };
std::string_view to_text(LoaderLimit);     // "the number of loader workers"
std::string_view short_text(LoaderLimit);  // "loader workers"

struct LoaderRate {
    Frequency samples;  // of one node
    LoaderLimit limit = LoaderLimit::workers;
    double unhindered = 1;  // the rate over its lowest bound: below 1 where workers wait for each other
    Seconds reading, work;  // of one sample, by one worker that has everything to itself
};
// What one sample needs of a shared resource, and what there is of it: bytes, operations, opens or core seconds, and those a second.
struct StorageDemand {
    LoaderLimit limit = LoaderLimit::operations;
    bool of_node = false;  // each node has this much; else all nodes share it
    double of_sample = 0, per_second = 0;
    Seconds alone;  // how long a worker that has it to itself uses it for a sample
};
std::vector<StorageDemand> storage_demands(const SampleSource&, Bandwidth network, double others);

// The rate of workers that each take `for_sample` for a sample, `there` of it at a resource that has room for `places` of them; where more
// come, they share it evenly.
Frequency shared_rate(double workers, Seconds for_sample, Seconds there, double places);

// Who uses shared storage besides.
struct StorageSharing {
    double nodes = 1;   // that load in the same way; one with fewer readers than the others counts as a part of one
    double others = 0;  // the fraction of the storage that other jobs take
};
// `work`: of a worker's thread for one sample. The shares of the sources sum to one.
LoaderRate loader_rate(const std::vector<SampleSource>&, Seconds work, const LoaderNode&, const StorageSharing& = {},
                       const LoaderScale& = {});

// The fraction of a node's reads in later epochs that it finds in memory. `cached`: the fraction of the dataset that fits there. `nodes`
// share each epoch's samples evenly. Where every epoch reads in the same order, the least recently used sample is always the next one, so
// nothing is found unless everything fits. With `epochs`, the mean of all epochs but the first; without, the limit of many epochs.
double page_cache_hits(double cached, int nodes, Shuffle, std::optional<double> epochs = {});

// From host to device memory. A pageable copy goes through a buffer of the driver, at a part of the bandwidth, while the device waits.
struct HostCopy {
    Bandwidth bandwidth;  // of the device's link, pinned
    bool pinned = true;
};
Seconds host_copy_time(Bytes, double copies, const HostCopy&);

}  // namespace sextant
