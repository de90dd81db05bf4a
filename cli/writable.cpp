#include "cli/writable.hpp"

#include "model/base/diagnostics.hpp"
#include "model/io/format/separate_files.hpp"

#include <cerrno>
#include <cstring>
#include <set>

#include <unistd.h>

namespace sextant {

void check_writable(const std::filesystem::path& file) {
    namespace fs = std::filesystem;
    if (file.empty()) return;
    if (fs::is_directory(file)) throw BackendError("cannot write " + file.string() + ": it is a directory");
    // A file is written beside its place; a pipe or a device takes what comes.
    const bool takes_all = fs::exists(file) && !fs::is_regular_file(file);
    const fs::path written = takes_all ? file : fs::weakly_canonical(fs::absolute(file)).parent_path();
    if (::access(written.c_str(), W_OK) != 0) throw BackendError("cannot write " + file.string() + ": " + std::strerror(errno));
}

void check_named_once(const std::vector<std::filesystem::path>& files) {
    Diagnostics problems;
    std::set<std::filesystem::path> seen;
    for (const std::filesystem::path& file : files)
        if (!seen.insert(place_of(file)).second) problems.add({file.string(), "", "is named twice, and would count twice", "once"});
    problems.throw_if_any();
}

void check_picture(const std::filesystem::path& file) {
    if (file.has_extension() && file.extension() != ".svg")
        throw InputError(Diagnostic{"--picture " + file.string(), "", "pictures are drawn as SVG", "a name that ends in .svg"});
    check_writable(file);
}

std::string written_line(const std::filesystem::path& profile, std::string_view field) {
    return "\nwritten to " + profile.string() + "; use it with --set " + std::string(field) + "=" +
           std::filesystem::absolute(profile).string() + "\n";
}

}  // namespace sextant
