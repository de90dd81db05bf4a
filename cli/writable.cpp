#include "cli/writable.hpp"

#include "model/base/diagnostics.hpp"

#include <cerrno>
#include <cstring>

#include <unistd.h>

namespace sextant {

void check_writable(const std::filesystem::path& file) {
    const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
    if (::access(folder.c_str(), W_OK) != 0) throw BackendError("cannot write " + file.string() + ": " + std::strerror(errno));
}

void check_picture(const std::filesystem::path& file) {
    if (file.has_extension() && file.extension() != ".svg")
        throw InputError(Diagnostic{"--picture " + file.string(), "", "pictures are drawn as SVG", "a name that ends in .svg"});
    check_writable(file);
}

std::string written_line(const std::filesystem::path& profile, std::string_view field) {
    return "\nwritten to " + profile.string() + "; use it by --set " + std::string(field) + "=" +
           std::filesystem::absolute(profile).string() + "\n";
}

}  // namespace sextant
