#include "model/io/format/text_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

namespace sextant {
namespace {

constexpr std::uintmax_t most_bytes = 256u << 20;
constexpr std::size_t piece = 1 << 20, most_unpacked_bytes = std::size_t{4} << 30;

std::nullopt_t refuse(const std::filesystem::path& path, Diagnostics& diagnostics, std::string what, std::string hint = {}) {
    diagnostics.add({path.string(), "", std::move(what), std::move(hint)});
    return std::nullopt;
}

// zlib reads what is not packed as it is.
using File = std::unique_ptr<gzFile_s, int (*)(gzFile)>;
File open(const std::filesystem::path& path) { return {gzopen(path.c_str(), "rb"), gzclose}; }

// Adds up to so many bytes. False where there are no more, and where the file is damaged.
bool read_more(gzFile file, std::size_t bytes, std::string& text) {
    const std::size_t before = text.size();
    text.resize(before + bytes);
    const int got = gzread(file, text.data() + before, static_cast<unsigned>(bytes));
    text.resize(before + static_cast<std::size_t>(std::max(0, got)));
    return got > 0;
}

}  // namespace

std::filesystem::path file_beside(const std::filesystem::path& by, const std::filesystem::path& name) { return by.parent_path() / name; }

bool check_regular_file(const std::filesystem::path& path, Diagnostics& diagnostics) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    const auto fail = [&](std::string what, std::string hint = {}) {
        refuse(path, diagnostics, std::move(what), std::move(hint));
        return false;
    };
    if (status.type() == std::filesystem::file_type::not_found)
        return fail("no such file", path == "-" ? "name a file: standard input is not read" : "check the path");
    if (!std::filesystem::status_known(status)) return fail("cannot be read: " + error.message());
    if (std::filesystem::is_directory(status)) return fail("is a directory", "name a file in it");
    if (!std::filesystem::is_regular_file(status)) return fail("is not a regular file", "what comes from a pipe or a device is not read");
    if (!std::ifstream(path)) return fail(std::string("cannot be read: ") + std::strerror(errno));
    return true;
}

std::optional<std::string> read_text_file(const std::filesystem::path& path, Diagnostics& diagnostics) {
    if (!check_regular_file(path, diagnostics)) return std::nullopt;
    std::error_code error;
    if (std::filesystem::file_size(path, error) > most_bytes || error)
        return refuse(path, diagnostics, "larger than 256 MiB: not one of our files");
    diagnostics.opened(path);
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) return refuse(path, diagnostics, "cannot be read");
    return std::move(text).str();
}

std::optional<std::string> read_packed_text(const std::filesystem::path& path, Diagnostics& diagnostics) {
    if (!check_regular_file(path, diagnostics)) return std::nullopt;
    diagnostics.opened(path);
    const File file = open(path);
    if (!file) return refuse(path, diagnostics, "cannot be read");
    std::string text;
    while (read_more(file.get(), piece, text))
        if (text.size() > most_unpacked_bytes) return refuse(path, diagnostics, "is larger than 4 GiB", "profile fewer steps");
    int code = Z_OK;
    gzerror(file.get(), &code);
    if (code != Z_OK && code != Z_STREAM_END) return refuse(path, diagnostics, "is packed with gzip, and damaged or cut off");
    return text;
}

std::string start_of_packed_text(const std::filesystem::path& path, std::size_t bytes) {
    std::string text;
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return text;
    if (const File file = open(path)) read_more(file.get(), bytes, text);
    return text;
}

}  // namespace sextant
