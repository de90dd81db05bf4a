// How fast the storage behind a directory is: latency, bandwidth, operations and opens per second, by one thread and by several.
#pragma once

#include "model/calibrate/storage_fit.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>

namespace sextant {

struct ProbeSettings {
    std::filesystem::path directory;
    Bytes most = 256 * units::MB;     // that are written, and no more than a tenth of what is free
    Seconds patience = 3 * units::s;  // for each of some fifteen measurements
};

// Writes a large file and many small ones into a folder of its own, reads them cold and takes them away. What cannot be dropped from memory
// is read past it (O_DIRECT); where that is not possible either, it is noted. `progress` as of make_dataset.hpp, over the measurements.
// Throws InputError where there is no such directory, BackendError where it cannot be written.
StorageProbe probe_storage(const ProbeSettings&, const std::function<void(std::int64_t done, std::int64_t of)>& progress);

}  // namespace sextant
