#include "cli/scratch_folder.hpp"

#include "model/base/diagnostics.hpp"

#include <cstdlib>
#include <cstring>

namespace sextant {

ScratchFolder::ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "sextant-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw BackendError("cannot make the folder " + name + ": " + std::strerror(errno));
    path_ = name;
}

ScratchFolder::~ScratchFolder() {
    std::error_code none;
    std::filesystem::remove_all(path_, none);
}

}  // namespace sextant
