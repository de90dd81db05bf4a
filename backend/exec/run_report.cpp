#include "backend/exec/run_report.hpp"

#include "model/plan/job_settings.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sextant {
namespace {

// Of those with details. The first step allocates memory and makes primitives.
int median_walk(const std::vector<StepRecord>& walks, const std::vector<Seconds>& times) {
    std::vector<int> order;
    for (std::size_t i = 0; i < walks.size(); ++i)
        if (walks[i].details) order.push_back(static_cast<int>(i));
    if (order.size() > 1) order.erase(order.begin());
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>((order.size() - 1) / 2);
    std::ranges::nth_element(order, middle, {}, [&](int i) { return times[static_cast<std::size_t>(i)]; });
    return *middle;
}

// Of the experts of a layer in so many parts: the most rows of a part over their mean, averaged over the layers. Where all ranks of a
// tensor group route the same tokens, each row is counted several times, of every expert alike.
double imbalance(const std::vector<double>& rows, std::size_t experts, std::size_t parts) {
    const auto each = static_cast<std::ptrdiff_t>(experts / parts);
    double sum = 0;
    int layers = 0;
    for (auto at = rows.begin(); at != rows.end();) {
        double all = 0, most = 0;
        for (std::size_t i = 0; i < parts; ++i, at += each) {
            const double part = std::accumulate(at, at + each, 0.0);
            all += part;
            most = std::max(most, part);
        }
        if (all == 0) continue;  // a dense one
        sum += most * static_cast<double>(parts) / all;
        ++layers;
    }
    return sum / layers;
}

}  // namespace

// A walk through the graph is several steps where workers go on without each other.
RunRecord summarize(const Job& job, const std::vector<StepRecord>& walks, Seconds clock_offset, const OverRanks& sum,
                    const OverRanks& largest) {
    const auto rounds = static_cast<std::size_t>(job.rounds());
    std::vector<double> losses, ends;  // of each walk also how long before zero it began
    for (const StepRecord& w : walks) {
        losses.insert(losses.end(), w.losses.begin(), w.losses.end());
        ends.insert(ends.end(), {(w.end + clock_offset).si(), -(w.begin + clock_offset).si()});
    }
    sum(losses);
    largest(ends);
    RunRecord record;
    record.scenario = job.scenario.name;
    record.scenario_file = job.scenario.file;
    record.settings = job_settings(job.scenario);
    record.seed = job.seed;
    std::vector<Seconds> times;
    for (std::size_t walk = 0; walk < walks.size(); ++walk) {
        times.push_back((ends[2 * walk] + ends[2 * walk + 1]) / static_cast<double>(rounds) * units::s);
        record.steps.insert(record.steps.end(), rounds, times.back());
    }
    if (!job.scenario.plan.forward_only) record.losses = std::move(losses);
    for (const StepRecord& w : walks) {
        if (job.mtp_layers() == 0 || job.scenario.plan.forward_only) break;
        std::vector<double> of_modules = w.mtp_losses;
        sum(of_modules);
        record.mtp_losses.insert(record.mtp_losses.end(), of_modules.begin(), of_modules.end());
    }
    for (const StepRecord& w : walks) {
        std::vector<double> rows = w.expert_rows;
        if (rows.empty() || job.scenario.plan.forward_only) break;
        sum(rows);
        record.expert_imbalance.push_back(imbalance(rows, job.experts(), job.experts()));
        const auto ranks = static_cast<std::size_t>(job.scenario.plan.ep);
        if (ranks > 1) record.expert_rank_imbalance.push_back(imbalance(rows, job.experts(), ranks));
    }
    record.traced_step = median_walk(walks, times) * job.rounds();
    record.steps_in_trace = job.rounds();
    return record;
}

ServerSummary summarize(const UpdateChecksum& pushed, const UpdateChecksum& applied, const std::vector<std::vector<int>>& staleness,
                        const OverRanks& sum) {
    std::vector<double> sums{static_cast<double>(pushed.updates), static_cast<double>(applied.updates), static_cast<double>(pushed.bits),
                             static_cast<double>(applied.bits)};
    sum(sums);
    constexpr double modulus = 4294967296.0;  // 2^32
    ServerSummary s{sums[0], sums[1], std::fmod(sums[2], modulus), std::fmod(sums[3], modulus), {}};
    for (const std::vector<int>& of_server : staleness)
        for (const int stale : of_server) {
            s.staleness.resize(std::max(s.staleness.size(), static_cast<std::size_t>(stale) + 1));
            ++s.staleness[static_cast<std::size_t>(stale)];
        }
    return s;
}

std::vector<ParameterSummary> summarize(const std::vector<Fingerprint>& mine, const OverRanks& sum) {
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

std::vector<OperatorTime> summarize(const Network& network, const std::vector<std::vector<RecordedOperator>>& of_ranks) {
    std::vector<RecordedOperator> all;
    for (const std::vector<RecordedOperator>& of_rank : of_ranks) all.insert(all.end(), of_rank.begin(), of_rank.end());
    std::vector<OperatorTime> list;
    for (const RecordedOperator& o : added_up(all)) {
        const Block& block = network.templates[static_cast<std::size_t>(o.block_template)];
        OperatorTime& time = list.emplace_back(
            OperatorTime{o.block_template, {}, block.name, std::string(gradient_sums_name), o.kind, static_cast<double>(o.calls), o.time});
        if (o.index == gradient_sums) continue;
        time.operator_index = o.index;
        time.name = block.graph.operators()[static_cast<std::size_t>(o.index)].name;
    }
    return list;
}

}  // namespace sextant
