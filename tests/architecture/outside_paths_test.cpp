// The repository stands alone: what it needs is in it.
#include "tests/architecture/source_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <regex>
#include <string_view>

namespace sextant {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;
using testing::SizeIs;

const std::string up = "../";

// Where the checkout lies in /main, ".../tree/main/docs" is no path into it.
bool continues_a_path(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("._-~}").find(c) != std::string::npos;
}

// Paths that climb out of the repository, and paths into the place where this checkout happens to lie.
std::vector<std::string> paths_outside(const SourceFile& file) {
    std::vector<std::string> found;
    static const std::regex climbing(R"re((?:\.\./)+[\w.\-]+)re");
    for (auto it = std::sregex_iterator(file.text.begin(), file.text.end(), climbing); it != std::sregex_iterator(); ++it) {
        const std::string path = it->str();
        const fs::path target = (fs::path(file.path).parent_path() / path).lexically_normal();
        if (target.begin()->string() == ".." || path.ends_with(up + "shared")) found.push_back(file.path + ": " + path);
    }
    const std::string here = repository_root().generic_string() + '/';
    for (std::size_t at = file.text.find(here); at != std::string::npos; at = file.text.find(here, at + 1))
        if (at == 0 || !continues_a_path(file.text[at - 1])) found.push_back(file.path + ": " + here);
    return found;
}

// Links of a Markdown file that lead to no file.
std::vector<std::string> broken_links(const SourceFile& file) {
    std::vector<std::string> found;
    static const std::regex link(R"re(\]\(([^)#:\s]+)(?:#[^)\s]*)?\))re");
    for (auto it = std::sregex_iterator(file.text.begin(), file.text.end(), link); it != std::sregex_iterator(); ++it)
        if (!fs::exists((repository_root() / file.path).parent_path() / (*it)[1].str())) found.push_back(file.path + ": " + (*it)[1].str());
    return found;
}

TEST(Architecture, NoFileMentionsAPathOutsideTheRepository) {
    const std::vector<SourceFile> files = text_files();
    EXPECT_GT(files.size(), 20u) << "the test must have found the repository";
    for (const SourceFile& file : files) EXPECT_THAT(paths_outside(file), IsEmpty());
}

TEST(Architecture, APathOutsideTheRepositoryIsFound) {
    EXPECT_THAT(paths_outside({"README.md", "see " + up + "elsewhere/x.json"}), SizeIs(1));
    EXPECT_THAT(paths_outside({"docs/a.md", "see " + up + "shared/x.json"}), SizeIs(1));
    EXPECT_THAT(paths_outside({"docs/a.md", "see " + up + up + "elsewhere"}), SizeIs(1));
    EXPECT_THAT(paths_outside({"docs/a.md", "see " + repository_root().string() + "/README.md"}), SizeIs(1));
    EXPECT_THAT(paths_outside({"docs/a.md", "see " + up + "model/base/ids.hpp"}), IsEmpty());
    EXPECT_THAT(paths_outside({"docs/a.md", "see share" + repository_root().string() + "/README.md"}), IsEmpty());
}

TEST(Architecture, EveryRelativeLinkOfADocumentLeadsToAFile) {
    std::vector<SourceFile> documents = text_files();
    std::erase_if(documents, [](const SourceFile& file) { return !file.path.ends_with(".md"); });
    for (const SourceFile& file : documents) EXPECT_THAT(broken_links(file), IsEmpty());
}

TEST(Architecture, ABrokenLinkIsFound) {
    EXPECT_THAT(broken_links({"docs/x.md", "[here](no_such_file.md)"}), SizeIs(1));
    EXPECT_THAT(broken_links({"docs/x.md", "[here](" + up + "CMakeLists.txt#top) [there](https://example.org)"}), IsEmpty());
}

}  // namespace
}  // namespace sextant
