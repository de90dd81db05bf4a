#include "backend/storage/staging_folder.hpp"

#include "model/base/diagnostics.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
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
    start_remover();
}

// In a session of its own, with nothing of this process but the end of a pipe. Spawned, not forked: a process that a network adapter writes
// to must not be copied. Where it cannot be, the next job removes the folder.
void StagingFolder::start_remover() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    const Descriptor end(ends[0]);
    alive_ = Descriptor(ends[1]);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, end.number(), STDIN_FILENO);
    for (const int output : {STDOUT_FILENO, STDERR_FILENO}) posix_spawn_file_actions_addopen(&files, output, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    char shell[] = "/bin/sh", option[] = "-c", script[] = "read -r never; exec rm -rf -- \"$0\"";
    std::string folder = path_.string();
    char* const words[] = {shell, option, script, folder.data(), nullptr};
    if (::posix_spawn(&remover_, shell, &files, &attributes, words, environ) != 0) remover_ = 0;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
}

StagingFolder::~StagingFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    alive_ = Descriptor();
    if (remover_ > 0) ::waitpid(remover_, nullptr, 0);
}

}  // namespace sextant
