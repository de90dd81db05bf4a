#include "cli/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>

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

// Closes the writing end, and reads what was written until there is no more: a terminal hands it over in its own time.
std::string all_that_was_written(int input, int output) {
    ::close(output);
    std::string text;
    std::array<char, 4096> buffer{};
    for (ssize_t n = 0; (n = ::read(input, buffer.data(), buffer.size())) > 0;) text.append(buffer.data(), static_cast<std::size_t>(n));
    ::close(input);
    return text;
}

TEST(Progress, IsSilentInAPipe) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    work_through_four_steps(ends[1]);
    EXPECT_THAT(all_that_was_written(ends[0], ends[1]), IsEmpty());
}

// What a program that listens to two rows of work reads.
std::string told(const std::function<void(Progress&)>& work) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    {
        Progress progress("rows", 2, ends[1], true);
        work(progress);
    }
    return all_that_was_written(ends[0], ends[1]);
}

TEST(Progress, TellsAProgramThatListensEachStepInALine) {
    EXPECT_EQ(told([](Progress& progress) {
                  for (const std::size_t done : {1U, 1U, 2U}) progress.show(done);
              }),
              "progress 1 of 2: rows\nprogress 2 of 2: rows\n");
}

TEST(Progress, GoesOnWithAnotherTotalThanWasThought) {
    EXPECT_EQ(told([](Progress& progress) {
                  progress.show(1);
                  progress.set_total(4);
                  for (const std::size_t done : {2U, 4U}) progress.show(done);
              }),
              "progress 1 of 2: rows\nprogress 2 of 4: rows\nprogress 4 of 4: rows\n");
}

TEST(Progress, DrawsOnATerminalAndLeavesAClearLine) {
    int terminal = -1;
    int program = -1;
    if (::openpty(&terminal, &program, nullptr, nullptr, nullptr) != 0) GTEST_SKIP() << "no pseudo terminal on this machine";
    work_through_four_steps(program);
    const std::string drawn = all_that_was_written(terminal, program);
    EXPECT_THAT(drawn, HasSubstr("rows ["));
    EXPECT_THAT(drawn, HasSubstr(" 50 %"));
    EXPECT_THAT(drawn, HasSubstr(" 100 %"));
    EXPECT_THAT(drawn, EndsWith("\r\033[K"));
}

}  // namespace
}  // namespace sextant
