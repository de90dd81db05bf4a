// An option that names a file to write.
#pragma once

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sextant {

// Refuses "-", which would otherwise become the name of a file.
CLI::Option* add_output(CLI::App& command, const std::string& option, std::string& file, const std::string& about, const std::string& type);

}  // namespace sextant
