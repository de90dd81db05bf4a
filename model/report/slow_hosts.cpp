#include "model/report/slow_hosts.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace sextant {
namespace {

constexpr double noticeable = 1.25;      // hosts of one kind that are cooled alike differ by a few percent
constexpr double part_of_a_step = 0.05;  // slow computing that costs less explains nothing

constexpr Bytes long_exchange = 64 * units::KiB;  // shorter ones tell of latency

struct HostTimes {
    Seconds computing;
    Bandwidth exchanging;  // of its fastest long exchange: others may be waiting for a partner

    [[nodiscard]] double slowness_of_computing(const HostTimes& simulated) const {
        return simulated.computing > Seconds{} ? computing / simulated.computing : 0;
    }
    [[nodiscard]] double slowness_of_exchanges(const HostTimes& simulated) const {
        return exchanging > Bandwidth{} ? simulated.exchanging / exchanging : 0;
    }
};

// `ranks`: of the measured trace, which knows the hosts.
std::map<std::string, HostTimes> times_by_host(const Trace& trace, const std::vector<TraceRank>& ranks) {
    std::map<std::string, HostTimes> hosts;
    for (const Span& s : trace.spans) {
        if (s.rank >= ranks.size() || ranks[s.rank].server) continue;
        HostTimes& t = hosts[ranks[s.rank].host];
        const Seconds time = s.end - s.start;
        if (runs_kernels(s.kind)) t.computing += time;
        if (is_exchange(s.kind) && s.bytes >= long_exchange && time > Seconds{}) t.exchanging = max(t.exchanging, s.bytes / time);
    }
    return hosts;
}

std::optional<SlowHost> slowest(std::vector<std::pair<double, std::string>> hosts, bool computes) {
    std::erase_if(hosts, [](const auto& h) { return h.first <= 0; });
    if (hosts.size() < 2) return std::nullopt;
    std::ranges::sort(hosts);
    const double median = hosts[(hosts.size() - 1) / 2].first, times = hosts.back().first / median;
    if (times < noticeable) return std::nullopt;
    return SlowHost{hosts.back().second, computes, times};
}

}  // namespace

std::optional<SlowHost> find_slow_host(const Trace& simulated, const Trace& measured) {
    const auto expected = times_by_host(simulated, measured.ranks), seen = times_by_host(measured, measured.ranks);
    std::vector<std::pair<double, std::string>> computing, exchanging;
    for (const auto& [host, times] : seen) {
        const auto of_it = expected.find(host);
        if (of_it == expected.end()) continue;
        computing.emplace_back(times.slowness_of_computing(of_it->second), host);
        exchanging.emplace_back(times.slowness_of_exchanges(of_it->second), host);
    }
    const auto slow = slowest(std::move(computing), true);
    if (slow && (1 - 1 / slow->times) * seen.at(slow->host).computing > part_of_a_step * measured.end) return slow;
    return slowest(std::move(exchanging), false);
}

}  // namespace sextant
