#include "cli/writable.hpp"

#include "model/base/diagnostics.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include <unistd.h>

namespace sextant {
namespace {

TEST(Writable, AsksADeviceItselfForWhichNobodyNeedsToWriteToItsFolder) {
    constexpr uid_t nobody = 65534;
    const auto write_as_nobody = [] {
        [[maybe_unused]] const int refused = ::setuid(nobody);  // who is not root is as good
        check_writable("/dev/null");
        std::_Exit(0);
    };
    EXPECT_EXIT(write_as_nobody(), testing::ExitedWithCode(0), "");
}

TEST(Writable, RefusesFoldersAndFilesInNone) {
    check_writable({});
    check_writable(testing::TempDir() + "file");
    EXPECT_THROW(check_writable(testing::TempDir()), BackendError);
    EXPECT_THROW(check_writable("/no/such/folder/file"), BackendError);
}

}  // namespace
}  // namespace sextant
