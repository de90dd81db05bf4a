// What the driver of a device says of it, and how fast it copies. Data only.
#pragma once

#include "model/base/quantity.hpp"

#include <string>

namespace sextant {

struct DeviceFacts {
    std::string name;                // as the driver calls it: "NVIDIA H200"
    std::string compute_capability;  // "9.0"
    int multiprocessors = 0;
    Frequency clock;             // boost
    Bytes memory;                // that programs can have
    Bytes l2;                    // zero: not told
    Bandwidth memory_bandwidth;  // by its clock and its width; zero: not told
    Bandwidth copies;            // from pinned memory of the host, measured
};

}  // namespace sextant
