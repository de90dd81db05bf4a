// The system keeps in memory what it has read: to measure a disk, that must go.
#pragma once

#include "model/base/quantity.hpp"

#include <filesystem>
#include <string>

namespace sextant {

// What is still in memory of a dataset after it was asked to go.
struct ColdState {
    Bytes all, left;
    bool folders_too = false;  // entries of folders and inodes, which only root may drop
};
ColdState drop_from_cache(const std::filesystem::path&);
// In words, what of it did not work; empty where all did.
std::string shortcoming(const ColdState&);
// In words, which memories behind the path nobody here can drop: a server's, that of a virtual machine's host; empty where none is known.
std::string beyond_reach(const std::filesystem::path&);

// What this process has asked of the system so far, as /proc/self/io says.
struct ReadCounters {
    double calls = 0;
    Bytes from_disk;
};
ReadCounters read_counters();

}  // namespace sextant
