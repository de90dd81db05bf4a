// Keeps a program from writing over the files that it reads.
#pragma once

#include <filesystem>
#include <set>
#include <vector>

namespace sextant {

// Which file a path leads to, whether or not there is one yet.
std::filesystem::path place_of(const std::filesystem::path&);

// Throws InputError where a file that is written would take the place of one that is read, or of another that is written. An empty path:
// no file is asked for. A device or a pipe takes what comes.
void check_apart(const std::vector<std::filesystem::path>& outputs, const std::set<std::filesystem::path>& inputs = {});

}  // namespace sextant
