// Would the published runs have chosen the plan that is predicted to be the fastest?
//
// Counted rows of one `job` (RowResult) are plans for the same work on the same machine. Of each job with at least four:
//
//   rank correlation   Spearman's coefficient between predicted and measured step times; 1: the same order. Equal times share their ranks
//   loss               how much longer the plan predicted to be the fastest takes than the fastest, both measured, as a fraction of that
#pragma once

#include "model/report/validation.hpp"

namespace sextant {

struct PlanRanking {
    int jobs = 0;                 // the rest means nothing when 0
    double rank_correlation = 0;  // of the job in the middle
    double loss = 0, most_loss = 0;
    int well_chosen = 0;  // jobs whose loss is at most 5 %
};
PlanRanking rank_plans(const Validation&);

// Of pairs; 0 where one side is all equal.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace sextant
