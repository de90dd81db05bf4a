#include "model/base/failure.hpp"

#include "model/base/diagnostics.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <new>
#include <system_error>

namespace sextant {
namespace {

template <class Thrown>
Failure of(const Thrown& thrown) {
    return failure_of(std::make_exception_ptr(thrown));
}

TEST(Failure, OfAnInputIsSaidAsItsDiagnostics) {
    const Failure f = of(InputError(Diagnostic{"x.json", "/plan/tp", "7 does not divide 64", ""}));
    EXPECT_EQ(f.code, ExitCode::wrong_input);
    EXPECT_EQ(to_text(f), "x.json:/plan/tp: 7 does not divide 64");
}

TEST(Failure, OfTheMachineSaysThatItRefused) {
    EXPECT_EQ(to_text(of(BackendError("disk: full"))), "sextant: the machine refused: disk: full");
    EXPECT_EQ(of(std::bad_alloc()).code, ExitCode::machine_refused);
    EXPECT_EQ(of(std::bad_alloc()).why, "out of memory");
    const std::filesystem::filesystem_error loop("status", "a/loop", std::make_error_code(std::errc::too_many_symbolic_link_levels));
    EXPECT_EQ(of(loop).code, ExitCode::machine_refused);
    EXPECT_EQ(of(loop).why, "a/loop: Too many levels of symbolic links");
    const std::filesystem::filesystem_error nowhere("cannot get current path", std::make_error_code(std::errc::no_such_file_or_directory));
    EXPECT_EQ(of(nowhere).why, "the current directory: No such file or directory");
    const std::system_error no_thread(std::make_error_code(std::errc::resource_unavailable_try_again));
    EXPECT_EQ(of(no_thread).code, ExitCode::machine_refused);
    EXPECT_EQ(of(no_thread).why, "out of memory, or of processes: no thread could be started");
}

TEST(Failure, OfOursIsADefect) {
    EXPECT_EQ(of(std::logic_error("impossible")).code, ExitCode::defect);
    EXPECT_EQ(to_text(of(std::logic_error("impossible"))), "sextant: a defect in sextant itself, please report it: impossible");
}

TEST(Failure, IsNothingThatIsNoException) {
    EXPECT_THROW(of(3), int);  // such as a signal that is passed on
}

TEST(FailureDeathTest, OfAnInvariantEndsTheProcessInEveryBuild) {
    EXPECT_DEATH(broken_invariant("two and two"), "a defect in sextant itself, please report it: two and two");
}

}  // namespace
}  // namespace sextant
