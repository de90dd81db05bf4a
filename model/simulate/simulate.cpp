#include "model/simulate/simulate.hpp"

#include "model/simulate/player.hpp"
#include "model/simulate/utilization.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace sextant {
namespace {

// SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014): the state of a rank's draw is the
// seed moved on by its number, so that a rank's noise does not depend on how many others there are.
std::uint64_t mix(std::uint64_t z) {
    z += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

// In (0, 1].
double uniform(std::uint64_t bits) { return (static_cast<double>(bits >> 11U) + 1) * 0x1p-53; }

// Box and Muller's transformation of two uniform draws.
double normal(std::uint64_t seed, int rank) {
    const std::uint64_t state = mix(mix(seed) + static_cast<std::uint64_t>(rank));
    return std::sqrt(-2 * std::log(uniform(state))) * std::cos(2 * std::numbers::pi * uniform(mix(state)));
}

// They are in the order of their start, but for those of which only the end told when they began.
void sort_by_start(std::vector<Span>& spans) {
    if (std::ranges::is_sorted(spans, {}, &Span::start)) return;
    std::vector<SpanIndex> order(spans.size()), place(spans.size());
    std::iota(order.begin(), order.end(), SpanIndex{0});
    std::ranges::stable_sort(order, {}, [&](SpanIndex i) { return spans[i].start; });
    std::vector<Span> sorted;
    sorted.reserve(spans.size());
    for (const SpanIndex i : order) {
        place[i] = static_cast<SpanIndex>(sorted.size());
        sorted.push_back(spans[i]);
    }
    for (Span& span : sorted) span.cause = place[span.cause];
    spans = std::move(sorted);
}

// Those of one instant are put in that of rank and stream; causes follow.
void put_in_order(std::vector<Span>& spans) {
    std::vector<SpanIndex> place(spans.size());
    std::vector<std::pair<Span, SpanIndex>> together;
    const auto lane = [](const auto& moved) { return std::pair(moved.first.rank, moved.first.stream); };
    for (SpanIndex begin = 0, end = 0; begin < spans.size(); begin = end) {
        together.clear();
        for (; end < spans.size() && spans[end].start == spans[begin].start; ++end) together.emplace_back(spans[end], end);
        std::ranges::stable_sort(together, {}, lane);
        for (SpanIndex i = begin; i < end; ++i) {
            spans[i] = together[i - begin].first;
            place[together[i - begin].second] = i;
        }
    }
    for (Span& span : spans) span.cause = place[span.cause];
}

Simulation played(const TaskGraph& graph, const CostTable& table, const Topology& topology, const Placement& placement,
                  std::vector<double> slowness, Player::Order order, const PlayListener& listener) {
    const LinkMap links(graph, table, topology, placement);
    Player player(graph, table, links, std::move(slowness), order);
    player.play(listener);

    Simulation simulation;
    Trace& trace = simulation.trace;
    for (const RankInfo& rank : graph.ranks()) trace.ranks.push_back({rank.rank, rank.stage, rank.multiplicity, rank.server, {}});
    for (const Work& work : graph.works()) trace.names.push_back(describe(work));
    trace.spans = std::move(player.spans);
    sort_by_start(trace.spans);
    put_in_order(trace.spans);
    for (const Span& span : trace.spans) trace.end = max(trace.end, span.end);
    simulation.devices = device_utilization(trace);
    simulation.links = link_utilization(links, player.rates, trace.end);
    simulation.events = player.events();
    simulation.folded_alike = links.sets_are_alike();
    return simulation;
}

}  // namespace

std::vector<double> slowness_of(const TaskGraph& graph, const Jitter& jitter) {
    std::vector<double> slowness;
    for (const RankInfo& rank : graph.ranks()) {
        double s = std::max(0.1, 1 + jitter.noise * normal(jitter.seed, rank.rank));
        if (rank.rank < jitter.slow_devices) s /= jitter.slow_speed;
        slowness.push_back(rank.server ? 1 : s);
    }
    return slowness;
}

Simulation simulate(const TaskGraph& graph, const CostTable& table, const Topology& topology, const Placement& placement,
                    const Jitter& jitter, const PlayListener& listener) {
    return played(graph, table, topology, placement, slowness_of(graph, jitter), Player::Order::of_graph, listener);
}

Simulation play_as_ready(const TaskGraph& graph, const CostTable& table, const Topology& topology, const Placement& placement,
                         const PlayListener& listener) {
    return played(graph, table, topology, placement, std::vector<double>(graph.ranks().size(), 1.0), Player::Order::as_ready, listener);
}

}  // namespace sextant
