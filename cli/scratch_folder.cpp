#include "cli/scratch_folder.hpp"

#include "model/base/diagnostics.hpp"

#include <cstdlib>
#include <cstring>

namespace sextant {

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
