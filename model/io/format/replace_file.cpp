#include "model/io/format/replace_file.hpp"

#include "model/base/diagnostics.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

namespace sextant {
namespace {

std::filesystem::path beside(const std::filesystem::path& path) { return path.string() + ".part"; }

// Where a link leads, whether there is a file yet or not.
std::filesystem::path target_of(const std::filesystem::path& link) {
    return std::filesystem::weakly_canonical(link.parent_path() / std::filesystem::read_symlink(link));
}

}  // namespace

ReplacedFiles::~ReplacedFiles() {
    std::error_code error;
    for (const std::filesystem::path& path : waiting_) std::filesystem::remove(beside(path), error);
}

void ReplacedFiles::write(const std::filesystem::path& path, const std::function<void(const std::filesystem::path&)>& write) {
    // A device or a pipe takes what comes, and is never replaced; the one behind /dev/stdout need not even have a path. A link stays one.
    if (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path)) return write(path);
    const std::filesystem::path place = std::filesystem::is_symlink(path) ? target_of(path) : path;
    waiting_.push_back(place);
    write(beside(place));
}

void ReplacedFiles::write_text(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write_to) {
    write(path, [&](const std::filesystem::path& aside) {
        std::ofstream out(aside, std::ios::binary);
        if (!out) throw BackendError("cannot write " + aside.string() + ": " + std::strerror(errno));
        write_to(out);
        out.close();
        if (!out) throw BackendError("cannot write all of " + aside.string() + ": is the disk full?");
    });
}

void ReplacedFiles::put_in_place() {
    for (const std::filesystem::path& path : waiting_) {
        std::error_code error;
        // Whoever may read the file that was there may read this one.
        if (const auto before = std::filesystem::status(path, error); std::filesystem::is_regular_file(before))
            std::filesystem::permissions(beside(path), before.permissions(), error);
        std::filesystem::rename(beside(path), path, error);
        if (error) throw BackendError("cannot write " + path.string() + ": " + error.message());
    }
    waiting_.clear();
}

void replace_file(const std::filesystem::path& path, const std::function<void(const std::filesystem::path&)>& write) {
    ReplacedFiles one;
    one.write(path, write);
    one.put_in_place();
}

void replace_text_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write) {
    ReplacedFiles one;
    one.write_text(path, write);
    one.put_in_place();
}

void replace_text_file(const std::filesystem::path& path, std::string_view text) {
    replace_text_file(path, [&](std::ostream& out) { out << text; });
}

}  // namespace sextant
