#include "model/io/format/replace_file.hpp"

#include "tests/temporary_folder.hpp"

#include <fstream>

namespace sextant {
namespace {

namespace fs = std::filesystem;

class ReplaceFile : public TemporaryFolder {
protected:
    static std::string text_of(const fs::path& file) {
        std::ifstream in(file);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    const fs::path file_ = folder_ / "file";
};

TEST_F(ReplaceFile, LeavesTheOldOneWhereTheNewOneIsNotWritten) {
    replace_text_file(file_, "old");
    const auto fails = [](std::ostream& out) {
        out << "new";
        throw std::runtime_error("no");
    };
    EXPECT_THROW(replace_text_file(file_, fails), std::runtime_error);
    EXPECT_EQ(text_of(file_), "old");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(ReplaceFile, KeepsWhoMayReadIt) {
    replace_text_file(file_, "old");
    fs::permissions(file_, fs::perms::owner_read | fs::perms::owner_write);
    replace_text_file(file_, "new");
    EXPECT_EQ(text_of(file_), "new");
    EXPECT_EQ(fs::status(file_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(ReplaceFile, FollowsALinkWhetherItLeadsToAFileYetOrNot) {
    const fs::path link = folder_ / "link";
    fs::create_symlink("file", link);
    for (const char* text : {"first", "second"}) {
        replace_text_file(link, text);
        EXPECT_TRUE(fs::is_symlink(link));
        EXPECT_EQ(text_of(file_), text);
    }
}

}  // namespace
}  // namespace sextant
