#include "backend/storage/file.hpp"

#include "backend/storage/dataset.hpp"
#include "model/base/diagnostics.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sextant {
namespace {

constexpr std::size_t buffer_bytes = 1 << 20;

}  // namespace

void visit_below(const std::filesystem::path& folder, const std::function<void(const std::filesystem::directory_entry&)>& visit) {
    namespace fs = std::filesystem;
    std::vector<fs::path> entered{fs::canonical(folder)};  // level by level
    for (fs::recursive_directory_iterator at(folder, fs::directory_options::follow_directory_symlink), end; at != end; ++at) {
        std::error_code leads_nowhere;
        if (at->is_directory(leads_nowhere)) {
            entered.resize(static_cast<std::size_t>(at.depth()) + 1);
            entered.push_back(fs::canonical(at->path()));
            if (std::find(entered.begin(), entered.end() - 1, entered.back()) != entered.end() - 1) {
                at.disable_recursion_pending();
                continue;
            }
        }
        visit(*at);
    }
}

std::filesystem::path whole_path(const std::filesystem::path& path) {
    const std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
    return whole.has_filename() ? whole : whole.parent_path();
}

Descriptor::~Descriptor() {
    if (number_ >= 0) ::close(number_);
}

void write_all(const Descriptor& file, BlobView bytes, const std::filesystem::path& path) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(file.number(), bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) throw BackendError("cannot write all of " + path.string() + ": " + std::strerror(errno));
        bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
}

// A pipe that nobody writes would keep open() waiting; to a file O_NONBLOCK means nothing.
InputFile::InputFile(const std::filesystem::path& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status {};
    if (descriptor_.number() < 0 || ::fstat(descriptor_.number(), &status) != 0)
        throw_damage(std::string("it cannot be opened: ") + std::strerror(errno));
    if (!S_ISREG(status.st_mode)) throw_damage("it is no regular file");
    size_ = static_cast<std::uint64_t>(status.st_size);
}

void InputFile::read(std::uint64_t at, std::span<std::uint8_t> into) const {
    std::size_t done = 0;
    while (done < into.size()) {
        const ssize_t n = ::pread(descriptor_.number(), into.data() + done, into.size() - done, static_cast<off_t>(at + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) throw_damage(std::string("it cannot be read: ") + std::strerror(errno));
        if (n == 0)
            throw_damage("it ends after " + std::to_string(at + done) + " bytes, and " + std::to_string(at + into.size()) + " are needed",
                         "was it copied whole?");
        done += static_cast<std::size_t>(n);
    }
}

Blob InputFile::read(std::uint64_t at, std::uint64_t bytes) const {
    if (at > size_ || bytes > size_ - at)
        throw_damage("it has " + std::to_string(size_) + " bytes, and " + std::to_string(bytes) + " are needed at " + std::to_string(at),
                     "was it copied whole?");
    Blob blob(bytes);
    read(at, blob);
    return blob;
}

Blob InputFile::head(std::uint64_t bytes) const { return read(0, std::min(bytes, size_)); }

void InputFile::check_size() const {
    struct stat status {};
    if (::fstat(descriptor_.number(), &status) != 0) throw_damage(std::string("it cannot be read: ") + std::strerror(errno));
    if (static_cast<std::uint64_t>(status.st_size) < size_)
        throw_damage("it ends after " + std::to_string(status.st_size) + " bytes, and had " + std::to_string(size_) + " when it was opened",
                     "does another program write it?");
}

OutputFile::OutputFile(std::filesystem::path path)
    : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    if (descriptor_.number() < 0) throw BackendError("cannot write " + path_.string() + ": " + std::strerror(errno));
    buffer_.reserve(buffer_bytes);
}

void OutputFile::write(BlobView bytes) {
    if (buffer_.size() + bytes.size() > buffer_bytes) flush();
    append_bytes(buffer_, bytes);
}

void OutputFile::flush() {
    write_all(descriptor_, buffer_, path_);
    buffer_.clear();
}

void OutputFile::finish() {
    flush();
    if (::close(descriptor_.release()) != 0) throw BackendError("cannot write all of " + path_.string() + ": " + std::strerror(errno));
}

void check_sample_size(std::uint64_t bytes) {
    if (bytes > static_cast<std::uint64_t>(largest_sample_bytes))
        throw_damage("a sample of " + std::to_string(bytes) + " bytes is more than is believed", "the file is damaged, or no dataset");
}

}  // namespace sextant
