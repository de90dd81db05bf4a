#include "backend/storage/probe_folder.hpp"

#include "model/base/diagnostics.hpp"

#include <unistd.h>

namespace sextant {

namespace fs = std::filesystem;

ProbeFolder::ProbeFolder(const fs::path& directory) : path_(directory / (".sextant-probe-" + std::to_string(::getpid()))) {
    std::error_code error;
    if (!fs::is_directory(directory, error)) throw InputError(Diagnostic{directory.string(), "", "it is no directory", {}});
    if (!fs::create_directory(path_, error)) throw BackendError("cannot make " + path_.string() + ": " + error.message());
}

ProbeFolder::~ProbeFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

}  // namespace sextant
