#include "model/io/format/text_file.hpp"
#include "tests/temporary_folder.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include <unistd.h>

namespace sextant {
namespace {

namespace fs = std::filesystem;

std::string why_unreadable(const fs::path& file) {
    Diagnostics problems;
    if (check_regular_file(file, problems)) return {};
    return problems.list().front().what;
}

class RegularFiles : public TemporaryFolder {};

TEST_F(RegularFiles, AreRefusedWithTheReasonThatTheSystemGives) {
    const fs::path loop = folder_ / "loop";
    fs::create_symlink("loop", loop);
    EXPECT_EQ(why_unreadable(loop), "cannot be read: Too many levels of symbolic links");
    EXPECT_EQ(why_unreadable(folder_ / std::string(300, 'x')), "cannot be read: File name too long");  // 255 are the most
    EXPECT_EQ(why_unreadable(folder_ / "none"), "no such file");
    EXPECT_EQ(why_unreadable(folder_), "is a directory");
    EXPECT_EQ(why_unreadable("/dev/null"), "is not a regular file");
}

TEST_F(RegularFiles, MustBeAllowedToBeRead) {
    const fs::path file = folder_ / "secret";
    std::ofstream(file) << "{}";
    fs::permissions(file, fs::perms::none);
    const auto read_as_nobody = [&] {
        constexpr uid_t nobody = 65534;
        [[maybe_unused]] const int refused = ::setuid(nobody);  // who is not root is as good
        std::_Exit(why_unreadable(file) == "cannot be read: Permission denied" ? 0 : 1);
    };
    fs::permissions(folder_, fs::perms::all);
    EXPECT_EXIT(read_as_nobody(), testing::ExitedWithCode(0), "");
}

TEST_F(RegularFiles, AreNeverTheStandardInput) {
    Diagnostics problems;
    EXPECT_FALSE(check_regular_file("-", problems));
    EXPECT_EQ(problems.list().front().hint, "name a file: standard input is not read");
}

}  // namespace
}  // namespace sextant
