// What a framework's file says, for people.
#pragma once

#include <filesystem>
#include <string>

namespace sextant {

// Every field with the source of its number. Throws InputError where the file is none.
std::string framework_to_text(const std::filesystem::path& file);

}  // namespace sextant
