// The system keeps in memory what it has read. To measure a disk, this page cache must be dropped.
#pragma once

#include "model/base/quantity.hpp"

#include <filesystem>
#include <string>

namespace sextant {

// What of a dataset is still in memory after it was dropped.
struct ColdState {
    Bytes all, left;
    bool folders_too = false;  // entries of folders and inodes, which only root may drop
};
ColdState drop_from_cache(const std::filesystem::path&);
// Says what could not be dropped; empty where all was.
std::string shortcoming(const ColdState&);
// Says which caches behind the path cannot be dropped from here: a server's, or that of a virtual machine's host. Empty where none is
// known.
std::string beyond_reach(const std::filesystem::path&);

// What this process has read from the system so far, from /proc/self/io.
struct ReadCounters {
    double calls = 0;
    Bytes from_disk;
};
ReadCounters read_counters();

}  // namespace sextant
