#include "model/report/plan_ranking.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant {
namespace {

using namespace units;

RowResult plan(std::string job, double measured, double predicted) {
    RowResult r;
    r.job = std::move(job);
    r.measured_step = measured * s;
    r.predicted_step = predicted * s;
    return r;
}

TEST(PlanRanking, RankCorrelationByHand) {
    EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 4}, {10, 20, 30, 40}), 1);
    EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 4}, {4, 3, 2, 1}), -1);
    // Ranks 0 1 2 3 against 1 0 2 3: 1 - 6 x 2 / (4 x 15) = 0.8.
    EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 4}, {20, 10, 30, 40}), 0.8);
    // Two equal ones share rank 1.5: deviations -1.5 -0.5 0.5 1.5 against -1.5 0 0 1.5: 4.5 / sqrt(5 x 4.5).
    EXPECT_NEAR(rank_correlation({1, 2, 3, 4}, {1, 2, 2, 3}), 4.5 / std::sqrt(22.5), 1e-12);
    EXPECT_EQ(rank_correlation({1, 2, 3}, {5, 5, 5}), 0);
}

TEST(PlanRanking, OfThreeJobsByHand) {
    std::vector<RowResult> rows;
    for (int i = 1; i <= 4; ++i) rows.push_back(plan("in order", i, 2 * i));
    // The plan predicted to be the fastest takes 1.2 s, the fastest 1 s.
    for (const auto& [measured, predicted] : {std::pair{1.2, 1.0}, {1.0, 2.0}, {3.0, 3.0}, {4.0, 4.0}})
        rows.push_back(plan("first two exchanged", measured, predicted));
    for (const auto& [measured, predicted] : {std::pair{1.0, 4.0}, {2.0, 3.0}, {3.0, 2.0}, {4.0, 1.0}})
        rows.push_back(plan("the wrong way round", measured, predicted));
    const PlanRanking r = rank_plans({{{"f", "", rows}}});
    EXPECT_EQ(r.jobs, 3);
    EXPECT_DOUBLE_EQ(r.rank_correlation, 0.8);
    EXPECT_NEAR(r.loss, 0.2, 1e-12);
    EXPECT_NEAR(r.most_loss, 3, 1e-12);
    EXPECT_EQ(r.well_chosen, 1);
}

TEST(PlanRanking, TakesFourCountedPlansOfAJobOrNone) {
    std::vector<RowResult> rows{plan("a", 1, 1), plan("a", 2, 2), plan("a", 3, 3), plan("a", 4, 4)};
    rows[3].counted = false;
    EXPECT_EQ(rank_plans({{{"f", "", rows}}}).jobs, 0);
    rows[3].counted = true;
    EXPECT_EQ(rank_plans({{{"f", "", rows}}}).jobs, 1);
    rows[3].job = "b";
    EXPECT_EQ(rank_plans({{{"f", "", rows}}}).jobs, 0);
    for (RowResult& r : rows) r.job.clear();
    EXPECT_EQ(rank_plans({{{"f", "", rows}}}).jobs, 0);
}

}  // namespace
}  // namespace sextant
