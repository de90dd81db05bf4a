#include "model/base/failure.hpp"
#include "tests/cli/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace sextant {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

TEST(CommandLine, TheExitCodesAreThoseThatScriptsRelyOn) {
    EXPECT_EQ(static_cast<int>(ExitCode::done), 0);
    EXPECT_EQ(static_cast<int>(ExitCode::condition_held), 1);
    EXPECT_EQ(static_cast<int>(ExitCode::wrong_input), 2);
    EXPECT_EQ(static_cast<int>(ExitCode::machine_refused), 3);
    EXPECT_EQ(static_cast<int>(ExitCode::does_not_fit), 4);
}

TEST(CommandLine, WithoutArgumentsPrintsTheHelp) {
    const ProcessResult r = run_sextant({});
    EXPECT_EQ(r.exit_code, 0);
    EXPECT_THAT(r.out, HasSubstr("Usage: sextant"));
    EXPECT_THAT(r.err, IsEmpty());
    EXPECT_EQ(r.out, run_sextant({"--help"}).out);
}

TEST(CommandLine, HelpGoesToStandardOutput) {
    const ProcessResult r = run_sextant({"--help"});
    EXPECT_EQ(r.exit_code, 0);
    EXPECT_THAT(r.out, HasSubstr("--version"));
    EXPECT_THAT(r.err, IsEmpty());
}

TEST(CommandLine, VersionIsOneLine) {
    const ProcessResult r = run_sextant({"--version"});
    EXPECT_EQ(r.exit_code, 0);
    EXPECT_THAT(r.out, StartsWith("sextant "));
    EXPECT_EQ(r.out.find('\n'), r.out.size() - 1);
}

TEST(CommandLine, AnUnknownSubcommandIsWrongInputAndIsNamed) {
    const ProcessResult r = run_sextant({"pedict"});
    EXPECT_EQ(r.exit_code, 2);
    EXPECT_THAT(r.err, HasSubstr("pedict"));
    EXPECT_THAT(r.err, HasSubstr("--help"));
    EXPECT_THAT(r.out, IsEmpty());
}

TEST(CommandLine, AnUnknownOptionIsWrongInputAndIsNamed) {
    EXPECT_THAT(run_sextant({"--frobnicate"}), exits_with(2, HasSubstr("--frobnicate")));
}

TEST(CommandLine, AllThatIsWrongWithTheOptionsIsSaidAtOnce) {
    const ProcessResult r = run_sextant({"plan", "--frobnicate", "--format", "xml", "--top", "few", "--objective", "fame"});
    EXPECT_EQ(r.exit_code, 2);
    EXPECT_THAT(r.err, HasSubstr("--frobnicate"));
    EXPECT_THAT(r.err, HasSubstr("--format: xml not in"));
    EXPECT_THAT(r.err, HasSubstr("--top"));
    EXPECT_THAT(r.err, HasSubstr("--objective: fame not in"));
    EXPECT_THAT(r.err, HasSubstr("scenario is required"));
    // Five problems, one line each, and the line that points to --help; nothing said twice.
    EXPECT_EQ(std::ranges::count(r.err, '\n'), 6);
}

TEST(CommandLine, AnOptionWithoutItsValueHidesNoOtherProblem) {
    const ProcessResult r = run_sextant({"run", "--frobnicate", "--data-workers", "3", "--steps", "few", "--seed"});
    EXPECT_EQ(r.exit_code, 2);
    for (const char* problem :
         {"--seed: 1 required", "--frobnicate", "--steps: ", "scenario is required", "--data-workers requires --data"})
        EXPECT_THAT(r.err, HasSubstr(problem));
    EXPECT_EQ(std::ranges::count(r.err, '\n'), 6) << r.err;
}

TEST(CommandLine, AWordThatIsNoCommandIsHeldAgainstThoseThereAre) {
    EXPECT_THAT(run_sextant({"predcit", "--format", "json"}).err, HasSubstr("no command \"predcit\": one of "));
    EXPECT_THAT(run_sextant({"import", "tf", "x"}).err, HasSubstr("no command \"tf\": one of hf, onnx, torch, dlio\n"));
    EXPECT_THAT(run_sextant({"scale", "one.json", "two", "three"}).err, HasSubstr("not expected: two three"));
}

}  // namespace
}  // namespace sextant
