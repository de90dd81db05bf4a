// Published training runs: found, opened as scenarios beside what was measured, changed and saved.
#include "gui/views/view_list.hpp"
#include "tests/gui/desk.hpp"

#include <gmock/gmock.h>

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTableView>

namespace sextant::gui {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Table 5 of Korthikanti et al. 2022: 22B with full recompute on 8 A100, 1.42 s a step.
const char* const run = "korthikanti-table5-22B-full";

class PublishedRunsInTheWindow : public Desk {
protected:
    bool is_there(const QString& text) {
        const auto labels = window.view("summary").findChildren<QLabel*>();
        return std::ranges::any_of(labels, [&](const QLabel* label) { return label->text().contains(text); });
    }
    QTableView& table_of_runs() { return *window.view("validation").findChild<QTableView*>(); }
    void wait_for_runs() {  // all are predicted first
        wait_for([this] { return table_of_runs().model()->rowCount() > 2500; });
    }
    void open_run() {
        window.files().open(QStringLiteral(SEXTANT_SOURCE_DIR "/measurements/transformer/korthikanti2022.json#") + QLatin1String(run));
        settle();
    }
};

TEST_F(PublishedRunsInTheWindow, AreFoundByTheirWordsAndOpened) {
    window.show_view("validation");
    auto& table = table_of_runs();
    wait_for_runs();
    find<QLineEdit>("validation.filter").setText(QStringLiteral("22B-FULL a100 korthikanti"));
    ASSERT_EQ(table.model()->rowCount(), 1);
    EXPECT_EQ(table.model()->index(0, 3).data().toString(), QStringLiteral("1.42 s"));
    auto& open = find<QPushButton>("validation.open");
    EXPECT_FALSE(open.isEnabled());
    table.setCurrentIndex(table.model()->index(0, 0));
    const std::string framework = table.model()->index(0, 6).data().toString().toStdString();
    EXPECT_THAT(find<QLabel>("validation.chosen").text().toStdString(), AllOf(HasSubstr(run), HasSubstr(framework)));
    open.click();
    settle();
    EXPECT_THAT(workbench.session()->document.file.string(), testing::EndsWith(std::string("#") + run));
    EXPECT_TRUE(is_there(QStringLiteral("measured: 1.42 s")));
}

// A picture of the view, or another window, has what was predicted.
TEST_F(PublishedRunsInTheWindow, ArePredictedOnce) {
    window.show_view("validation");
    wait_for_runs();
    const auto again = find_view("validation")->make(workbench, selection);
    EXPECT_TRUE(again->is_complete());
    EXPECT_EQ(again->findChild<QTableView*>()->model()->rowCount(), table_of_runs().model()->rowCount());
}

// Of a small window the editor takes half; models and devices are whole in the other, on two lines, and errors are in view.
TEST_F(PublishedRunsInTheWindow, CanBeReadInASmallWindow) {
    open("gpt3-175b-1024xa100");
    window.resize(1024, 700);
    window.show_view("validation");
    wait_for_runs();
    const QTableView& table = table_of_runs();
    const int model = 0, device = 2, error = 5;
    const QFontMetrics metrics = table.fontMetrics();
    for (int row = 0; row < table.model()->rowCount(); ++row)
        for (const int column : {model, device}) {
            const QString text = table.model()->index(row, column).data().toString();
            const QRect room(0, 0, table.columnWidth(column) - gap, 1000), lines = metrics.boundingRect(room, Qt::TextWordWrap, text);
            ASSERT_LE(lines.width(), room.width()) << text.toStdString();
            ASSERT_LE(lines.height(), table.rowHeight(row)) << text.toStdString();
        }
    ASSERT_EQ(table.model()->headerData(error, Qt::Horizontal).toString(), QStringLiteral("error"));
    EXPECT_LE(table.columnViewportPosition(error) + table.columnWidth(error), table.viewport()->width());
}

TEST_F(PublishedRunsInTheWindow, ASearchWithoutASuccessIsSaid) {
    window.show_view("validation");
    wait_for_runs();
    find<QLineEdit>("validation.filter").setText(QStringLiteral("abacus"));
    EXPECT_THAT(find<QLabel>("validation.said").text().toStdString(), HasSubstr("abacus"));
}

TEST_F(PublishedRunsInTheWindow, AreChangedAndSavedAsScenarios) {
    open_run();
    EXPECT_FALSE(window.isWindowModified());
    find<QSpinBox>("plan.micro_batch").setValue(2);
    settle();
    EXPECT_TRUE(is_there(QStringLiteral("measured, before the changes: 1.42 s")));
    const QString path = folder.filePath(QStringLiteral("mine.json"));
    ASSERT_TRUE(window.files().save_to(path));
    Library library = open_library();
    const Scenario saved = load_scenario(library, path.toStdString());
    EXPECT_EQ(saved.plan.micro_batch, 2);
    EXPECT_EQ(predict(saved).estimate.step, step());
}

}  // namespace
}  // namespace sextant::gui
