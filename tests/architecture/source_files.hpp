// The repository as text, for the tests of its architecture.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sextant {

struct SourceFile {
    std::string path;  // from the root of the repository: "model/base/ids.hpp"
    std::string text;
};

std::filesystem::path repository_root();

// The C++ files below a folder, sorted by path; none if there is no such folder.
std::vector<SourceFile> cpp_files(const std::string& folder);
// Every text file of the repository, build outputs and version control apart.
std::vector<SourceFile> text_files();

std::string without_comments(const std::string& cpp);

}  // namespace sextant
