#include "tests/architecture/source_files.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <regex>
#include <sstream>

namespace sextant {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

std::vector<SourceFile> files_below(const fs::path& folder, const std::function<bool(const fs::path&)>& wanted) {
    std::vector<SourceFile> files;
    if (!fs::exists(folder)) return files;
    for (auto it = fs::recursive_directory_iterator(folder); it != fs::recursive_directory_iterator(); ++it) {
        const fs::path name = it->path().filename();
        if (it->is_directory() && (name == "build" || name == ".git" || name == "__pycache__")) it.disable_recursion_pending();
        if (!it->is_regular_file() || name == ".git" || !wanted(name)) continue;
        files.push_back({fs::relative(it->path(), repository_root()).generic_string(), read(it->path())});
    }
    std::ranges::sort(files, {}, &SourceFile::path);
    return files;
}

}  // namespace

fs::path repository_root() { return SEXTANT_SOURCE_DIR; }

std::vector<SourceFile> cpp_files(const std::string& folder) {
    return files_below(repository_root() / folder, [](const fs::path& name) {
        const std::string extension = name.extension().string();
        return extension == ".cpp" || extension == ".hpp" || extension == ".cu" || extension == ".cuh";
    });
}

std::vector<SourceFile> text_files() {
    std::vector<SourceFile> files = files_below(repository_root(), [](const fs::path&) { return true; });
    std::erase_if(files, [](const SourceFile& f) { return f.text.find('\0') != std::string::npos; });
    return files;
}

std::string without_comments(const std::string& cpp) {
    // A string literal is matched first, so that "//" inside one survives.
    static const std::regex literal_or_comment(R"re(("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*[^]*?\*/)re");
    return std::regex_replace(cpp, literal_or_comment, "$1");
}

}  // namespace sextant
