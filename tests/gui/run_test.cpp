// A plan run for real from the window: to its end, stopped, and with everything that can go wrong.
#include "gui/jobs/child.hpp"
#include "gui/models/compared.hpp"
#include "tests/gui/desk.hpp"

#include <gmock/gmock.h>

#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTest>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace sextant::gui {
namespace {

using testing::HasSubstr;

// Processes whose command line speaks of this folder.
int processes_that_name(const std::string& folder) {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        std::ifstream words(entry.path() / "cmdline");
        const std::string line((std::istreambuf_iterator<char>(words)), {});
        if (line.find(folder) != std::string::npos) ++count;
    }
    return count;
}

bool wait_long(const std::function<bool()>& done) { return QTest::qWaitFor(done, 600'000); }  // a busy machine is calibrated for minutes

class RunFlow : public Desk {
protected:
    // A copy with a name of its own, so that its processes can be told from others'.
    void open_here(const std::string& name) {
        const QString path = folder.filePath(QStringLiteral("mine.json"));
        QFile::copy(bundled(name), path);
        predictor.open(path.toStdString());
        wait_for([&] { return workbench.session() && workbench.session()->document.file == path.toStdString(); });
        settle();
        window.show_view("run");
    }
    void begin(int steps) {
        find<QSpinBox>("run.steps").setValue(steps);
        QTest::mouseClick(&find<QPushButton>("run.start"), Qt::LeftButton);
    }
    QString said() { return find<QLabel>("run.said").text(); }
    bool is_through() { return !find<QPushButton>("run.stop").isVisible(); }
    std::string focused() { return window.focusWidget()->objectName().toStdString(); }
    int processes() const { return processes_that_name(folder.path().toStdString()); }
};

TEST_F(RunFlow, TrainsAndHoldsTheMeasurementBesideThePrediction) {
    open_here("default");
    find<QCheckBox>("run.operators").setChecked(true);
    begin(3);
    EXPECT_FALSE(find<QPushButton>("run.start").isEnabled());
    EXPECT_EQ(focused(), "run.stop");
    ASSERT_TRUE(wait_long([this] {
        return workbench.session()->compared || (is_through() && !said().isEmpty() && !said().contains(QStringLiteral("through")));
    })) << said().toStdString();
    ASSERT_TRUE(workbench.session()->compared) << said().toStdString();
    EXPECT_EQ(focused(), "run.start");
    const Comparison& c = workbench.session()->compared->comparison;
    EXPECT_EQ(c.steps.count, 3);
    EXPECT_GT(c.step.measured, Seconds{});
    EXPECT_THAT(find<QLabel>("run.verdict").text().toStdString(), HasSubstr("Measured"));
    EXPECT_EQ(workbench.session()->measured, workbench.session()->compared->of);
    EXPECT_TRUE(wait_long([this] { return processes() == 0; }));

    TableModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    EXPECT_FALSE(operators_table(c).rows.empty());
    for (Table table : {residuals_table(c), operators_table(c), ranks_table(c)}) {
        for (const auto& row : table.rows) EXPECT_EQ(static_cast<qsizetype>(row.size()), table.headings.size());
        model.set_table(std::move(table));
    }
    EXPECT_EQ(static_cast<std::size_t>(model.rowCount()), c.ranks.size());

    // Another plan is another step: what was measured does not speak of it, and the window says so.
    edit({{"plan.global_batch", "64"}, {"plan.grad_accum", "null"}});
    EXPECT_FALSE(workbench.session()->compared);
    EXPECT_TRUE(workbench.session()->measured);
    workbench.undo();
    EXPECT_TRUE(workbench.session()->compared);
}

TEST_F(RunFlow, IsStoppedWithEveryProcessThatItStarted) {
    open_here("default");
    begin(100'000);
    ASSERT_TRUE(wait_long([this] { return processes() > 2; })) << said().toStdString();
    answer_next(QMessageBox::Cancel);
    EXPECT_FALSE(window.close());
    EXPECT_THAT(asked.toStdString(), HasSubstr("still at work"));
    QTest::mouseClick(&find<QPushButton>("run.stop"), Qt::LeftButton);
    EXPECT_FALSE(find<QPushButton>("run.stop").isEnabled()) << "it is stopping";
    ASSERT_TRUE(wait_long([this] { return is_through(); }));
    EXPECT_THAT(said().toStdString(), HasSubstr("Stopped"));
    EXPECT_TRUE(wait_long([this] { return processes() == 0; }));
    EXPECT_TRUE(find<QPushButton>("run.start").isEnabled());
    EXPECT_EQ(focused(), "run.start");
    EXPECT_FALSE(workbench.session()->measured);
}

TEST_F(RunFlow, AMissingLauncherIsAMessageAndNothingIsLost) {
    open_here("default");
    const Seconds before = step();
    edit({{"plan.micro_batch", "1"}});
    const bool was_changed = window.isWindowModified();
    find<QLineEdit>("run.launcher").setText(QStringLiteral("no-such-launcher --fast"));
    begin(2);
    ASSERT_TRUE(wait_long([this] { return is_through() && !said().isEmpty(); }));
    EXPECT_THAT(said().toStdString(), HasSubstr("no-such-launcher"));
    EXPECT_EQ(window.isWindowModified(), was_changed);
    EXPECT_GT(before, Seconds{});
    EXPECT_TRUE(find<QPushButton>("run.start").isEnabled());
}

TEST_F(RunFlow, ALauncherThatCrashesIsAMessage) {
    open_here("default");
    const QString script = write_file("crash.sh", "#!/bin/sh\nkill -SEGV $$\n");
    QFile::setPermissions(script, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    find<QLineEdit>("run.launcher").setText(script);
    begin(2);
    ASSERT_TRUE(wait_long([this] { return is_through() && !said().isEmpty(); }));
    EXPECT_THAT(said().toStdString(), HasSubstr("did not come to its end"));
    EXPECT_TRUE(workbench.answer());
}

TEST_F(RunFlow, DoesNotBringAMachineToAStandstill) {
    open("gpt3-175b-1024xa100");
    window.show_view("run");
    EXPECT_FALSE(find<QPushButton>("run.start").isEnabled());
    EXPECT_THAT(find<QLabel>("run.layout").text().toStdString(), HasSubstr("1,024 processes"));
    find<QLineEdit>("run.launcher").setText(QStringLiteral("srun"));
    EXPECT_TRUE(find<QPushButton>("run.start").isEnabled());
}

TEST_F(RunFlow, ACalibrationThatCannotWriteItsProfileSaysSo) {
    open("default");
    window.show_view("run");
    find<QLineEdit>("calibrate.profile").setText(QStringLiteral("/proc/no-such/profile.json"));
    QTest::mouseClick(&find<QPushButton>("calibrate.start"), Qt::LeftButton);
    ASSERT_TRUE(
        wait_long([this] { return !find<QPushButton>("calibrate.stop").isVisible() && find<QPushButton>("calibrate.start").isEnabled(); }));
    EXPECT_FALSE(find<QLabel>("calibrate.said").text().isEmpty());
    EXPECT_FALSE(find<QPushButton>("calibrate.use").isVisible());
}

// It measures: with the machine for itself.
using CalibrationFlow = RunFlow;
TEST_F(CalibrationFlow, MeasuresThisMachineAndUsesTheProfile) {
    open_here("default");
    const QString profile = folder.filePath(QStringLiteral("this-machine.json"));
    find<QLineEdit>("calibrate.profile").setText(profile);
    QTest::mouseClick(&find<QPushButton>("calibrate.start"), Qt::LeftButton);
    ASSERT_TRUE(wait_long([this] { return find<QPushButton>("calibrate.start").isEnabled(); }));
    const QString result = find<QLabel>("calibrate.said").text();
    if (result.contains(QStringLiteral("too busy"))) GTEST_SKIP() << result.toStdString();
    ASSERT_TRUE(find<QPushButton>("calibrate.use").isVisible()) << result.toStdString();
    QTest::mouseClick(&find<QPushButton>("calibrate.use"), Qt::LeftButton);
    settle();
    EXPECT_EQ(workbench.session()->state, AnswerState::ready);
    EXPECT_THAT(workbench.session()->document.edits, testing::Contains(HasSubstr("this-machine.json")));
    EXPECT_TRUE(std::ranges::any_of(workbench.answer()->report.inputs, [](const InputUsed& i) { return i.kind == SourceKind::measured; }));
}

TEST(ChildProcess, IsHeardLineByLineAndItsProgressIsUnderstood) {
    Child child;
    QStringList lines;
    std::vector<int> done;
    std::optional<ChildEnd> end;
    QObject::connect(&child, &Child::said, [&](const QString& line) { lines += line; });
    QObject::connect(&child, &Child::progressed, [&](int d, int total, const QString& what) {
        EXPECT_EQ(total, 4);
        EXPECT_EQ(what, QStringLiteral("training"));
        done.push_back(d);
    });
    QObject::connect(&child, &Child::ended, [&](const ChildEnd& e) { end = e; });
    child.start(QStringLiteral("/bin/sh"),
                {QStringLiteral("-c"), QStringLiteral("echo one; echo 'progress 2 of 4: training' >&2; printf last; exit 3")});
    ASSERT_TRUE(wait_long([&] { return end.has_value(); }));
    EXPECT_EQ(lines, (QStringList{QStringLiteral("one"), QStringLiteral("last")}));
    EXPECT_EQ(done, std::vector{2});
    EXPECT_EQ(end->code, 3);
    EXPECT_THAT(end->problem.toStdString(), HasSubstr("code 3"));
}

TEST(ChildProcess, TellsACrashAndAMissingProgram) {
    Child child;
    std::optional<ChildEnd> end;
    QObject::connect(&child, &Child::ended, [&](const ChildEnd& e) { end = e; });
    child.start(QStringLiteral("/bin/sh"), {QStringLiteral("-c"), QStringLiteral("kill -SEGV $$")});
    ASSERT_TRUE(wait_long([&] { return end.has_value(); }));
    EXPECT_THAT(end->problem.toStdString(), HasSubstr("crashed"));
    end.reset();
    child.start(QStringLiteral("no-such-program"), {});
    ASSERT_TRUE(wait_long([&] { return end.has_value(); }));
    EXPECT_THAT(end->problem.toStdString(), HasSubstr("cannot be started"));
}

}  // namespace
}  // namespace sextant::gui
