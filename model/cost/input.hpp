// How fast samples come: from storage through the workers of a node to the memory of its devices. docs/model/input.md derives it.
//
// A loader is a closed system: each worker reads a sample, decodes it, hands it on and begins again. Its rate is bounded by what each
// worker takes alone, and by each resource that they share (asymptotic bounds: Denning and Buzen, "The Operational Analysis of Queueing
// Network Models", ACM Computing Surveys 10(3), 1978). Where two bounds meet workers wait for each other, and the rate is less than both.
#pragma once

#include "model/cost/data_formats.hpp"
#include "model/hardware/cluster.hpp"

#include <string_view>
#include <vector>

namespace sextant {

// What reading one sample asks of storage.
struct SampleAccess {
    double opens = 0;  // of files
    double seeks = 0;  // places in a file that no read-ahead has fetched
    Bytes bytes;
    double at_places = 0;  // the part of samples that begin at such a place, not where the one before ended
};
SampleAccess sample_access(DataFormat, Shuffle, Bytes sample, std::optional<std::int64_t> samples_per_file);

// What the system reads ahead of one that reads in any order is what others of the file need: they are there when they are asked for, if
// `kept`, the part of the dataset that the node reads in an epoch and its memory holds, is not much less than all.
SampleAccess with_read_ahead(SampleAccess, const StorageClass&, double kept);

// A thread of a host: its speed, and what was measured of it with samples.
struct SampleThread {
    double speed = 1;
    SampleSpeeds measured;
};
SampleThread thread_of(const HostSpec&);

// Values that it decodes: as measured, else as usual at its speed. Nothing where samples are values already.
std::optional<Sourced<Bandwidth>> decoding_speed(SampleEncoding, const SampleThread&);

// What a worker's thread does with one sample. `stored`, and `input`: the values that the network takes.
Seconds sample_work(DataFormat, SampleEncoding, Transform, Bytes stored, std::optional<Bytes> decoded, Bytes input, const SampleThread&);
// What a thread does with a sample that it puts there: encodes it, and hands it to the library of the format.
Seconds writing_work(DataFormat, SampleEncoding, Bytes stored, std::optional<Bytes> decoded, const SampleThread&);

// Some of the samples of an epoch, and where they are read from. The storage is complete (model/hardware/storage.hpp).
struct SampleSource {
    StorageClass storage;
    SampleAccess access;
    double share = 1;  // of all samples
    Seconds keep;      // beside reading: what a worker takes to keep it elsewhere
};

struct LoaderNode {
    double workers = 1;  // that read and decode side by side
    double cores = 1;    // that they run on
    Bandwidth network;   // to shared storage; zero: no limit
};

// What-if multipliers, of Resources (model/predict/estimate.hpp).
struct LoaderScale {
    double bandwidth = 1, operations = 1, workers = 1, cores = 1;
};
// multiply(number, by) for each number of a storage class that bounds reading; memory stays as it is.
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
    double unhindered = 1;  // what is left of the least bound where workers wait for each other
    Seconds reading, work;  // of one sample by one worker that has everything to itself
};
// What one sample asks of storage that others use too, and what there is of it: bytes, operations or opens, and those a second.
struct StorageDemand {
    LoaderLimit limit = LoaderLimit::operations;
    bool of_node = false;  // every node has so much for itself; else all nodes have it together
    double of_sample = 0, per_second = 0;
    Seconds alone;  // what it takes of a worker's time for a sample that shares it with nobody
};
std::vector<StorageDemand> storage_demands(const SampleSource&, Bandwidth network, double others);

// Of workers that use something for the part `there` of what each takes for a sample, when it has room for `places` of them; where more
// come they share it evenly.
Frequency shared_rate(double workers, Seconds for_sample, Seconds there, double places);

// `work`: of a worker's thread for one sample. `nodes` load alike, and one with fewer readers than the others is a part of one; `others`:
// what other jobs take of storage that is shared. The shares of the sources sum to one.
LoaderRate loader_rate(const std::vector<SampleSource>&, Seconds work, const LoaderNode&, double nodes, double others,
                       const LoaderScale& = {});

// As much as is read from a place at once; calibrate --storage measures pieces of this size.
constexpr Bytes storage_piece = 512 * units::KiB;

// One read or write with nothing else going on.
Seconds read_time(const SampleAccess&, const StorageClass&);
Seconds write_time(const SampleAccess&, const StorageClass&);

// The share of a node's reads, in later epochs, that the memory it read to before still holds: `cached` of the dataset fits there, `nodes`
// of them share each epoch's samples evenly. Where all are read in the same order in every epoch, the least recently used is always the
// next: nothing is found unless everything fits. Of a run of so many `epochs` the mean of all but the first; not stated: of many, behind
// those in which memory fills.
double page_cache_hits(double cached, int nodes, Shuffle, std::optional<double> epochs = {});

// `samples` of them onto every one of `nodes` nodes, read from `from` and written to `to` one after another.
struct StagingJob {
    StorageClass from, to;
    DataFormat format = DataFormat::files;
    Bytes sample;
    std::optional<std::int64_t> samples_per_file;
    double samples = 0;
    StagingMode mode = StagingMode::copy;
    double nodes = 1;
    double others = 0;
    Bandwidth network;
};
struct StagingTime {
    Seconds copy, unpack, remove;
    Seconds remove_unwritten;  // in place of `remove`, while the system has not brought it to the storage yet
    [[nodiscard]] Seconds total() const { return copy + unpack + remove; }
    // Where so much time is between the last write and the removal.
    [[nodiscard]] StagingTime after(Seconds) const;
};
StagingTime staging_time(const StagingJob&);
// Where a copy reads its samples.
SampleSource copied_from(const StagingJob&);

// `writers` on `nodes` nodes write a checkpoint of so many bytes, each its part as one file. `left`: the part of shared storage that nobody
// else takes.
Seconds checkpoint_time(Bytes, const StorageClass&, double writers, double nodes, Bandwidth network, double left = 1);
// The same, read back by those who wrote it.
Seconds checkpoint_read_time(Bytes, const StorageClass&, double writers, double nodes, Bandwidth network, double left = 1);

// From host to device memory. A pageable copy goes through a buffer of the driver: at this part of the bandwidth, while the device waits.
struct HostCopy {
    Bandwidth bandwidth;  // of the device's link, pinned
    bool pinned = true;
};
Seconds host_copy_time(Bytes, double copies, const HostCopy&);

}  // namespace sextant
