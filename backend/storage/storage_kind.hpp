// What the system says of the storage behind a directory.
#pragma once

#include "model/hardware/storage.hpp"

#include <filesystem>
#include <optional>

namespace sextant {

struct StorageFacts {
    StorageKind kind = StorageKind::ssd;
    bool shared = false;              // behind a network, so that others may use it too
    Bytes free;                       // for whoever asks
    std::optional<Bytes> read_ahead;  // what the system reads at most beyond what was asked for
};

// Throws BackendError where the system does not say.
StorageFacts storage_facts(const std::filesystem::path&);

}  // namespace sextant
