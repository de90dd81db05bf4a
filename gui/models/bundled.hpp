// The scenarios that come with the program.
#pragma once

#include <filesystem>

namespace sextant::gui {

// Whether a file is one of them: all who use the program here share it.
bool is_bundled(const std::filesystem::path&);

}  // namespace sextant::gui
