// A search as people ask for it: begun, stopped, looked at, and one of its plans opened.
#include "gui/models/plan_table_model.hpp"
#include "gui/models/text.hpp"
#include "tests/golden/bundled_scenarios.hpp"
#include "tests/gui/desk.hpp"

#include <gmock/gmock.h>

#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QTest>

#include <map>
#include <numeric>

namespace sextant::gui {
namespace {

using testing::HasSubstr;
using testing::Not;

std::shared_ptr<const PlanFindings> search_for(const PlanForm& form, const Scenario& job) {
    const ReadPlanForm read = read_plan_form(form, job);
    return std::make_shared<const PlanFindings>(findings_of(form, find_plan(*read.question), 1 * units::s));
}

TEST(PlanFormText, IsReadAsTheCommandLineReadsIt) {
    const Scenario job = bundled_scenario("gpt3-175b-1024xa100");
    PlanForm form = plan_form(job);
    EXPECT_EQ(form.devices, QStringLiteral("1024"));
    form.pins = QStringLiteral("schedule, tp=2");
    form.where = QStringLiteral("memory < 70 GiB, step_time < 60 s");
    form.batches = QStringLiteral("512, 1024");
    form.counts_nodes = true;
    form.devices = QStringLiteral("2..4");
    const ReadPlanForm read = read_plan_form(form, job);
    ASSERT_TRUE(read.question);
    const SearchRequest& r = read.question->search;
    EXPECT_EQ(r.devices, (std::vector{16, 24, 32})) << "nodes of eight";
    EXPECT_EQ(r.pinned, (std::set{PlanField::schedule, PlanField::tp}));
    EXPECT_EQ(r.job.plan.tp, 2);
    EXPECT_EQ(read.question->own.tp, 8) << "what it is compared with stays as it is";
    EXPECT_EQ(r.where.size(), 2U);
    EXPECT_EQ(r.global_batches, (std::vector<std::int64_t>{512, 1024}));
}

TEST(PlanFormText, NamesWhatIsWrongInEveryFieldAtOnce) {
    PlanForm form;
    form.devices = QStringLiteral("many");
    form.pins = QStringLiteral("tq=8");
    form.where = QStringLiteral("speed > 1");
    form.batches = QStringLiteral("0");
    const ReadPlanForm read = read_plan_form(form, bundled_scenario("default"));
    EXPECT_FALSE(read.question);
    EXPECT_THAT(read.problems.at(PlanFormField::devices).toStdString(), HasSubstr("no number from 1"));
    EXPECT_THAT(read.problems.at(PlanFormField::pins).toStdString(), HasSubstr("\"tq\" is nothing that a search chooses"));
    EXPECT_THAT(read.problems.at(PlanFormField::where).toStdString(), HasSubstr("speed"));
    EXPECT_TRUE(read.problems.contains(PlanFormField::batches));
    form.pins = QStringLiteral("placement=[tp");
    EXPECT_TRUE(read_plan_form(form, bundled_scenario("default")).problems.contains(PlanFormField::pins)) << "a bracket that stays open";
}

TEST(PlanFindingsTable, HoldsEveryPlanOnceAndItsTermsSumToItsStep) {
    const auto found = search_for(plan_form(bundled_scenario("default")), bundled_scenario("default"));
    const Table table = found_plans_table(*found);
    ASSERT_EQ(table.rows.size(), found->plans.size());
    const auto step = static_cast<std::size_t>(table.headings.indexOf(QStringLiteral("step time (s)")));
    for (const auto& row : table.rows) {
        ASSERT_EQ(static_cast<qsizetype>(row.size()), table.headings.size());
        const double sum =
            std::accumulate(row.end() - term_count, row.end(), 0.0, [](double s, const QVariant& v) { return s + v.toDouble(); });
        EXPECT_NEAR(sum / row[step].toDouble(), 1, 1e-9);
    }
    EXPECT_EQ(std::ranges::count_if(found->plans, &FoundPlan::is_own), 1);
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count_if(found->plans, &FoundPlan::on_front)), found->answer.front.size());
}

TEST(PlanTable, KeepsTheRulesOfItemModelsAndMarksUpToFour) {
    PlanTableModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    EXPECT_TRUE(model.is_empty());
    PlanForm form = plan_form(bundled_scenario("gpt3-175b-1024xa100"));
    form.top = 6;
    model.set_findings(search_for(form, bundled_scenario("gpt3-175b-1024xa100")));
    ASSERT_EQ(model.rowCount(), 7) << "the best and the scenario's own";
    EXPECT_EQ(model.beside().size(), 2U) << "the same, to begin with";
    for (int row = 1; row < 6; ++row) model.setData(model.index(row, 0), Qt::Checked, Qt::CheckStateRole);
    EXPECT_EQ(model.beside().size(), PlanTableModel::most_beside);
    EXPECT_EQ(model.index(5, 0).data(Qt::CheckStateRole).toInt(), Qt::Unchecked);
    model.setData(model.index(0, 0), Qt::Unchecked, Qt::CheckStateRole);
    EXPECT_FALSE(model.beside().contains(0));
    EXPECT_EQ(model.index(0, 1).data().toString(), quantity(model.at(0).choice.step));
    model.set_findings(nullptr);
    EXPECT_EQ(model.rowCount(), 0);
}

// The plan of the paper, of 8 chunks a stage, is faster than the best of 4 chunks.
TEST(PlanFindings, HaveTheOwnPlanWhereItStandsAndSayWhyItIsNotPlanOne) {
    const Scenario job = bundled_scenario("llama-3.1-405b-16384xh100");
    PlanForm form = plan_form(job);
    form.pins = QStringLiteral("tp, pp, schedule, vpp=4");
    PlanFindings found = *search_for(form, job);
    ASSERT_GT(job.plan.vpp, found.answer.best.front().choice.plan.vpp);
    ASSERT_TRUE(found.plans.front().is_own);
    EXPECT_TRUE(found.is_passed());
    EXPECT_EQ(found.first(), 1U);
    EXPECT_EQ(found.listed, found.answer.best.size() + 1);
    EXPECT_EQ(place_of(found, job.plan), 0U);
    EXPECT_THAT(own_sentence(found, 0).toStdString(), HasSubstr("it is not what was asked for"));
    found.answer.request.pinned.clear();
    found.answer.own.plan.vpp = 9;  // more chunks than there are blocks to deal out
    EXPECT_THAT(own_sentence(found, 0).toStdString(), HasSubstr("not in the space that was searched, which has no vpp 9"));
    EXPECT_THAT(own_sentence(found, 1).toStdString(), HasSubstr("the plan as it was before has")) << "once another is open";
}

class Planner : public Desk {
protected:
    void begin(const std::string& scenario) {
        open(scenario);
        window.show_view("planner");
    }
    void search() {
        QTest::mouseClick(&find<QPushButton>("planner.search"), Qt::LeftButton);
        wait_for([this] { return workbench.session()->plans != nullptr; });
    }
    void type(const char* field, const QString& text) {
        auto& line = find<QLineEdit>(field);
        line.selectAll();
        QTest::keyClicks(&line, text);
    }
    QString said() { return find<QLabel>("planner.said").text(); }
};

TEST_F(Planner, FindsABetterPlanWhichIsOpenedAsOneChange) {
    begin("gpt3-175b-1024xa100");
    const Seconds before = step();
    const int tp_before = workbench.answer()->scenario.plan.tp, pp_before = workbench.answer()->scenario.plan.pp;
    search();
    const std::shared_ptr<const PlanFindings> found = workbench.session()->plans;
    QTest::mouseClick(&find<QPushButton>("planner.open"), Qt::LeftButton);
    settle();
    EXPECT_LT(step(), before);
    EXPECT_EQ(step(), found->answer.best.front().choice.step);
    EXPECT_EQ(workbench.session()->plans, found) << "another of the plans can be opened next";
    EXPECT_EQ(workbench.history().undoes(), QStringLiteral("plan 1"));
    EXPECT_FALSE(find<QPushButton>("planner.open").isEnabled()) << "it is open";
    EXPECT_EQ(find<QLabel>("planner.chosen").text(), QStringLiteral("Plan 1, open now"));
    workbench.undo();
    EXPECT_TRUE(find<QPushButton>("planner.open").isEnabled());
    EXPECT_EQ(step(), before);
    EXPECT_EQ(workbench.answer()->scenario.plan.tp, tp_before);
    EXPECT_EQ(workbench.answer()->scenario.plan.pp, pp_before);
}

TEST_F(Planner, WhatAllPlansHaveIsSaidOnceBelowTheTable) {
    begin("gpt3-175b-1024xa100");
    search();
    const std::string common = find<QLabel>("planner.in_common").text().toStdString();
    EXPECT_THAT(common, testing::StartsWith("All of these: "));
    for (const QTableView* t : window.view("planner").findChildren<QTableView*>())
        if (t->accessibleName() == QStringLiteral("The best plans")) {
            for (int c = 3; c < t->model()->columnCount(); ++c) {
                const std::string heading = t->model()->headerData(c, Qt::Horizontal).toString().toStdString();
                EXPECT_THAT(common, Not(HasSubstr(heading + " "))) << "it has a column";
            }
        }
}

TEST_F(Planner, TheHeadingsOfDegreesSayWhatTheEditorCallsThem) {
    begin("gpt3-175b-1024xa100");
    search();
    const std::map<QString, const char*> words{
        {QStringLiteral("tp"), "Tensor: "}, {QStringLiteral("pp"), "Pipeline: "}, {QStringLiteral("dp"), "Data: "}};
    int seen = 0;  // those that all plans share have no column
    for (const QTableView* t : window.view("planner").findChildren<QTableView*>())
        for (int c = 0; c < t->model()->columnCount(); ++c) {
            const auto word = words.find(t->model()->headerData(c, Qt::Horizontal).toString());
            if (t->accessibleName() != QStringLiteral("The best plans") || word == words.end()) continue;
            ++seen;
            const QString tip = t->model()->headerData(c, Qt::Horizontal, Qt::ToolTipRole).toString();
            EXPECT_THAT(tip.toStdString(), testing::StartsWith(word->second));
        }
    EXPECT_GT(seen, 0);
}

TEST_F(Planner, ARowOfTheTableIsChosenByKeysMarkedBySpaceAndOpenedByEnter) {
    begin("does-not-fit");
    search();
    QTableView* table = nullptr;
    for (QTableView* t : window.view("planner").findChildren<QTableView*>())
        if (t->accessibleName() == QStringLiteral("The best plans")) table = t;
    ASSERT_TRUE(table);
    table->setFocus();
    QTest::keyClick(table, Qt::Key_Down);
    EXPECT_EQ(find<QLabel>("planner.chosen").text(), QStringLiteral("Plan 2"));
    const bool was_marked = find<QCheckBox>("planner.beside").isChecked();
    QTest::keyClick(table, Qt::Key_Space);
    EXPECT_NE(find<QCheckBox>("planner.beside").isChecked(), was_marked);
    QTest::keyClick(table, Qt::Key_Return);
    settle();
    EXPECT_EQ(step(), workbench.session()->plans->answer.best[1].choice.step);
    EXPECT_TRUE(workbench.answer()->report.estimate.fits());
}

TEST_F(Planner, AsksForAsManyDevicesAsThePlanHasUnlessSomebodyTypedOthers) {
    begin("gpt3-175b-1024xa100");
    auto& devices = find<QLineEdit>("planner.devices");
    EXPECT_EQ(devices.text(), QStringLiteral("1024"));
    edit({{"plan.dp", "8"}});
    EXPECT_EQ(devices.text(), QString::number(workbench.answer()->scenario.plan.devices()));
    type("planner.devices", QStringLiteral("2048"));
    workbench.undo();
    EXPECT_EQ(devices.text(), QStringLiteral("2048"));
}

TEST_F(Planner, SaysThatItKnowsNoWhatIf) {
    begin("default");
    EXPECT_FALSE(find<QLabel>("planner.without").isVisible());
    workbench.set_what_if({.compute = 2});
    settle();
    EXPECT_TRUE(find<QLabel>("planner.without").isVisible());
}

TEST_F(Planner, SaysWhatIsWrongBesideTheField) {
    begin("default");
    type("planner.pins", QStringLiteral("tq=8"));
    QTest::keyClick(&find<QLineEdit>("planner.pins"), Qt::Key_Return);
    EXPECT_TRUE(find<QLineEdit>("planner.pins").property("wrong").toBool());
    EXPECT_FALSE(find<QLineEdit>("planner.where").property("wrong").toBool());
    EXPECT_FALSE(workbench.session()->plans);
    type("planner.pins", QStringLiteral("tp"));
    search();
    EXPECT_FALSE(find<QLineEdit>("planner.pins").property("wrong").toBool());
}

TEST_F(Planner, TellsWhatWouldMakeAJobFitThatDoesNot) {
    begin("does-not-fit");
    type("planner.pins", QStringLiteral("data_parallel, tp, pp, offload"));
    search();
    EXPECT_THAT(find<QLabel>("planner.verdict").text().toStdString(), HasSubstr("No plan fits"));
    EXPECT_FALSE(find<QWidget>("planner.plot").isVisible());
    QTableView* remedies = nullptr;
    for (QTableView* t : window.view("planner").findChildren<QTableView*>())
        if (t->accessibleName() == QStringLiteral("What would make one fit")) remedies = t;
    ASSERT_TRUE(remedies);
    const auto count = workbench.session()->plans->answer.remedies.size();
    ASSERT_GT(count, 0U);
    for (std::size_t i = 0; i < count; ++i) {
        const Remedy& r = workbench.session()->plans->answer.remedies[i];
        emit remedies->activated(remedies->model()->index(static_cast<int>(i), 0));
        settle();
        EXPECT_EQ(step(), r.tried.estimate->step) << "the change itself, whichever it is";
        EXPECT_THAT(find<QLabel>("planner.verdict").text().toStdString(), HasSubstr("open fits"));
        workbench.undo();
        settle();
    }
}

TEST_F(Planner, KeepsTheBestSoFarWhenItIsStopped) {
    begin("llama-3.1-405b-16384xh100");
    QTest::mouseClick(&find<QPushButton>("planner.search"), Qt::LeftButton);
    auto& stop = find<QPushButton>("planner.stop");
    EXPECT_TRUE(stop.isVisible());
    QTest::mouseClick(&stop, Qt::LeftButton);
    wait_for([this] { return workbench.session()->plans != nullptr; });
    EXPECT_FALSE(workbench.session()->plans->answer.complete);
    EXPECT_THAT(said().toStdString(), HasSubstr("Stopped before the end"));
    EXPECT_FALSE(stop.isVisible());
}

TEST_F(Planner, AnEditEndsTheSearchAndForgetsWhatWasFound) {
    begin("llama-3.1-405b-16384xh100");
    QTest::mouseClick(&find<QPushButton>("planner.search"), Qt::LeftButton);
    edit({{"plan.global_batch", "4096"}});
    EXPECT_THAT(said().toStdString(), HasSubstr("was changed"));
    wait_for([this] { return !find<QPushButton>("planner.stop").isVisible(); });
    EXPECT_FALSE(workbench.session()->plans);
    begin("default");
    search();
    workbench.set_what_if({.compute = 2});
    settle();
    EXPECT_TRUE(workbench.session()->plans) << "a search knows no what-if";
    edit({{"plan.global_batch", "64"}});
    EXPECT_FALSE(workbench.session()->plans);
}

}  // namespace
}  // namespace sextant::gui
