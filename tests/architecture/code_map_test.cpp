// The documentation says where each part of the code is.
#include "tests/architecture/source_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

namespace sextant {
namespace {

using testing::HasSubstr;

std::string page(const char* path) {
    std::ostringstream text;
    text << std::ifstream(repository_root() / path).rdbuf();
    return text.str();
}

// Of the folders in this one that have code.
std::set<std::string> folders_in(const std::string& folder) {
    std::set<std::string> names;
    for (const SourceFile& file : cpp_files(folder)) {
        const std::string inside = file.path.substr(folder.size() + 1);
        if (const auto slash = inside.find('/'); slash != std::string::npos) names.insert(inside.substr(0, slash));
    }
    return names;
}

TEST(CodeMap, HasEveryFolder) {
    const std::string map = page("docs/architecture.md");
    for (const std::string& name : folders_in("model")) EXPECT_THAT(map, HasSubstr("`model/" + name + "/`"));
    for (const char* folder : {"model/io", "backend"})
        for (const std::string& name : folders_in(folder)) EXPECT_THAT(map, HasSubstr("`" + name + "/`")) << folder;
}

TEST(CodeMap, HasEveryFileOfTheLargestFolder) {
    const std::string map = page("docs/execution.md");
    for (const SourceFile& file : cpp_files("backend/exec"))
        EXPECT_THAT(map, HasSubstr("`" + std::filesystem::path(file.path).stem().string() + "`"));
}

}  // namespace
}  // namespace sextant
