// The scenarios that come with the program.
#pragma once

#include <filesystem>
#include <optional>

namespace sextant::gui {

// The first page of the documentation, in a source tree or in an installation. None where it is not installed.
std::optional<std::filesystem::path> documentation(const std::filesystem::path& data_root);

// Whether a file is a bundled scenario, which all users of this installation share.
bool is_bundled(const std::filesystem::path&);

}  // namespace sextant::gui
