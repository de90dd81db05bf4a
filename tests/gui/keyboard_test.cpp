// What a person does who has no pointer, or hears the window instead of seeing it: every control of every view and dialog is reached by Tab
// or by a key of its own, and has a name.
#include "gui/views/paint/chart.hpp"
#include "gui/views/timeline/canvas.hpp"
#include "tests/gui/desk.hpp"

#include <gmock/gmock.h>

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QAccessible>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QScrollArea>
#include <QSlider>
#include <QTableView>
#include <QTest>
#include <QTextBrowser>
#include <QTimer>
#include <QToolBar>

#include <set>

namespace sextant::gui {
namespace {

using testing::IsEmpty;

template <class... Types>
bool is_any_of(const QWidget& w) {
    return ((qobject_cast<const Types*>(&w) != nullptr) || ...);
}

// Something to act on, and not a part of another: the button that clears a line is of the line.
bool is_control(const QWidget& w) {
    if (!w.isVisible() || !w.isEnabled()) return false;
    if (qobject_cast<const ChartWidget*>(&w)) return true;
    if (const auto* table = qobject_cast<const QAbstractItemView*>(&w))
        if (table->selectionMode() == QAbstractItemView::NoSelection) return false;
    if (!is_any_of<QAbstractButton, QComboBox, QAbstractSpinBox, QLineEdit, QSlider, QAbstractItemView, QPlainTextEdit, TimelineCanvas>(w))
        return false;
    if (w.objectName().startsWith(QLatin1String("qt_"))) return false;  // Qt's own, about the place of a dock
    for (const QWidget* p = w.parentWidget(); p; p = p->parentWidget())
        if (is_any_of<QComboBox, QAbstractSpinBox, QLineEdit, QAbstractItemView, QToolBar, QMenuBar>(*p)) return false;
    return true;
}

std::vector<QWidget*> controls_in(QWidget& parent) {
    std::vector<QWidget*> controls;
    for (auto* w : parent.findChildren<QWidget*>())
        if (is_control(*w)) controls.push_back(w);
    return controls;
}

std::string described(const QWidget& w) {
    return std::string(w.metaObject()->className()) + " \"" + w.objectName().toStdString() + "\" " + w.toolTip().toStdString();
}

std::set<QWidget*> reached_by(Qt::Key key, QWidget& window) {
    constexpr int most = 400;
    std::set<QWidget*> reached;
    const QWidget* first = nullptr;
    for (int i = 0; i < most; ++i) {
        QTest::keyClick(QApplication::focusWidget() ? QApplication::focusWidget() : &window, key);
        QWidget* focus = QApplication::focusWidget();
        if (focus && focus == first) break;  // once around
        if (!first) first = focus;
        if (focus) reached.insert(focus);
    }
    return reached;
}

// Once around, forwards and backwards.
std::vector<std::string> out_of_reach(QWidget& window, QWidget& within) {
    std::vector<std::string> missed;
    for (const Qt::Key key : {Qt::Key_Tab, Qt::Key_Backtab}) {
        const std::set<QWidget*> reached = reached_by(key, window);
        for (QWidget* w : controls_in(within))
            if (!reached.contains(w)) missed.push_back(QKeySequence(key).toString().toStdString() + ": " + described(*w));
    }
    return missed;
}

std::vector<std::string> nameless(QWidget& within) {
    std::vector<std::string> list;
    for (QWidget* w : controls_in(within)) {
        const QAccessibleInterface* accessible = QAccessible::queryAccessibleInterface(w);
        if (!accessible || accessible->text(QAccessible::Name).trimmed().isEmpty()) list.push_back(described(*w));
    }
    return list;
}

class Keyboard : public Desk, public testing::WithParamInterface<std::string> {
protected:
    void show_full(const std::string& view) {
        window.activateWindow();
        wait_for([this] { return window.isActiveWindow(); });
        open("default");
        show_view(view);
        window.view(view).begin();
        settle();
    }
};

TEST_P(Keyboard, ReachesEveryControl) {
    show_full(GetParam());
    EXPECT_FALSE(controls_in(window.view(GetParam())).empty());
    EXPECT_THAT(out_of_reach(window, window.view(GetParam())), IsEmpty());
}

TEST_P(Keyboard, HearsTheNameOfEveryControl) {
    show_full(GetParam());
    EXPECT_THAT(nameless(window.view(GetParam())), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Views, Keyboard, testing::ValuesIn(view_names()), [](const auto& name) { return name.param; });

class Keys : public Keyboard {};

TEST_F(Keys, ReachAComparedRun) {
    window.activateWindow();
    predictor.open(SEXTANT_SOURCE_DIR "/tests/io/runs/scenario.json");
    wait_for([&] { return workbench.session() != nullptr; });
    window.files().open(QStringLiteral(SEXTANT_SOURCE_DIR "/tests/io/runs/data_parallel.json"));
    wait_for([&] { return workbench.session()->measured != nullptr; });
    window.show_view("run");
    wait_for([&] { return workbench.session()->compared != nullptr; });
    settle();
    EXPECT_THAT(out_of_reach(window, window.view("run")), IsEmpty());
    EXPECT_THAT(nameless(window.view("run")), IsEmpty());
}

TEST_F(Keys, ReachTheButtonsOfARefusal) {
    window.activateWindow();
    window.files().open(write_file("broken.json", R"({"schema": "scenario/1", "plan": {"tp": "many"}})"));
    wait_for([&] { return window.findChild<QMessageBox*>(QStringLiteral("refusal")) != nullptr; });
    auto& box = find<QMessageBox>("refusal");
    wait_for([&] { return box.isActiveWindow(); });
    EXPECT_EQ(controls_in(box).size(), 2U) << "to mend it, to leave it";
    EXPECT_THAT(out_of_reach(box, box), IsEmpty());
    EXPECT_THAT(nameless(box), IsEmpty());
    QTest::keyClick(&box, Qt::Key_Escape);
    EXPECT_FALSE(box.isVisible());
}

TEST_F(Keys, AnswerWhetherChangesAreSaved) {
    window.activateWindow();
    wait_for([this] { return window.isActiveWindow(); });
    open("default");
    edit({{"plan.micro_batch", "1"}});
    std::vector<std::string> missed{"the question was not asked"};
    QTimer::singleShot(0, &window, [&] {
        auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        if (!box || !QTest::qWaitForWindowActive(box)) return;
        missed.clear();
        for (const QWidget* w : controls_in(*box))  // without a display a question gets no focus that Tab could move
            if ((w->focusPolicy() & Qt::TabFocus) == 0) missed.push_back(described(*w));
        for (std::string& name : nameless(*box)) missed.push_back(std::move(name));
        QTest::keyClick(box, Qt::Key_Escape);
    });
    window.close();
    EXPECT_THAT(missed, IsEmpty());
    EXPECT_TRUE(window.isVisible()) << "Escape stays";
}

void collect(const QMenu& menu, std::set<const QAction*>& actions) {
    for (const QAction* a : menu.actions()) {
        if (a->menu()) collect(*a->menu(), actions);
        actions.insert(a);
    }
}

// Menus open by Alt and their letters, and say which keys need no menu.
TEST_F(Keys, ReachEveryActionByTheMenu) {
    std::set<const QAction*> in_menus;
    for (const QAction* a : window.menuBar()->actions()) {
        EXPECT_TRUE(a->text().contains(QLatin1Char('&'))) << a->text().toStdString();
        collect(*a->menu(), in_menus);
    }
    for (const auto* bar : window.findChildren<QToolBar*>())
        for (const QAction* a : bar->actions())
            EXPECT_TRUE(a->isSeparator() || a->text().isEmpty() || in_menus.contains(a)) << a->text().toStdString();
}

// Alt and a letter must mean one thing.
TEST_F(Keys, NoTwoEntriesOfAMenuShareALetter) {
    const auto letter_of = [](const QAction& a) {
        const qsizetype at = a.text().indexOf(QLatin1Char('&'));
        return at < 0 ? QChar() : a.text()[at + 1].toLower();
    };
    const auto check = [&](const QList<QAction*>& entries) {
        std::set<QChar> letters;
        for (const QAction* a : entries)
            if (const QChar letter = letter_of(*a); !letter.isNull()) {
                EXPECT_TRUE(letters.insert(letter).second) << a->text().toStdString();
            }
    };
    check(window.menuBar()->actions());
    for (const QAction* menu : window.menuBar()->actions()) check(menu->menu()->actions());
}

// What a stranger looks for in the help menu.
TEST_F(Keys, AreListedByTheHelpMenuWhichGathersWhatAReportNeeds) {
    open("default");
    const auto trigger = [this](const char* text) {
        for (QAction* a : window.menuBar()->actions().back()->menu()->actions())
            if (a->text() == QLatin1String(text)) return a->trigger();
        FAIL() << text;
    };
    trigger("&Keyboard shortcuts");
    const std::string keys = find<QTextBrowser>("keys.text").toPlainText().toStdString();
    for (const char* key : {"Ctrl+S", "Ctrl+Shift+E", "Timeline", "Shift and drag"}) EXPECT_THAT(keys, testing::HasSubstr(key));
    auto* dialog = window.findChild<QDialog*>(QStringLiteral("keys"));
    for (const auto* button : dialog->findChildren<QAbstractButton*>()) EXPECT_TRUE(button->icon().isNull()) << "which its color hides";
    delete dialog;
    trigger("&Where profiles are");
    EXPECT_THAT(find<QMessageBox>("help").text().toStdString(), testing::HasSubstr("hardware_profiles"));
    delete window.findChild<QMessageBox*>(QStringLiteral("help"));
    trigger("&Report a problem");
    EXPECT_THAT(QApplication::clipboard()->text().toStdString(), testing::HasSubstr("sextant predict"));
    delete window.findChild<QMessageBox*>(QStringLiteral("help"));
}

TEST_F(Keys, OpenWhatIsSearchedFor) {
    window.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
    auto& words = find<QLineEdit>("filter");
    QTest::keyClick(&words, Qt::Key_Return);
    EXPECT_FALSE(workbench.session()) << "nothing was searched for";
    QTest::keyClicks(&words, QStringLiteral("gpt-3 175"));
    QTest::keyClick(&words, Qt::Key_Down);
    EXPECT_TRUE(find<QListView>("bare").hasFocus());
    QTest::keyClick(&words, Qt::Key_Return);
    settle();
    EXPECT_EQ(workbench.session()->document.file, bundled("gpt3-175b-1024xa100").toStdString());
}

TEST_F(Keys, OpenAPublishedRunThatIsSearchedFor) {
    window.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
    window.show_view("validation");
    auto& runs = *window.view("validation").findChild<QTableView*>();
    wait_for([&] { return runs.model()->rowCount() > 0; });
    auto& words = find<QLineEdit>("validation.filter");
    QTest::keyClicks(&words, QStringLiteral("22B-full a100 korthikanti"));
    QTest::keyClick(&words, Qt::Key_Down);
    EXPECT_TRUE(runs.hasFocus());
    EXPECT_TRUE(runs.currentIndex().isValid());
    QTest::keyClick(&words, Qt::Key_Return);
    settle();
    EXPECT_THAT(workbench.session()->document.file.string(), testing::HasSubstr("22B-full"));
}

TEST_F(Keys, MoveTheTimelineAsSoonAsItIsShown) {
    show_full("timeline");
    window.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
    EXPECT_TRUE(find<TimelineCanvas>("timeline").hasFocus());
}

TEST_F(Keys, ChooseAPartOfAChartAndHearWhatItIs) {
    show_full("breakdown");
    auto& chart = *window.view("breakdown").findChildren<ChartWidget*>().front();
    chart.setFocus();
    QTest::keyClick(&chart, Qt::Key_Right);
    const std::optional<Term> first = selection.now().term;
    ASSERT_TRUE(first);
    EXPECT_FALSE(chart.accessibleDescription().isEmpty());
    QTest::keyClick(&chart, Qt::Key_Right);
    EXPECT_NE(selection.now().term, first);
}

// Where nothing can be chosen, there is still something to be told: where a number comes from.
TEST_F(Keys, HearTheSourceOfEachInput) {
    show_full("summary");
    ChartWidget* inputs = nullptr;
    for (auto* chart : window.view("summary").findChildren<ChartWidget*>())
        if (chart->accessibleName() == QLatin1String("What the answer rests on")) inputs = chart;
    ASSERT_TRUE(inputs);
    window.view("summary").findChild<QScrollArea*>()->ensureWidgetVisible(inputs);  // as Tab does
    QCoreApplication::processEvents();
    inputs->setFocus();
    QTest::keyClick(inputs, Qt::Key_Down);
    const QString first = inputs->accessibleDescription();
    EXPECT_FALSE(first.isEmpty());
    QTest::keyClick(inputs, Qt::Key_Down);
    EXPECT_NE(inputs->accessibleDescription(), first);
    QTest::keyClick(inputs, Qt::Key_Up);
    EXPECT_EQ(inputs->accessibleDescription(), first);
}

TEST_F(Keys, WalkFromSegmentToSegmentAndTakeItsRange) {
    show_full("timeline");
    auto& canvas = find<TimelineCanvas>("timeline");
    canvas.setFocus();
    QTest::keyClick(&canvas, Qt::Key_Period);
    ASSERT_TRUE(canvas.aspect().chosen);
    const SpanIndex first = canvas.aspect().chosen->span;
    QTest::keyClick(&canvas, Qt::Key_Period);
    const SpanIndex second = canvas.aspect().chosen->span;
    EXPECT_GT(second, first);
    QTest::keyClick(&canvas, Qt::Key_R);
    const Span& span = canvas.content()->simulated->report->trace.spans[second];
    EXPECT_EQ(selection.now().range, (TimeRange{span.start, span.end}));
    QTest::keyClick(&canvas, Qt::Key_Comma);
    EXPECT_EQ(canvas.aspect().chosen->span, first);
}

}  // namespace
}  // namespace sextant::gui
