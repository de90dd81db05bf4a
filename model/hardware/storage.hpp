// Storage classes: what people choose a filesystem by. Data only; the input pipeline prices them.
#pragma once

#include "model/base/provenance.hpp"
#include "model/base/quantity.hpp"

#include <optional>
#include <string>

namespace sextant {

enum class StorageKind { memory, disk, ssd, nvme, nfs, parallel, object };

struct StorageClass {
    std::string name;  // "Lustre, flash (LUMI-F)"
    StorageKind kind = StorageKind::ssd;
    bool shared = false;                                       // by all nodes of the cluster
    std::optional<Sourced<Seconds>> open_latency;              // open + first metadata, one file
    std::optional<Sourced<Seconds>> seek_latency;              // random access inside an open file
    std::optional<Sourced<Seconds>> create_latency;            // of one file, beside its bytes
    std::optional<Sourced<Seconds>> remove_latency;            // of one file
    std::optional<Sourced<Seconds>> remove_unwritten_latency;  // ... whose data were not written back yet; absent: as other files
    std::optional<Sourced<Bandwidth>> read_bandwidth;          // one stream
    std::optional<Sourced<Bandwidth>> write_bandwidth;
    std::optional<Sourced<Bandwidth>> random_read_bandwidth;  // of pieces from any place, beside the seek; absent: as a stream
    std::optional<Sourced<Bytes>> read_ahead;                 // read beyond what is asked for, at most; absent: nothing is
    std::optional<Sourced<Frequency>> random_read_rate;       // operations per second, deep queue
    std::optional<Sourced<Frequency>> metadata_rate;          // opens or stats per second, whole system
    std::optional<Sourced<Frequency>> create_rate;            // new files per second, whole system; absent: as many as opens
    std::optional<Sourced<Bandwidth>> client_read_bandwidth;  // one node's share at most
    std::optional<Sourced<Bandwidth>> client_write_bandwidth;
    std::optional<Sourced<Bandwidth>> total_read_bandwidth;  // whole system
    std::optional<Sourced<Bandwidth>> total_write_bandwidth;
    std::optional<Sourced<Bytes>> capacity;  // what a job may use: of a local one on each node, of a shared one in all
    std::optional<bool> backed_up;
    bool read_only = false;                     // for those who run jobs
    std::optional<Sourced<Seconds>> retention;  // files older than this are purged
    std::string notes;
};

// Fills in what a class leaves open and a stream of reads or writes needs: latencies, the bandwidth of one stream, and of a shared file
// system how many files all clients open a second. The numbers are usual for its kind and marked `estimated`. Creating and removing a file
// are taken to cost what opening one does. Caps of bandwidth that are not stated stay open.
void complete(StorageClass&);

// The host's own memory, as a place to read from: what the page cache is.
StorageClass page_cache();

}  // namespace sextant
