#include "backend/storage/replace_dataset.hpp"

#include "backend/storage/bring_to_disk.hpp"
#include "backend/storage/formats.hpp"
#include "backend/storage/sample_names.hpp"
#include "model/base/diagnostics.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>

namespace sextant {
namespace {

namespace fs = std::filesystem;

// A folder is ours if there are only folders of classes in it, by the names that we give them: nobody's other tree is taken for one.
bool is_ours(const fs::path& path) {
    if (fs::is_directory(path))
        return std::ranges::all_of(fs::directory_iterator(path), [](const fs::directory_entry& e) {
            return e.is_directory() && is_class_folder(e.path().filename().native());
        });
    if (fs::file_size(path) == 0) return true;
    try {
        format_at(path);
        return true;
    } catch (const InputError&) {
        return false;
    }
}

void check_replaceable(const fs::path& path) {
    if (fs::exists(path) && !is_ours(path))
        throw InputError(
            Diagnostic{path.string(), "", "something that is no dataset of ours lies there", "give another name, or remove it yourself"});
}

// In one step where the filesystem can, so that there is a dataset at any time.
void put(const fs::path& aside, const fs::path& path) {
    const auto refused = [&] { return BackendError("cannot write " + path.string() + ": " + std::strerror(errno)); };
    if (::renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) == 0) {
        fs::remove_all(aside);
        return;
    }
    if (errno != ENOENT && errno != EINVAL && errno != ENOSYS) throw refused();
    if (fs::is_directory(path)) {
        const fs::path old = path.string() + ".old";
        check_replaceable(old);
        fs::remove_all(old);
        if (std::rename(path.c_str(), old.c_str()) != 0 || std::rename(aside.c_str(), path.c_str()) != 0) throw refused();
        fs::remove_all(old);
    } else if (std::rename(aside.c_str(), path.c_str()) != 0) {
        throw refused();
    }
}

}  // namespace

void replace_dataset(const fs::path& given, const std::function<void(const fs::path&)>& write) {
    const fs::path path = given.has_filename() ? given : given.parent_path();  // "train/" is "train"
    const fs::path aside = path.string() + ".part";
    check_replaceable(path);
    check_replaceable(aside);  // left by one that was killed
    std::error_code error;
    fs::remove_all(aside, error);
    try {
        write(aside);
        bring_to_disk(aside);
        put(aside, path);
    } catch (...) {
        fs::remove_all(aside, error);
        throw;
    }
}

}  // namespace sextant
