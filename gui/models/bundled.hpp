// The scenarios that come with the program.
#pragma once

#include <filesystem>
#include <optional>

namespace sextant::gui {

// The page that documentation begins with: in a source tree, or where an installation puts it. None where it is not installed.
std::optional<std::filesystem::path> documentation(const std::filesystem::path& data_root);

// Whether a file is one of them: all who use the program here share it.
bool is_bundled(const std::filesystem::path&);

}  // namespace sextant::gui
