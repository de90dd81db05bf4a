// Item models keep the rules that views rely on: QAbstractItemModelTester watches them while they change.
#include "gui/models/csv.hpp"
#include "gui/models/report_tables.hpp"
#include "gui/models/scenario_list_model.hpp"
#include "gui/models/selection.hpp"
#include "gui/models/text.hpp"
#include "tests/golden/bundled_scenarios.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>

namespace sextant::gui {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr auto fatal = QAbstractItemModelTester::FailureReportingMode::Fatal;

Report bundled_report(const std::string& name) { return predict(bundled_scenario(name)); }

TEST(TableModel, HoldsTheTablesOfAReportOneAfterTheOther) {
    TableModel model;
    const QAbstractItemModelTester tester(&model, fatal);
    const Report r = bundled_report("gpt3-175b-1024xa100");
    for (Table table :
         {figures_table(r), terms_table(r.estimate), movers_table(r.bottleneck), inputs_table(r), memory_table(r.estimate), Table{}}) {
        const std::size_t rows = table.rows.size();
        for (const auto& row : table.rows) EXPECT_EQ(static_cast<qsizetype>(row.size()), table.headings.size());
        model.set_table(std::move(table));
        EXPECT_EQ(static_cast<std::size_t>(model.rowCount()), rows);
    }
}

TEST(TableModel, TheTermsOfAStepSumToIt) {
    const Report r = bundled_report("gpt3-175b-1024xa100");
    const Table table = terms_table(r.estimate);
    double sum = 0;
    for (const auto& row : table.rows) sum += row[1].toDouble();
    EXPECT_NEAR(sum, r.estimate.step / units::s, 1e-9 * sum);
}

TEST(Csv, QuotesWhatNeedsIt) {
    TableModel model;
    model.set_table({{QStringLiteral("name"), QStringLiteral("value")}, {{QStringLiteral("a, \"b\""), 1.5}, {QStringLiteral("plain"), 2}}});
    EXPECT_EQ(csv_of(model).toStdString(), "name,value\r\n\"a, \"\"b\"\"\",1.5\r\nplain,2\r\n");
}

TEST(Texts, HaveTheDigitsAndTheUnitsThatPeopleRead) {
    using namespace units;
    EXPECT_EQ(quantity(43762 * W * s), QStringLiteral("43.8 kJ"));
    EXPECT_EQ(quantity(962051 * W * s), QStringLiteral("962 kJ"));
    EXPECT_EQ(quantity(551 * W * s), QStringLiteral("551 J"));
    EXPECT_EQ(quantity(2 * kWh), QStringLiteral("2.00 kWh"));
    EXPECT_EQ(words_of(TimeRange{13.15 * s, 13.153 * s}), QStringLiteral("13.15000 s to 13.15300 s")) << "and not from 13.15 s to 13.15 s";
    EXPECT_EQ(words_of(TimeRange{{}, 2 * s}), QStringLiteral("0 to 2.000 s"));
}

TEST(ScenarioList, IsSearchedWordByWord) {
    ScenarioListModel model;
    const QAbstractItemModelTester tester(&model, fatal);
    const Library library = open_library();
    model.set_entries(scenario_entries(library, {}));
    const int all = model.rowCount();
    EXPECT_GT(all, 40);
    EXPECT_TRUE(model.index(0).data(ScenarioListModel::is_heading).toBool());
    EXPECT_FALSE(model.flags(model.index(0)) & Qt::ItemIsSelectable);
    model.set_filter(QStringLiteral("lisa resnet"));
    EXPECT_LT(model.rowCount(), all);
    std::vector<std::string> paths;
    for (int row = 1; row < model.rowCount(); ++row)
        paths.push_back(model.index(row).data(ScenarioListModel::path).toString().toStdString());
    EXPECT_THAT(paths, Contains(HasSubstr("lisa")));
    EXPECT_THAT(paths, Not(Contains(HasSubstr("gpt3"))));
    model.set_filter(QStringLiteral("no such thing"));
    EXPECT_EQ(model.rowCount(), 0);
    model.set_filter({});
    EXPECT_EQ(model.rowCount(), all);
}

TEST(ScenarioList, ShowsHowAStepIsDividedWhereItCanBePredicted) {
    Library library = open_library();
    std::vector<ScenarioEntry> entries = scenario_entries(library, {});
    entries.resize(4);
    entries.push_back(
        {.heading = {}, .path = QStringLiteral("/no/such/file"), .name = QStringLiteral("gone"), .description = {}, .glance = {}});
    entries = with_glances(library, std::move(entries));
    EXPECT_FALSE(entries[1].glance) << "a heading";
    ASSERT_TRUE(entries[2].glance);
    EXPECT_NEAR(entries[2].glance->terms.total() / entries[2].glance->step, 1, 1e-9);
    EXPECT_FALSE(entries.back().glance);
}

TEST(Text, IsGroupedByThousandsAndSpeaksOfPlacesAsEditsDo) {
    EXPECT_EQ(grouped(1234567.4), QStringLiteral("1,234,567"));
    EXPECT_EQ(grouped(999), QStringLiteral("999"));
    EXPECT_EQ(grouped(0.39), QStringLiteral("0.390"));
    EXPECT_EQ(grouped(-1000), QStringLiteral("-1,000"));
    // Three digits of 2 477 445: the fourth is a 7, so the third goes up.
    EXPECT_EQ(grouped_quantity(2477445), QStringLiteral("2,480,000"));
    EXPECT_EQ(grouped_quantity(0.39), QStringLiteral("0.390"));
    EXPECT_EQ(path_of_pointer("/plan/stage_blocks/3"), QStringLiteral("plan.stage_blocks.3"));
    EXPECT_EQ(path_of_pointer(""), QString());
}

}  // namespace
}  // namespace sextant::gui
