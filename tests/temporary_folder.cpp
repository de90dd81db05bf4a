// A test program has the folder for temporary files to itself, and so have the programs that it starts: no name in it is another process's,
// or was left by one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <unistd.h>

namespace sextant {
namespace {

namespace fs = std::filesystem;

class OwnTemporaryFolder : public testing::Environment {
public:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "sextant_tests_XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr) << name;
        folder_ = name;
        fs::permissions(folder_, fs::perms::others_exec | fs::perms::group_exec, fs::perm_options::add);  // some tests become somebody else
        for (const char* variable : {"TMPDIR", "TEST_TMPDIR"}) ::setenv(variable, name.c_str(), 1);       // the second is googletest's
    }
    void TearDown() override {
        std::error_code written_to;  // by ranks of a program that was killed
        fs::remove_all(folder_, written_to);
    }

private:
    fs::path folder_;
};

[[maybe_unused]] const testing::Environment* const own_folder = testing::AddGlobalTestEnvironment(new OwnTemporaryFolder);

}  // namespace
}  // namespace sextant
