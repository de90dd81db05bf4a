#include "cli/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include <fcntl.h>
#include <pty.h>
#include <unistd.h>

namespace sextant {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

void work_through_four_steps(int output) {
    Progress progress("rows", 4, output);
    for (std::size_t done = 1; done <= 4; ++done) progress.show(done);
}

std::string what_can_be_read(int input) {
    ::fcntl(input, F_SETFL, O_NONBLOCK);
    std::array<char, 4096> buffer{};
    const ssize_t n = ::read(input, buffer.data(), buffer.size());
    return n > 0 ? std::string(buffer.data(), static_cast<std::size_t>(n)) : "";
}

TEST(Progress, IsSilentInAPipe) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    work_through_four_steps(ends[1]);
    EXPECT_THAT(what_can_be_read(ends[0]), IsEmpty());
    for (const int end : ends) ::close(end);
}

TEST(Progress, DrawsOnATerminalAndLeavesAClearLine) {
    int terminal = -1;
    int program = -1;
    if (::openpty(&terminal, &program, nullptr, nullptr, nullptr) != 0) GTEST_SKIP() << "no pseudo terminal on this machine";
    work_through_four_steps(program);
    const std::string drawn = what_can_be_read(terminal);
    EXPECT_THAT(drawn, HasSubstr("rows ["));
    EXPECT_THAT(drawn, HasSubstr(" 50 %"));
    EXPECT_THAT(drawn, HasSubstr(" 100 %"));
    EXPECT_THAT(drawn, EndsWith("\r\033[K"));
    ::close(program);
    ::close(terminal);
}

}  // namespace
}  // namespace sextant
