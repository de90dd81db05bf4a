#include "backend/storage/bring_to_disk.hpp"

#include "backend/storage/file.hpp"
#include "model/base/diagnostics.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace sextant {

void bring_to_disk(const std::filesystem::path& path) {
    const Descriptor there(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const bool folder = std::filesystem::is_directory(path);
    // File by file a folder would take a journal's round for each.
    if (there.number() < 0 || (folder ? ::syncfs(there.number()) : ::fsync(there.number())) != 0)
        throw BackendError("cannot bring " + path.string() + " to the disk: " + std::strerror(errno));
}

}  // namespace sextant
