#include "cli/scratch_folder.hpp"

#include "model/base/diagnostics.hpp"

#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

namespace sextant {

std::filesystem::path temporary_folder() {
    std::error_code wrong;
    std::filesystem::path folder = std::filesystem::temp_directory_path(wrong);
    if (!wrong) return folder;
    const char* stated = std::getenv("TMPDIR");
    throw BackendError(std::string("no folder for temporary files: ") + (stated ? "TMPDIR is " + std::string(stated) : "/tmp") + ": " +
                       wrong.message());
}

ScratchFolder::ScratchFolder(const std::filesystem::path& in) {
    std::string name = (in / "sextant-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw BackendError("cannot make the folder " + name + ": " + std::strerror(errno));
    path_ = name;
}

ScratchFolder::~ScratchFolder() {
    std::error_code none;
    std::filesystem::remove_all(path_, none);
}

}  // namespace sextant
