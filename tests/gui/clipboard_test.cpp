// What is copied, as it is found where it is pasted.
#include "gui/models/csv.hpp"
#include "gui/views/view_list.hpp"
#include "tests/cli/process.hpp"
#include "tests/gui/desk.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <QApplication>
#include <QClipboard>
#include <QMessageBox>
#include <QTest>

#include <algorithm>
#include <filesystem>

namespace sextant::gui {
namespace {

using testing::HasSubstr;

class Copy : public Desk {
protected:
    Copy() {
        QApplication::clipboard()->clear();
        window.activateWindow();
        wait_for([this] { return window.isActiveWindow(); });
    }
    static QString pasted() { return QApplication::clipboard()->text(); }
};

TEST_F(Copy, ACommandLineAsksTheShellTheSameQuestion) {
    window.files().open(write_file("it's mine.json", R"({"schema": "scenario/1", "name": "mine", "workload": "gpt3-1.3b",
        "hardware": {"cluster": "selene"}, "plan": {"dp": 8, "micro_batch": 1, "global_batch": 64}, "framework": "megatron-core"})"));
    settle();
    edit({{"plan.tp", "2"}, {"plan.placement", R"(["data", "tensor", "context", "pipeline"])"}});
    QAction* copy = nullptr;
    for (auto* action : window.findChildren<QAction*>())
        if (action->text().remove(QLatin1Char('&')) == QLatin1String("Copy as a command line")) copy = action;
    ASSERT_TRUE(copy);
    copy->trigger();
    ASSERT_THAT(pasted().toStdString(), testing::StartsWith("sextant predict "));
    const std::string in_path = "PATH=" + std::filesystem::path(SEXTANT_BINARY).parent_path().string() + ":$PATH; ";
    const ProcessResult answer = run_program("/bin/sh", {"-c", in_path + pasted().toStdString() + " --format json"});
    ASSERT_EQ(answer.exit_code, 0) << answer.err;
    EXPECT_EQ(nlohmann::json::parse(answer.out)["step_time_s"].get<double>(), step().si());
}

TEST_F(Copy, TheViewIsThePictureThatIsExported) {
    open("default");
    const QString path = folder.filePath(QStringLiteral("view.png"));
    bool done = false;
    QObject::connect(&window.files(), &FileActions::exported, [&] { done = true; });
    window.files().export_picture(path, *find_view("summary"), selection, picture_formats().front());
    wait_for([&] { return done; });
    QTest::keyClick(&window, Qt::Key_C, Qt::ControlModifier | Qt::ShiftModifier);
    wait_for([] { return !QApplication::clipboard()->image().isNull(); });
    EXPECT_EQ(QApplication::clipboard()->image(), QImage(path).convertToFormat(QImage::Format_RGB32));
}

TEST_F(Copy, TheTablesOfAViewAreItsNumbers) {
    open("gpt3-175b-1024xa100");
    show_view("breakdown");
    QTest::keyClick(&window, Qt::Key_T, Qt::ControlModifier | Qt::ShiftModifier);
    for (const NamedTable& table : window.view("breakdown").tables())
        EXPECT_THAT(pasted().toStdString(), HasSubstr(csv_of(*table.model).toStdString())) << table.name.toStdString();
    const QString backward = QStringLiteral("backward,");
    const auto lines = pasted().split(QLatin1Char('\n'));
    const auto row = std::ranges::find_if(lines, [&](const QString& line) { return line.startsWith(backward); });
    ASSERT_NE(row, lines.end());
    EXPECT_NEAR(row->section(QLatin1Char(','), 1, 1).toDouble(), workbench.answer()->report.estimate.terms[Term::backward].si(), 1e-6);
}

TEST_F(Copy, AViewWithoutTablesSaysSoAndWhatWasCopiedStays) {
    open("default");
    window.show_view("planner");  // without a search
    QApplication::clipboard()->setText(QStringLiteral("before"));
    QTest::keyClick(&window, Qt::Key_T, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_THAT(find<QMessageBox>("complaint").text().toStdString(), HasSubstr("no table"));
    EXPECT_EQ(pasted(), QStringLiteral("before"));
}

}  // namespace
}  // namespace sextant::gui
