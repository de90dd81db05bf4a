#include "model/io/format/replace_file.hpp"

#include "model/base/diagnostics.hpp"
#include "model/io/format/replace_files.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

namespace sextant {
namespace {

std::filesystem::path beside(const std::filesystem::path& path) { return path.string() + ".part"; }

void move_to(const std::filesystem::path& path) {
    std::error_code error;
    std::filesystem::rename(beside(path), path, error);
    if (error) throw BackendError("cannot write " + path.string() + ": " + error.message());
}

void write_all(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write) {
    std::ofstream out(path, std::ios::binary);
    if (!out) throw BackendError("cannot write " + path.string() + ": " + std::strerror(errno));
    write(out);
    out.close();
    if (!out) throw BackendError("cannot write all of " + path.string() + ": is the disk full?");
}

}  // namespace

void replace_file(const std::filesystem::path& path, const std::function<void(const std::filesystem::path&)>& write) {
    try {
        write(beside(path));
        move_to(path);
    } catch (...) {
        std::error_code error;
        std::filesystem::remove(beside(path), error);
        throw;
    }
}

void replace_text_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write) {
    replace_file(path, [&](const std::filesystem::path& aside) { write_all(aside, write); });
}

ReplacedFiles::~ReplacedFiles() {
    std::error_code error;
    for (const std::filesystem::path& path : waiting_) std::filesystem::remove(beside(path), error);
}

void ReplacedFiles::write_text(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write) {
    waiting_.push_back(path);
    write_all(beside(path), write);
}

void ReplacedFiles::put_in_place() {
    for (const std::filesystem::path& path : waiting_) move_to(path);
    waiting_.clear();
}

}  // namespace sextant
