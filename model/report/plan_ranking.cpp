#include "model/report/plan_ranking.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sextant {
namespace {

constexpr std::size_t fewest_plans = 4;
constexpr double good_choice = 0.05;

// From 0; equal values have the mean of the ranks that they cover.
std::vector<double> ranks_of(const std::vector<double>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
    std::vector<double> ranks(values.size());
    for (std::size_t first = 0; first < order.size();) {
        std::size_t end = first;
        while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
        for (std::size_t i = first; i < end; ++i) ranks[order[i]] = static_cast<double>(first + end - 1) / 2;
        first = end;
    }
    return ranks;
}

struct Job {
    std::vector<double> measured, predicted;  // step times in seconds, by plan

    [[nodiscard]] double loss() const {
        const auto chosen = std::ranges::min_element(predicted) - predicted.begin();
        return measured[static_cast<std::size_t>(chosen)] / std::ranges::min(measured) - 1;
    }
};

}  // namespace

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
    const std::vector<double> x = ranks_of(a), y = ranks_of(b);
    const double middle = static_cast<double>(a.size() - 1) / 2;
    double xy = 0, xx = 0, yy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        xy += (x[i] - middle) * (y[i] - middle);
        xx += (x[i] - middle) * (x[i] - middle);
        yy += (y[i] - middle) * (y[i] - middle);
    }
    return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

PlanRanking rank_plans(const Validation& validation) {
    std::map<std::string, Job> jobs;
    for (const FileValidation& file : validation.files)
        for (const RowResult& r : file.results) {
            if (r.job.empty() || !r.counted || !r.step_error()) continue;
            Job& job = jobs[file.file + ": " + r.job];
            job.measured.push_back(r.measured_step->si());
            job.predicted.push_back(r.predicted_step->si());
        }
    std::erase_if(jobs, [](const auto& entry) { return entry.second.measured.size() < fewest_plans; });
    PlanRanking ranking;
    if (jobs.empty()) return ranking;
    std::vector<double> correlations, losses;
    for (const auto& [name, job] : jobs) {
        correlations.push_back(rank_correlation(job.measured, job.predicted));
        losses.push_back(job.loss());
    }
    ranking.jobs = static_cast<int>(jobs.size());
    ranking.rank_correlation = median_of(std::move(correlations));
    ranking.well_chosen = static_cast<int>(std::ranges::count_if(losses, [](double l) { return l <= good_choice; }));
    ranking.most_loss = std::ranges::max(losses);
    ranking.loss = median_of(std::move(losses));
    return ranking;
}

}  // namespace sextant
