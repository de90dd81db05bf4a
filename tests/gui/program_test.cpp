// sextant-gui as a program, and the subcommand that starts it.
#include "tests/cli/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QImage>
#include <QTemporaryDir>

namespace sextant {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

ProcessResult run_gui(const std::vector<std::string>& arguments) { return run_program(SEXTANT_GUI_BINARY, arguments); }

class Program : public testing::Test {
protected:
    std::string path(const char* name) const { return folder.filePath(QString::fromLatin1(name)).toStdString(); }
    QTemporaryDir folder;
};

TEST_F(Program, DrawsAViewIntoAFile) {
    const ProcessResult r = run_gui({"--screenshot", path("x.png"), "scenarios/default.json", "--view", "memory", "--size", "1000x700"});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_EQ(QImage(QString::fromStdString(path("x.png"))).size(), QSize(1000, 700));
}

TEST_F(Program, DrawsTheSamePictureEachTime) {
    for (const char* view : {"breakdown", "timeline", "topology"}) {
        for (const char* name : {"a.png", "b.png"})
            EXPECT_EQ(run_gui({"--screenshot", path(name), "scenarios/default.json", "--view", view}).exit_code, 0);
        EXPECT_EQ(QImage(QString::fromStdString(path("a.png"))), QImage(QString::fromStdString(path("b.png")))) << view;
    }
}

TEST_F(Program, DrawsTheStartThoughAScenarioIsOpen) {
    for (const char* view : {"start", "summary"})
        EXPECT_EQ(run_gui({"--screenshot", path(view), "scenarios/default.json", "--view", view}).exit_code, 0);
    EXPECT_NE(QImage(QString::fromStdString(path("start"))), QImage(QString::fromStdString(path("summary"))));
}

TEST_F(Program, ListsItsViews) {
    const ProcessResult r = run_gui({"--list-views"});
    EXPECT_EQ(r.exit_code, 0);
    EXPECT_THAT(r.out, HasSubstr("summary\n"));
    EXPECT_THAT(r.out, HasSubstr("editor\n"));
}

TEST_F(Program, RefusesWrongArgumentsInWords) {
    const ProcessResult view = run_gui({"--screenshot", path("x.png"), "scenarios/default.json", "--view", "sumary"});
    EXPECT_EQ(view.exit_code, 2);
    EXPECT_THAT(view.err, HasSubstr("no view is called \"sumary\""));
    EXPECT_THAT(view.err, HasSubstr("summary"));
    EXPECT_EQ(run_gui({"--screenshot", path("x.png"), "scenarios/default.json", "--size", "big"}).exit_code, 2);
    EXPECT_EQ(run_gui({"--screenshot", path("x.png")}).exit_code, 2);
    EXPECT_EQ(run_gui({"--screenshot", path("x.jpg"), "scenarios/default.json"}).exit_code, 2);
    EXPECT_EQ(run_gui({"--no-such-option"}).exit_code, 2);
    EXPECT_EQ(run_gui({"one.json", "two.json"}).exit_code, 2);
}

TEST_F(Program, SaysAllThatIsWrongWithItsArgumentsAtOnce) {
    const std::string err = run_gui({"one.json", "two.json", "--one", "--other", "--size", "big", "--view"}).err;
    for (const char* mistake : {"'one'", "'other'", "more than one scenario: one.json, two.json", "\"big\" is no size", "'--view'"})
        EXPECT_THAT(err, HasSubstr(mistake));
    EXPECT_THAT(err, Not(HasSubstr("no view is called")));
}

TEST_F(Program, RefusesABrokenScenarioWithEveryProblem) {
    EXPECT_THAT(run_gui({"--screenshot", path("x.png"), "scenarios/README.md"}), exits_with(2, HasSubstr("not valid JSON")));
    EXPECT_EQ(run_gui({"--screenshot", path("x.png"), "no/such.json"}).exit_code, 2);
}

TEST_F(Program, SaysWhenThePictureCannotBeWritten) {
    EXPECT_THAT(run_gui({"--screenshot", path("no/such/folder/x.png"), "scenarios/default.json"}),
                exits_with(3, HasSubstr("cannot write")));
}

TEST_F(Program, NeedsNoDisplayToDrawAndSaysWhereADisplayDoesNotAnswer) {
    const auto run = [](const std::string& words) { return run_program("/bin/sh", {"-c", "env -u WAYLAND_DISPLAY " + words}); };
    EXPECT_EQ(run("QT_QPA_PLATFORM= DISPLAY= " SEXTANT_GUI_BINARY " scenarios/default.json --screenshot " + path("x.png")).exit_code, 0);
    EXPECT_THAT(run("QT_QPA_PLATFORM= DISPLAY= " SEXTANT_GUI_BINARY).err, HasSubstr("there is no display"));
    EXPECT_THAT(run("-u QT_QPA_PLATFORM DISPLAY=:4321 " SEXTANT_GUI_BINARY), exits_with(3, HasSubstr("sextant-gui: ")));
}

TEST_F(Program, IsStartedByTheSubcommand) {
    const ProcessResult r = run_sextant({"gui", "--list-views"});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_EQ(r.out, run_gui({"--list-views"}).out);
    EXPECT_EQ(run_sextant({"gui", "--screenshot", path("x.png"), "scenarios/default.json", "--view", "nothing"}).exit_code, 2);
}

}  // namespace
}  // namespace sextant
