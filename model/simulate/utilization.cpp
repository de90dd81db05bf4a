#include "model/simulate/utilization.hpp"

#include <algorithm>
#include <numeric>

namespace sextant {
namespace {

constexpr std::size_t intervals = 200;

// A sum over time, in equal intervals from 0 to the end.
class TimeSum {
public:
    explicit TimeSum(Seconds end) : width_(end / static_cast<double>(intervals)), sum_(intervals) {}

    // `level` from start to end, as its average over each interval.
    void add(Seconds start, Seconds end, double level) {
        if (!(width_ > Seconds{})) return;
        const double from = start / width_, to = std::min(end / width_, static_cast<double>(intervals));
        for (auto i = static_cast<std::size_t>(from); i < intervals && static_cast<double>(i) < to; ++i) {
            const double left = std::max(from, static_cast<double>(i)), right = std::min(to, static_cast<double>(i + 1));
            sum_[i] += level * std::max(0.0, right - left);
        }
    }
    std::vector<double> take() { return std::move(sum_); }

private:
    Seconds width_;
    std::vector<double> sum_;
};

}  // namespace

std::vector<UtilizationSeries> link_utilization(const LinkMap& links, std::span<const RateSpan> rates, Seconds end) {
    // First of each traffic, then of each link what crosses it.
    std::vector<std::vector<double>> of_traffic(links.traffic_count());
    std::vector<TimeSum> sums(links.traffic_count(), TimeSum(end));
    for (const RateSpan& r : rates) sums[r.traffic].add(r.start, r.end, r.rate.si());
    for (std::size_t t = 0; t < sums.size(); ++t) of_traffic[t] = sums[t].take();

    std::vector<UtilizationSeries> series;
    for (const LinkClass& c : links.classes()) {
        UtilizationSeries& s =
            series.emplace_back(UtilizationSeries{c.name, static_cast<int>(c.links.size()), std::vector<double>(intervals), c.links});
        std::erase_if(s.links, [&](int l) { return static_cast<std::size_t>(l) >= links.topology_links(); });
        for (const LinkClass::Load& load : c.loads)
            for (std::size_t i = 0; i < intervals; ++i) s.busy[i] += load.weight * of_traffic[load.traffic][i] / c.capacity.si();
    }
    return series;
}

std::vector<UtilizationSeries> device_utilization(const Trace& trace) {
    std::vector<TimeSum> sums(trace.ranks.size(), TimeSum(trace.end));
    for (const Span& s : trace.spans)
        if (runs_kernels(s.kind)) sums[s.rank].add(s.start, s.end, 1);
    std::vector<UtilizationSeries> series;
    for (std::size_t r = 0; r < sums.size(); ++r) series.push_back({name_of(trace.ranks[r]), trace.ranks[r].multiplicity, sums[r].take()});
    return series;
}

double mean_of(const UtilizationSeries& u) {
    return u.busy.empty() ? 0 : std::accumulate(u.busy.begin(), u.busy.end(), 0.0) / static_cast<double>(u.busy.size());
}

}  // namespace sextant
