// Link sharing against SimGrid, an independent and much used simulator with the same idea of flows (Casanova et al., "Versatile, scalable,
// and accurate simulation of distributed applications and platforms", 2014). simgrid_helper.cpp says how it is set up, and why.
#include "model/simulate/event_queue.hpp"
#include "tests/simulate/simgrid_process.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace sextant {
namespace {

using namespace units;

// Flows with a link each of their own, which is what limits them alone and where their latency lies. All latencies are equal: SimGrid
// shares in inverse proportion to them.
struct Example {
    std::vector<simgrid::Link> links;
    std::vector<simgrid::Flow> flows;
    std::uint32_t shared = 0;  // links; those of the flows follow
    Seconds latency;
};

Example random_example(std::uint32_t seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    Example example;
    example.latency = pick(2) * 50 * ms;
    example.shared = 1 + pick(6);
    for (std::uint32_t l = 0; l < example.shared; ++l) example.links.push_back({(1 + pick(5)) * MB / s, Seconds()});
    const int count = 2 + pick(14);
    for (int f = 0; f < count; ++f) {
        simgrid::Flow flow{pick(20) * 0.1 * s, static_cast<std::uint64_t>(1 + pick(5'000'000)), {}};
        for (std::uint32_t l = 0; l < example.shared; ++l)
            if (pick(3) == 0) flow.links.push_back(l);
        flow.links.push_back(static_cast<std::uint32_t>(example.links.size()));
        example.links.push_back({pick(3) == 0 ? (1 + pick(8)) * 0.25 * MB / s : 100 * MB / s, example.latency});
        example.flows.push_back(std::move(flow));
    }
    return example;
}

// The own link of a flow as its limit, so that limits are compared too.
std::vector<double> our_ends(const Example& example) {
    struct Event {
        std::uint32_t flow = 0, version = 0;
    };
    std::vector<Bandwidth> capacities;
    for (std::uint32_t l = 0; l < example.shared; ++l) capacities.push_back(example.links[l].bandwidth);
    FluidNetwork network(std::move(capacities));
    EventQueue<Event> queue;
    std::vector<std::uint32_t> version(example.flows.size()), flow_of(example.flows.size());
    std::vector<FlowIndex> index(example.flows.size());
    std::vector<double> ends(example.flows.size());
    for (std::uint32_t f = 0; f < example.flows.size(); ++f) queue.push(example.flows[f].start + example.latency, {f, 0});
    while (!queue.empty()) {
        const auto [now, sequence, event] = queue.pop();
        const simgrid::Flow& flow = example.flows[event.flow];
        if (event.version != version[event.flow]) continue;
        if (event.version == 0) {
            std::vector<LinkUse> uses;
            for (const std::uint32_t l : flow.links)
                if (l < example.shared) uses.push_back({l});
            index[event.flow] = network.start(now, static_cast<double>(flow.bytes) * B, uses, example.links[flow.links.back()].bandwidth);
            flow_of[index[event.flow]] = event.flow;
        } else {
            ends[event.flow] = now / s;
            network.stop(now, index[event.flow]);
        }
        for (const auto& finish : network.settle(now)) queue.push(finish.at, {flow_of[finish.flow], ++version[flow_of[finish.flow]]});
    }
    return ends;
}

TEST(SimGrid, EndsTheFlowsOfRandomNetworksWhenWeDo) {
    if (!simgrid::installed()) GTEST_SKIP() << simgrid::not_installed;
    double worst = 0;
    for (std::uint32_t seed = 0; seed < 100; ++seed) {
        const Example example = random_example(seed);
        const auto ours = our_ends(example), theirs = simgrid::flow_ends(example.links, example.flows);
        ASSERT_EQ(ours.size(), theirs.size()) << "the helper failed";
        for (std::size_t f = 0; f < ours.size(); ++f) {
            const double duration = theirs[f] - example.flows[f].start / s;
            worst = std::max(worst, std::abs(ours[f] - theirs[f]) / duration);
            ASSERT_NEAR(ours[f], theirs[f], 0.01 * duration) << "seed " << seed << ", flow " << f;
        }
    }
    RecordProperty("largest_relative_difference", std::to_string(worst));
}

TEST(SimGrid, EndsARingAllReduceWhenWeDo) {
    if (!simgrid::installed()) GTEST_SKIP() << simgrid::not_installed;
    constexpr Wire port{1 * GB / s, 1 * us};
    const auto schedule = ring_all_reduce(16, 16 * MB);
    const auto on_star = star(16, port);
    EXPECT_NEAR(simgrid::ring_end(on_star, {port.latency}, schedule) / (play(on_star, schedule).end / s), 1, 0.01);

    constexpr Wire uplink{0.5 * GB / s, 3 * us};
    const auto on_tree = fat_tree({.leaves = 4, .ranks_per_leaf = 4, .spines = 2, .port = port, .uplink = uplink});
    std::vector<Seconds> latencies(on_tree.capacities.size(), uplink.latency);
    std::fill_n(latencies.begin(), 2 * 16, port.latency);
    EXPECT_NEAR(simgrid::ring_end(on_tree, latencies, schedule) / (play(on_tree, schedule).end / s), 1, 0.01);

    // Ring neighbours on different leaves: four hops leave each leaf over two uplinks.
    const RankNetwork crossed{on_tree.capacities, [&](int from, int to) {
                                  const auto place = [](int rank) { return rank % 4 * 4 + rank / 4; };
                                  return on_tree.route(place(from), place(to));
                              }};
    EXPECT_NEAR(simgrid::ring_end(crossed, latencies, schedule) / (play(crossed, schedule).end / s), 1, 0.01);
    EXPECT_GT(play(crossed, schedule).end, 1.5 * play(on_tree, schedule).end);
}

}  // namespace
}  // namespace sextant
