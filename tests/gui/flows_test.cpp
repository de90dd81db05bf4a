// What people do, as they do it: with keys and the mouse, in the window.
#include "gui/models/scenario_list_model.hpp"
#include "gui/models/text.hpp"
#include "gui/views/paint/chart.hpp"
#include "model/io/report/run_rows.hpp"
#include "tests/gui/desk.hpp"

#include <gmock/gmock.h>

#include <QComboBox>
#include <QDockWidget>
#include <QElapsedTimer>
#include <QFrame>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPlainTextEdit>
#include <QSettings>
#include <QSlider>
#include <QSpinBox>
#include <QTest>
#include <QToolBar>

namespace sextant::gui {
namespace {

using testing::HasSubstr;

class Flows : public Desk {};

TEST_F(Flows, ASearchThatFindsNothingSaysSo) {
    auto& words = find<QLineEdit>("filter");
    QTest::keyClicks(&words, QStringLiteral("no such model"));
    EXPECT_TRUE(find<QLabel>("start.nothing").isVisible());
    EXPECT_THAT(find<QLabel>("start.nothing").text().toStdString(), HasSubstr("no such model"));
    words.clear();
    EXPECT_FALSE(find<QLabel>("start.nothing").isVisible());
}

// As `sextant gui --view planner` begins.
TEST_F(Flows, AViewWithoutAScenarioSaysWhatItWaitsFor) {
    window.show_view("planner");
    EXPECT_TRUE(find<QLabel>("nothing").isVisible());
    EXPECT_THAT(find<QLabel>("nothing").text().toStdString(), HasSubstr("choose one at Start"));
}

TEST_F(Flows, WhatWasOpenedStandsAtTheStartWithItsPlace) {
    open("default");
    window.show_view("start");
    auto* list = window.view("start").findChild<QListView*>();
    wait_for([&] { return list->model()->index(1, 0).data(ScenarioListModel::path).toString() == bundled("default"); });
    EXPECT_THAT(static_cast<ScenarioListModel*>(list->model())->at(1).place.toStdString(), HasSubstr("default.json in /"));
}

TEST_F(Flows, ALongNameLeavesTheWindowAsSmallAsItMayBe) {
    open("default");
    const int before = window.minimumSizeHint().width();
    const QString name(300, QLatin1Char('n'));
    edit({{"name", name.toStdString()}});
    EXPECT_EQ(find<QLabel>("bar_name").text(), name);
    EXPECT_EQ(find<QLabel>("bar_name").toolTip(), name);
    EXPECT_EQ(window.minimumSizeHint().width(), before);
}

TEST_F(Flows, AViewInAWindowOfItsOwnNamesTheScenario) {
    open("default");
    QTest::keyClick(&window, Qt::Key_N, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_THAT(find<QWidget>("own_window").windowTitle().toStdString(), HasSubstr("default.json: Summary"));
    open("slowest-worker");
    EXPECT_THAT(find<QWidget>("own_window").windowTitle().toStdString(), HasSubstr("slowest-worker.json: Summary"));
}

TEST_F(Flows, BeginWithAChoiceOfScenariosAndNothingElse) {
    EXPECT_FALSE(workbench.session());
    EXPECT_TRUE(window.view("start").isVisible());
    EXPECT_FALSE(find<QWidget>("bar_step_time").isVisible());
    EXPECT_FALSE(find<QSpinBox>("plan.tp").isVisible()) << "there is nothing to edit yet";
}

TEST_F(Flows, TheWindowComesBackAsItWasLeft) {
    const auto lessons_are_shown = [](const MainWindow& w) { return w.findChild<QDockWidget*>(QStringLiteral("lessons"))->isVisible(); };
    EXPECT_FALSE(lessons_are_shown(window));
    window.resize(1010, 720);
    window.show_view("lessons");
    window.set_dark(true);
    window.close();
    MainWindow again(workbench, selection, predictor, false);
    again.recall();
    again.show();
    EXPECT_EQ(again.size(), QSize(1010, 720));
    EXPECT_TRUE(lessons_are_shown(again));
    EXPECT_TRUE(QSettings().value(QStringLiteral("window/dark")).toBool());
    again.set_dark(false);
}

// Nobody who has not chosen between light and dark has chosen, by closing the window, what the desktop has now.
TEST_F(Flows, WhetherItIsDarkIsKeptOnlyWhereItWasChosen) {
    window.close();
    EXPECT_FALSE(QSettings().contains(QStringLiteral("window/dark")));
}

TEST_F(Flows, ChartsTakeTheColorsOfAnotherLook) {
    open("gpt3-175b-1024xa100");
    const auto has = [this](const QColor& colour) {
        const auto charts = window.view("summary").findChildren<ChartWidget*>();
        const auto movers = std::ranges::find(charts, QStringLiteral("What would move it"), &QWidget::accessibleName);
        const QImage image = (*movers)->grab().toImage();
        for (int x = 0; x < image.width(); ++x)
            for (int y = 0; y < image.height(); ++y)
                if (image.pixelColor(x, y) == colour) return true;
        return false;
    };
    EXPECT_TRUE(has(light_look().accent));
    window.set_dark(true);
    settle();
    EXPECT_TRUE(has(dark_look().accent));
    window.set_dark(false);
}

TEST_F(Flows, TheSummarySaysWhatIsMissingForACostAndLeadsThere) {
    open("model-parallel-pipeline");
    auto& missing = find<QLabel>("summary.missing");
    EXPECT_TRUE(missing.isVisible());
    emit missing.linkActivated(QStringLiteral("run.tokens"));
    settle();
    EXPECT_TRUE(find<QLineEdit>("run.tokens").isVisible());
    edit({{"run.tokens", "1e9"}});
    EXPECT_THAT(missing.text().toStdString(), AllOf(HasSubstr("run.price"), Not(HasSubstr("run.tokens"))));
    edit({{"run.price", "\"2.5 USD/h\""}});
    EXPECT_FALSE(missing.isVisible());
}

// Checkpoints, failures, what the run costs and how sure that is.
TEST_F(Flows, TheSummarySaysOfTheWholeRunWhatTheCommandLineSays) {
    open("llama-3.1-405b-failures");
    edit({{"run.price", "\"2.5 USD/h\""}});
    QString all;
    for (const auto* label : window.view("summary").findChildren<QLabel*>())
        if (label->isVisible()) all += label->text() + QLatin1Char('\n');
    const std::vector<SaidSection> sections = sections_of_run(workbench.answer()->report);
    ASSERT_EQ(sections.size(), 2U) << "checkpoints and the run";
    for (const SaidSection& section : sections) {
        EXPECT_TRUE(all.contains(q(section.heading))) << section.heading;
        for (const auto& [label, said] : section.rows) EXPECT_TRUE(all.contains(with_signs(said).toHtmlEscaped())) << said;
    }
    EXPECT_TRUE(all.contains(QStringLiteral("USD  (80 %: ")));
    open("model-parallel-pipeline");
    EXPECT_TRUE(sections_of_run(workbench.answer()->report).empty());
    for (const auto* label : window.view("summary").findChildren<QLabel*>())
        EXPECT_FALSE(label->isVisible() && label->text().contains(QStringLiteral("device-hours")));
}

TEST_F(Flows, OpeningAScenarioShowsItsSummary) {
    open("gpt3-175b-1024xa100");
    EXPECT_TRUE(window.view("summary").isVisible());
    EXPECT_EQ(shown_step().toStdString(), to_text(step()));
    EXPECT_THAT(window.windowTitle().toStdString(), HasSubstr("gpt3-175b-1024xa100.json"));
    EXPECT_FALSE(window.isWindowModified());
}

TEST_F(Flows, AChangeOfTpMovesTheNumberAndUndoMovesItBack) {
    window.activateWindow();
    wait_for([this] { return window.isActiveWindow(); });
    open("gpt3-175b-1024xa100");
    const Seconds before = step();
    const QString shown = shown_step();
    auto& tensor = find<QSpinBox>("plan.tp");
    tensor.setFocus();
    QTest::keyClick(&tensor, Qt::Key_Down);  // 8 -> 4
    settle();
    EXPECT_EQ(workbench.answer()->scenario.plan.tp, 4);
    EXPECT_EQ(workbench.answer()->scenario.plan.dp, 32) << "as many devices as before: data parallelism takes what is left";
    EXPECT_NE(step(), before);
    EXPECT_NE(shown_step(), shown);
    EXPECT_TRUE(window.isWindowModified());
    QTest::keySequence(&tensor, QKeySequence::Undo);
    EXPECT_EQ(step(), before) << "at once: the answer is part of the session";
    EXPECT_EQ(shown_step(), shown);
    EXPECT_EQ(tensor.value(), 8);
    EXPECT_FALSE(window.isWindowModified());
    QTest::keySequence(&tensor, QKeySequence::Redo);
    EXPECT_EQ(tensor.value(), 4);
}

TEST_F(Flows, TypingAQuantityTakesItWithItsUnit) {
    open("gpt3-175b-1024xa100");
    auto& memory = find<QLineEdit>("hardware.device.memory");
    memory.setFocus();
    memory.selectAll();
    QTest::keyClicks(&memory, QStringLiteral("40 GiB"));
    QTest::keyClick(&memory, Qt::Key_Return);
    settle();
    EXPECT_DOUBLE_EQ(workbench.answer()->scenario.cluster.node.device.memory.value / units::GiB, 40);
    EXPECT_FALSE(workbench.answer()->report.estimate.fits());
}

TEST_F(Flows, UndoTakesBackLettersWhileTheyAreTypedAndEditsAfterwards) {
    window.activateWindow();
    wait_for([this] { return window.isActiveWindow(); });
    open("gpt3-175b-1024xa100");
    edit({{"plan.micro_batch", "2"}});
    auto& memory = find<QLineEdit>("hardware.device.memory");
    const QString before = memory.text();
    memory.setFocus();
    memory.selectAll();
    QTest::keyClicks(&memory, QStringLiteral("40"));
    QTest::keySequence(&memory, QKeySequence::Undo);
    EXPECT_NE(memory.text(), QStringLiteral("40"));
    EXPECT_EQ(find<QSpinBox>("plan.micro_batch").value(), 2);
    memory.setText(before);
    QTest::keySequence(&memory, QKeySequence::Undo);
    EXPECT_EQ(find<QSpinBox>("plan.micro_batch").value(), 1);
}

TEST_F(Flows, WhatIsBeingTypedStaysWhateverIsWorkedOutMeanwhile) {
    open("default");
    auto& batch = find<QSpinBox>("plan.global_batch");
    auto& memory = find<QLineEdit>("hardware.device.memory");
    batch.selectAll();
    QTest::keyClicks(&batch, QStringLiteral("32"));
    memory.selectAll();
    QTest::keyClicks(&memory, QStringLiteral("7 G"));
    workbench.want_simulation();
    settle();
    EXPECT_TRUE(workbench.session()->simulated);
    EXPECT_EQ(batch.cleanText(), QStringLiteral("32"));
    EXPECT_EQ(memory.text(), QStringLiteral("7 G"));
    workbench.edit({{"plan.global_batch", "16"}});
    EXPECT_EQ(batch.cleanText(), QStringLiteral("16")) << "it has another value by now";
}

TEST_F(Flows, WhatIsBeingTypedIsTakenWhenAnotherViewIsChosen) {
    open("default");
    auto& batch = find<QSpinBox>("plan.global_batch");
    batch.selectAll();
    QTest::keyClicks(&batch, QStringLiteral("32"));
    auto* rail = window.findChild<QToolBar*>(QStringLiteral("rail"));
    for (QAction* action : rail->actions())
        if (action->text() == QStringLiteral("Topology")) QTest::mouseClick(rail->widgetForAction(action), Qt::LeftButton);
    settle();
    EXPECT_TRUE(window.view("topology").isVisible());
    EXPECT_EQ(workbench.answer()->scenario.plan.global_batch, 32);
}

TEST_F(Flows, EscapeGivesUpWhatIsBeingTyped) {
    open("default");
    for (const char* name : {"plan.global_batch", "hardware.device.memory"}) {
        auto& field = find<QWidget>(name);
        auto* line = qobject_cast<QLineEdit*>(&field);
        if (!line) line = field.findChild<QLineEdit*>();
        const QString before = line->text();
        line->selectAll();
        QTest::keyClicks(&field, QStringLiteral("32"));
        QTest::keyClick(&field, Qt::Key_Escape);
        EXPECT_EQ(line->text(), before) << name;
    }
    workbench.take_typed();
    EXPECT_TRUE(workbench.session()->document.edits.empty());
}

TEST_F(Flows, BlocksThatAreRecomputedAreToldInTheirField) {
    open("gpt3-175b-1024xa100");
    auto& recompute = find<QComboBox>("plan.recompute");
    const int words = recompute.count();
    edit({{"plan.recompute", R"({"blocks": 2})"}});
    EXPECT_EQ(recompute.currentText().toStdString(), "2 blocks");
    workbench.undo();
    EXPECT_EQ(recompute.count(), words) << "nothing that can be chosen";
}

TEST_F(Flows, AMissingUnitIsToldAtTheFieldAndTheLastAnswerStays) {
    open("gpt3-175b-1024xa100");
    const Seconds before = step();
    auto& memory = find<QLineEdit>("hardware.device.memory");
    memory.selectAll();
    QTest::keyClicks(&memory, QStringLiteral("40"));
    QTest::keyClick(&memory, Qt::Key_Return);
    settle();
    EXPECT_EQ(workbench.session()->state, AnswerState::refused);
    EXPECT_TRUE(memory.property("wrong").toBool());
    EXPECT_TRUE(find<QFrame>("banner").isVisible());
    EXPECT_THAT(find<QLabel>("problems").text().toStdString(), HasSubstr("hardware.device.memory"));
    EXPECT_EQ(step(), before);
    workbench.undo();
    settle();
    EXPECT_FALSE(memory.property("wrong").toBool());
    EXPECT_FALSE(find<QFrame>("banner").isVisible());
}

TEST_F(Flows, WhatCannotBeIsToldAcrossTheLineAndNotTakenForSomethingElse) {
    open("gpt3-175b-1024xa100");
    auto& batch = find<QSpinBox>("plan.global_batch");
    batch.setFocus();
    batch.selectAll();
    QTest::keyClicks(&batch, QStringLiteral("-5"));
    QTest::keyClick(&batch, Qt::Key_Return);
    settle();
    EXPECT_EQ(workbench.session()->state, AnswerState::refused);
    EXPECT_EQ(batch.text(), QStringLiteral("-5"));
    const QList<QLabel*> labels = window.view("editor").findChildren<QLabel*>();
    const auto problem = std::ranges::find_if(labels, [](QLabel* l) { return l->text().startsWith(QLatin1String("Global batch: ")); });
    ASSERT_NE(problem, labels.end());
    EXPECT_GT((*problem)->width(), 2 * batch.width());
}

TEST_F(Flows, TheHeadSaysWhatIsStatedOfThePlanAndWhatItRunsOn) {
    open("gpt3-175b-1024xa100");
    const std::string plan = find<QLabel>("bar_plan").text().toStdString();
    EXPECT_THAT(plan, HasSubstr("recompute full"));
    EXPECT_THAT(plan, HasSubstr("framework: Megatron-LM"));
    EXPECT_THAT(plan, HasSubstr("A100"));
    EXPECT_THAT(plan, testing::Not(HasSubstr("data parallel"))) << "it is not stated";
}

// The second kind of devices counts as much as the first.
TEST_F(Flows, TheHeadNamesBothKindsOfDevices) {
    open("two-kinds-of-gpus");
    EXPECT_THAT(find<QLabel>("bar_plan").text().toStdString(), HasSubstr(", 4 of A30;"));
}

TEST_F(Flows, APlaceInTheLineLeadsToItsFieldInWhateverSectionItIs) {
    open("gpt3-175b-1024xa100");
    edit({{"run.tokens", "-1"}});
    auto& problems = find<QLabel>("problems");
    EXPECT_THAT(problems.text().toStdString(), HasSubstr("href=\"run.tokens\""));
    auto& tokens = find<QLineEdit>("run.tokens");
    EXPECT_FALSE(tokens.isVisible()) << "its section is closed at first";
    emit problems.linkActivated(QStringLiteral("run.tokens"));
    EXPECT_TRUE(tokens.isVisible());
    EXPECT_EQ(window.focusWidget(), &tokens);
}

TEST_F(Flows, APlanThatDoesNotDivideIsToldAndCanBeMended) {
    open("gpt3-175b-1024xa100");
    auto& tensor = find<QSpinBox>("plan.tp");
    tensor.setValue(5);  // of 96 heads
    settle();
    EXPECT_EQ(workbench.session()->state, AnswerState::refused);
    EXPECT_FALSE(find<QLabel>("problems").text().isEmpty());
    tensor.setValue(4);
    settle();
    EXPECT_EQ(workbench.session()->state, AnswerState::ready);
    EXPECT_EQ(workbench.answer()->scenario.plan.tp, 4);
}

TEST_F(Flows, AFasterDeviceIsAskedForWithoutTouchingTheDocument) {
    open("gpt3-175b-1024xa100");
    const Seconds before = step();
    find<QSlider>("what_if.compute").setValue(8);
    settle();
    EXPECT_DOUBLE_EQ(workbench.session()->what_if.compute, 2);
    EXPECT_LT(step(), before);
    EXPECT_EQ(workbench.answer()->step_without_what_if, before);
    EXPECT_TRUE(workbench.session()->document.edits.empty());
    EXPECT_FALSE(window.isWindowModified()) << "there is nothing to save";
    // Twice the rate is what the report says of it.
    const Bottleneck& b =
        answered(*std::make_unique<Library>(open_library()), Session{.document = workbench.session()->document}).answer->report.bottleneck;
    EXPECT_NEAR(step() / b.movers.front().step_at_double, 1, 1e-9);
}

TEST_F(Flows, ThePlacementOfTheDimensionsIsChosen) {
    open("gpt3-175b-1024xa100");
    const Seconds before = step();
    auto& order = find<QComboBox>("plan.placement");
    EXPECT_EQ(order.currentText().toStdString(), "tensor, context, data, pipeline");
    order.setCurrentText(QStringLiteral("data, pipeline, tensor, context"));
    emit order.textActivated(order.currentText());
    settle();
    EXPECT_EQ(workbench.answer()->scenario.plan.placement.front(), PlanDimension::data);
    EXPECT_GT(step(), before) << "tensor ranks no longer share a node";
    EXPECT_EQ(order.currentText().toStdString(), "data, pipeline, tensor, context");
    workbench.undo();
    EXPECT_EQ(order.currentText().toStdString(), "tensor, context, data, pipeline");
}

TEST_F(Flows, OfManyQuickEditsTheLastIsAnswered) {
    open("gpt3-175b-1024xa100");
    for (int batch = 1; batch <= 40; ++batch) workbench.edit({{"plan.global_batch", std::to_string(16 * batch)}});
    settle();
    EXPECT_EQ(workbench.answer()->scenario.plan.global_batch, 640);
    EXPECT_EQ(workbench.answer()->report.samples_per_s, 640 / step());
}

TEST_F(Flows, AnAnswerFollowsWithinFiftyMilliseconds) {
    open("llama-3.1-405b-16384xh100");
    workbench.edit({{"plan.micro_batch", "2"}});  // profiles are read by now
    settle();
    qint64 fastest = 1'000'000;
    for (int i = 0; i < 10; ++i) {  // the machine may be busy with something else: the best of ten
        QElapsedTimer timer;
        timer.start();
        workbench.edit({{"plan.micro_batch", i % 2 == 0 ? "1" : "2"}});
        while (workbench.session()->state == AnswerState::pending) QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
        fastest = std::min(fastest, timer.elapsed());
    }
    EXPECT_LE(fastest, 50);
}

TEST_F(Flows, ATermThatIsChosenShowsItsFormula) {
    open("gpt3-175b-1024xa100");
    window.show_view("breakdown");
    auto& formula = find<QPlainTextEdit>("formula");
    EXPECT_THAT(formula.toPlainText().toStdString(), HasSubstr("backward = ")) << "the largest term, where none is chosen";
    selection.select(Term::bubble);
    EXPECT_THAT(formula.toPlainText().toStdString(), HasSubstr("bubble = "));
}

TEST_F(Flows, AModelIsChosenByName) {
    open("does-not-fit");
    auto& model = find<QComboBox>("workload");
    wait_for([&] { return model.count() > 20; });  // names come from the background
    model.lineEdit()->selectAll();
    QTest::keyClicks(&model, QStringLiteral("gpt3-1.3b"));
    QTest::keyClick(&model, Qt::Key_Return);
    settle();
    EXPECT_EQ(workbench.answer()->scenario.workload.name, "gpt3-1.3b");
}

}  // namespace
}  // namespace sextant::gui
