#include "backend/exec/run_report.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sextant {
namespace {

// The first step allocates memory and makes primitives.
int median_step(const std::vector<Seconds>& times) {
    std::vector<int> order(times.size());
    std::iota(order.begin(), order.end(), 0);
    if (order.size() > 1) order.erase(order.begin());
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>((order.size() - 1) / 2);
    std::ranges::nth_element(order, middle, {}, [&](int i) { return times[static_cast<std::size_t>(i)]; });
    return *middle;
}

}  // namespace

RunRecord summarize(const Job& job, const std::vector<StepRecord>& steps, const SumOverRanks& sum) {
    const auto ranks = static_cast<double>(job.graph.ranks().size());
    std::vector<double> sums;
    for (const StepRecord& s : steps) {
        sums.push_back(s.loss);
        sums.push_back((s.end - s.begin).si() / ranks);
    }
    sum(sums);
    RunRecord record;
    record.scenario = job.scenario.name;
    record.scenario_file = job.scenario.file;
    record.backend = "cpu";
    record.seed = job.seed;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (!job.scenario.plan.forward_only) record.losses.push_back(sums[2 * i]);
        record.steps.push_back(sums[2 * i + 1] * units::s);
    }
    record.traced_step = median_step(record.steps);
    return record;
}

std::vector<ParameterSummary> summarize(const std::vector<Fingerprint>& mine, const SumOverRanks& sum) {
    std::vector<double> sums;
    for (const Fingerprint& f : mine) sums.insert(sums.end(), {f.held, f.product, f.squares});
    sum(sums);
    std::vector<ParameterSummary> list;
    for (std::size_t i = 0; i < mine.size(); ++i) {
        Fingerprint all = mine[i];
        all.held = sums[3 * i];
        list.push_back({all.block, all.name, all.elements, std::sqrt(all.of_one(sums[3 * i + 2])), all.of_one(sums[3 * i + 1])});
    }
    return list;
}

}  // namespace sextant
