// Measures the storage behind a directory: latency, bandwidth, operations and opens per second, by one thread and by several.
#pragma once

#include "model/calibrate/storage_fit.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>

namespace sextant {

struct ProbeSettings {
    std::filesystem::path directory;
    Bytes most = 256 * units::MB;       // the most that is written; also at most a tenth of the free space
    Seconds time_limit = 3 * units::s;  // for each of some fifteen measurements
};

// Writes a large file and many small ones into a folder of its own, reads them cold and removes them. What cannot be dropped from the page
// cache is read past it (O_DIRECT); where that is not possible either, the result says so. `progress` is called with the measurements done
// and their total. Throws InputError where there is no such directory, BackendError where it cannot be written to.
StorageProbe probe_storage(const ProbeSettings&, const std::function<void(std::int64_t done, std::int64_t of)>& progress);

}  // namespace sextant
