#include "backend/storage/staging_folder.hpp"

#include "model/base/diagnostics.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace sextant {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view any = "XXXXXX";  // as mkdtemp takes it

// With the host in it: of a folder that hosts share, each sees only its own locks, and removes only what is its own.
std::string name_begins() {
    char host[256] = {};
    ::gethostname(host, sizeof host - 1);
    return "sextant-stage-" + std::string(host) + "-";
}

Descriptor opened(const fs::path& folder) { return Descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)); }

// A lock goes with its process, however that ends. Where the filesystem has none, nothing counts as left.
void remove_what_is_left(const fs::path& in) {
    const std::string begins = name_begins();
    for (const fs::directory_entry& entry : fs::directory_iterator(in)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(begins) || name.size() != begins.size() + any.size()) continue;
        const Descriptor left = opened(entry.path());
        std::error_code ignored;
        if (::flock(left.number(), LOCK_EX | LOCK_NB) == 0) fs::remove_all(entry.path(), ignored);
    }
}

}  // namespace

StagingFolder::StagingFolder(const fs::path& in) {
    const Descriptor turn = opened(in);
    ::flock(turn.number(), LOCK_EX);  // else another process could meet the new folder before it is locked
    remove_what_is_left(in);
    std::string name = (in / (name_begins() + std::string(any))).string();
    if (::mkdtemp(name.data()) == nullptr) throw BackendError("cannot make the folder " + name + ": " + std::strerror(errno));
    path_ = name;
    lock_ = opened(path_);
    ::flock(lock_.number(), LOCK_EX);
}

StagingFolder::~StagingFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

}  // namespace sextant
