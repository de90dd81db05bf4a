// Link sharing and the event queue: a ring all-reduce flow by flow, folded, and events per second.
#include "model/simulate/event_queue.hpp"
#include "tests/simulate/reference/collective_flows.hpp"

#include <benchmark/benchmark.h>

#include <random>

namespace {

using namespace sextant;
using namespace units;

constexpr Wire port{12.5 * GB / s, 1 * us};

// As many leaves as ranks on a leaf.
RankNetwork square_tree(int side) {
    return fat_tree({.leaves = side, .ranks_per_leaf = side, .spines = side, .port = port, .uplink = {12.5 * GB / s, 2 * us}});
}

void report(benchmark::State& state, const PlayedCollective& played) {
    state.counters["flows"] = static_cast<double>(played.flows);
    state.counters["simulated_s"] = played.end / s;
    if (played.events > 0)
        state.counters["events_per_s"] =
            benchmark::Counter(static_cast<double>(played.events), benchmark::Counter::kIsIterationInvariantRate);
}

void play_ring(benchmark::State& state, const RankNetwork& network, int ranks) {
    const auto schedule = ring_all_reduce(ranks, 1 * GiB);
    PlayedCollective played;
    for (auto _ : state) played = play(network, schedule);
    report(state, played);
}

// Limit: 2 s each, and over 5 million events a second. 2.1 million flows; simgrid_bench.cpp compares.
void ring_of_1024_ranks_flow_by_flow_on_a_star(benchmark::State& state) { play_ring(state, star(1024, port), 1024); }
BENCHMARK(ring_of_1024_ranks_flow_by_flow_on_a_star)->Unit(benchmark::kMillisecond);

void ring_of_1024_ranks_flow_by_flow_on_a_fat_tree(benchmark::State& state) { play_ring(state, square_tree(32), 1024); }
BENCHMARK(ring_of_1024_ranks_flow_by_flow_on_a_fat_tree)->Unit(benchmark::kMillisecond);

// Limit: 10 ms, network and schedule included.
void all_reduce_over_two_levels_of_4096_ranks_folded(benchmark::State& state) {
    PlayedCollective played;
    for (auto _ : state) played = fold(square_tree(64), two_level_all_reduce(64, 64, 1 * GiB)).value();
    report(state, played);
}
BENCHMARK(all_reduce_over_two_levels_of_4096_ranks_folded)->Unit(benchmark::kMillisecond);

void ring_of_4096_ranks_folded_on_a_fat_tree(benchmark::State& state) {
    PlayedCollective played;
    for (auto _ : state) played = fold(square_tree(64), ring_all_reduce(4096, 1 * GiB)).value();
    report(state, played);
}
BENCHMARK(ring_of_4096_ranks_folded_on_a_fat_tree)->Unit(benchmark::kMillisecond);

// A push and a pop are one event. Distinct times: no help from ties.
void events_in_a_queue_of_some_thousands(benchmark::State& state) {
    struct Payload {
        std::uint32_t index = 0, version = 0;
    };
    std::mt19937 random(1);
    std::uniform_real_distribution<double> ahead(0, 1);
    std::vector<Seconds> waits(1 << 16);
    for (Seconds& wait : waits) wait = ahead(random) * s;
    EventQueue<Payload> queue;
    for (int i = 0; i < state.range(0); ++i) queue.push(waits[i], {});
    std::size_t i = 0;
    for (auto _ : state) {
        const auto event = queue.pop();
        queue.push(event.at + waits[i++ % waits.size()], event.payload);
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(events_in_a_queue_of_some_thousands)->Arg(1 << 10)->Arg(1 << 12)->Arg(1 << 14);

// One flow ends and the next starts; each of `flows` links carries one.
void a_flow_alone_starts_and_stops(benchmark::State& state) {
    const auto links = static_cast<std::uint32_t>(state.range(0));
    FluidNetwork network(std::vector<Bandwidth>(std::size_t{2} * links, 10 * GB / s));
    const Bandwidth limit = 20 * GB / s;
    std::vector<FlowIndex> flows(links);
    const auto start = [&](std::uint32_t l) {
        const LinkUse uses[] = {{2 * l}, {2 * l + 1}};
        flows[l] = network.start(Seconds(), 1 * GB, uses, limit);
    };
    for (std::uint32_t l = 0; l < links; ++l) start(l);
    network.settle(Seconds());
    std::uint32_t l = 0;
    for (auto _ : state) {
        network.stop(Seconds(), flows[l]);
        start(l);
        benchmark::DoNotOptimize(network.settle(Seconds()).data());
        if (++l == links) l = 0;
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(a_flow_alone_starts_and_stops)->Arg(1 << 10)->Arg(1 << 12);

// Bundles of 256 hops each over 4,096 links: the collectives of an engine. Each shares its links with three others.
void a_bundle_of_256_hops_starts_and_stops(benchmark::State& state) {
    constexpr std::uint32_t links = 4096, hops = 256, sharing = 4;
    FluidNetwork network(std::vector<Bandwidth>(links, 10 * GB / s));
    std::vector<std::vector<LinkUse>> uses(std::size_t{links / hops} * sharing);
    for (std::uint32_t b = 0; b < uses.size(); ++b)
        for (std::uint32_t h = 0; h < hops; ++h) uses[b].push_back({b / sharing * hops + h, 1.0 + b % sharing});
    std::vector<FlowIndex> flows(uses.size());
    for (std::size_t b = 0; b < uses.size(); ++b) flows[b] = network.start(Seconds(), 1 * GB, uses[b], 20 * GB / s);
    network.settle(Seconds());
    std::size_t b = 0;
    for (auto _ : state) {
        network.stop(Seconds(), flows[b]);
        flows[b] = network.start(Seconds(), 1 * GB, uses[b], 20 * GB / s);
        benchmark::DoNotOptimize(network.settle(Seconds()).data());
        b = (b + 1) % flows.size();
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(a_bundle_of_256_hops_starts_and_stops)->Unit(benchmark::kMicrosecond);

// 64 flows over 32 links, all in one component: random pairs of ports.
void one_flow_of_64_that_all_share_starts_and_stops(benchmark::State& state) {
    constexpr std::uint32_t ports = 16, count = 64;
    std::mt19937 random(3);
    FluidNetwork network(std::vector<Bandwidth>(std::size_t{2} * ports, 10 * GB / s));
    const auto start = [&] {
        const LinkUse uses[] = {{static_cast<std::uint32_t>(random() % ports)}, {static_cast<std::uint32_t>(ports + random() % ports)}};
        return network.start(Seconds(), 1 * GB, uses, 20 * GB / s);
    };
    std::vector<FlowIndex> flows;
    for (std::uint32_t f = 0; f < count; ++f) flows.push_back(start());
    std::size_t f = 0;
    for (auto _ : state) {
        network.stop(Seconds(), flows[f]);
        flows[f] = start();
        benchmark::DoNotOptimize(network.settle(Seconds()).data());
        f = (f + 1) % count;
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(one_flow_of_64_that_all_share_starts_and_stops)->Unit(benchmark::kMicrosecond);

}  // namespace
