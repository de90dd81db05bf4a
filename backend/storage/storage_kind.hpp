// Facts about the storage behind a directory, from the system.
#pragma once

#include "model/hardware/storage.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace sextant {

struct StorageFacts {
    StorageKind kind = StorageKind::ssd;
    bool shared = false;              // behind a network, so that others may use it too
    Bytes free;                       // for an unprivileged user
    std::optional<Bytes> read_ahead;  // the most that the system reads beyond a request
};

// Throws BackendError where the system gives no answer.
StorageFacts storage_facts(const std::filesystem::path&);

// Throws InputError where a dataset of `needed` bytes does not fit into a folder.
void check_room(const std::filesystem::path& folder, Bytes needed, std::string hint);

}  // namespace sextant
