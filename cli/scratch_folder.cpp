#include "cli/scratch_folder.hpp"

#include "model/base/diagnostics.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sextant {
namespace {

namespace fs = std::filesystem;

// Who holds the lock of this file in a folder owns the folder: locks end with a process, however it ends.
constexpr auto owner_file = ".sextant-owner";

// -1 where there is no such file, where its filesystem has no locks, and with LOCK_NB where somebody owns the folder.
int take(const fs::path& folder, int open_flags, int lock_flags) {
    const int file = ::open((folder / owner_file).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | open_flags, 0600);
    if (file < 0 || ::flock(file, LOCK_EX | lock_flags) == 0) return file;
    ::close(file);
    return -1;
}

// Of processes that were killed. Those of other users cannot be opened.
void remove_folders_without_owner(const fs::path& in) {
    std::error_code none;
    for (fs::directory_iterator at(in, none), end; !none && at != end; at.increment(none)) {
        if (!at->path().filename().string().starts_with("sextant-")) continue;
        const int owner = take(at->path(), 0, LOCK_NB);
        if (owner < 0) continue;
        std::error_code left;
        fs::remove_all(at->path(), left);
        ::close(owner);
    }
}

}  // namespace

std::filesystem::path temporary_folder() {
    std::error_code wrong;
    std::filesystem::path folder = std::filesystem::temp_directory_path(wrong);
    if (!wrong) return folder;
    const char* stated = std::getenv("TMPDIR");
    throw BackendError(std::string("no folder for temporary files: ") + (stated ? "TMPDIR is " + std::string(stated) : "/tmp") + ": " +
                       wrong.message());
}

ScratchFolder::ScratchFolder(const std::filesystem::path& in) {
    remove_folders_without_owner(in);
    struct stat owned {};
    do {  // again where another process found it without an owner before its file was locked, and removed it
        if (owner_ >= 0) ::close(owner_);
        std::string name = (in / "sextant-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw BackendError("cannot make the folder " + name + ": " + std::strerror(errno));
        path_ = name;
        owner_ = take(path_, O_CREAT, 0);
    } while (owner_ >= 0 && ::fstat(owner_, &owned) == 0 && owned.st_nlink == 0);
}

ScratchFolder::~ScratchFolder() {
    std::error_code none;
    std::filesystem::remove_all(path_, none);
    if (owner_ >= 0) ::close(owner_);
}

}  // namespace sextant
