#include "model/report/validation.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;

RowResult row(double measured, double predicted, bool counted = true, std::string series = "a") {
    RowResult r;
    r.id = "row";
    r.counted = counted;
    r.series = std::move(series);
    r.measured_step = measured * s;
    r.predicted_step = predicted * s;
    return r;
}

TEST(Validation, ErrorsOfFourRowsByHand) {
    // Signed errors: 12/10 - 1 = +0.2, 5/10 - 1 = -0.5, 10/10 - 1 = 0, 11/10 - 1 = +0.1.
    // mape = 0.8/4 = 0.2; sorted 0, 0.1, 0.2, 0.5: median 0.15; bias = -0.2/4 = -0.05; maximum 0.5.
    const std::vector<RowResult> rows{row(10, 12), row(10, 5), row(10, 10), row(10, 11)};
    const Summary summary = summarize(rows);
    EXPECT_EQ(summary.step_time.rows, 4);
    EXPECT_NEAR(summary.step_time.mape, 0.2, 1e-12);
    EXPECT_NEAR(summary.step_time.median_ape, 0.15, 1e-12);
    EXPECT_NEAR(summary.step_time.bias, -0.05, 1e-12);
    EXPECT_NEAR(summary.step_time.max_ape, 0.5, 1e-12);
    EXPECT_EQ(summary.memory.rows, 0);
}

TEST(Validation, TheMedianOfAnOddNumberIsTheMiddleOne) { EXPECT_DOUBLE_EQ(statistics_of({-0.3, 0.1, 0.2}).median_ape, 0.2); }

TEST(Validation, NoRowsGiveNoStatistics) { EXPECT_EQ(statistics_of({}).rows, 0); }

TEST(Validation, RowsThatAreNotCountedAreShownAndNotScored) {
    RowResult refused;
    refused.refused = "no such device";
    const std::vector<RowResult> rows{row(10, 11), row(10, 100, false), refused};
    const Summary of_file = summarize(rows);
    EXPECT_EQ(of_file.rows, 3);
    EXPECT_EQ(of_file.counted, 2);
    EXPECT_EQ(of_file.predicted, 2);
    EXPECT_EQ(of_file.refused, 1);
    EXPECT_EQ(of_file.reasons.at("no such device"), 1);
    EXPECT_NEAR(of_file.step_time.mape, 0.1, 1e-12);

    const Summary total = Validation{{{"f", "", rows}}}.total();
    EXPECT_EQ(total.rows, 2);
    EXPECT_EQ(total.predicted, 1);
    EXPECT_EQ(total.refused, 1);
}

TEST(Validation, ASeriesSaysHowManyRowsLieInTheIntervalAveragedOverFiles) {
    const auto within = [](double measured, double low, double high) {
        RowResult r = row(measured, measured);
        r.interval = {low * s, high * s};
        return r;
    };
    // One of two in the first file, both in the second, bounds included; a row without an interval says nothing.
    const Validation v{{{"f", "", {within(10, 9, 11), within(12, 9, 11)}}, {"g", "", {within(10, 10, 11), within(11, 10, 11), row(1, 1)}}}};
    EXPECT_NEAR(v.series().at(0).inside.value(), 0.75, 1e-12);
    EXPECT_FALSE((Validation{{{"f", "", {row(1, 1)}}}}.series().at(0).inside));
}

TEST(Validation, FitsIsRightWhenItSaysWhatHappened) {
    std::vector<RowResult> rows(4);
    const bool happened[] = {true, true, false, false};
    const bool predicted[] = {true, false, false, true};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i].measured_fits = happened[i];
        rows[i].predicted_fits = predicted[i];
    }
    rows.push_back({});  // a collective knows nothing of memory
    const Summary summary = summarize(rows);
    EXPECT_EQ(summary.ran.of, 2);
    EXPECT_EQ(summary.ran.right, 1);
    EXPECT_EQ(summary.failed.of, 2);
    EXPECT_EQ(summary.failed.right, 1);
}

TEST(Validation, ASeriesWeighsFilesAlikeHoweverManyRowsTheyHave) {
    // File one: errors 0.1, 0.1, 0.1 -> 0.1. File two: 0.5 -> 0.5. Mean over files 0.3; over rows it would be 0.2.
    const Validation v{
        {{"one", "", {row(10, 11), row(10, 11), row(10, 11), row(10, 90, false)}}, {"two", "", {row(10, 5), row(10, 20, true, "b")}}}};
    const auto series = v.series();
    ASSERT_EQ(series.size(), 2U);
    EXPECT_EQ(series[0].series, "a");
    EXPECT_EQ(series[0].files, 2);
    EXPECT_EQ(series[0].rows, 4);
    EXPECT_NEAR(series[0].mape, 0.3, 1e-12);
    EXPECT_NEAR(series[0].bias, (0.1 - 0.5) / 2, 1e-12);
    EXPECT_NEAR(series[1].mape, 1, 1e-12);
}

TEST(Validation, GroupsHoldTheCountedRowsOfALabel) {
    RowResult a = row(10, 11), b = row(10, 12), c = row(10, 13, false);
    a.labels["gpu"] = "A100";
    c.labels["gpu"] = "A100";
    const auto groups = Validation{{{"f", "", {a, b, c}}}}.grouped_by("gpu");
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups.at("A100").rows, 1);
    EXPECT_EQ(groups.at("not stated").rows, 1);
}

TEST(Validation, AMeasurementOfZeroGivesNoError) { EXPECT_FALSE(row(0, 1).step_error()); }

}  // namespace
}  // namespace sextant
