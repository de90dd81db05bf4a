// SimGrid's time for what network_bench.cpp plays: a ring all-reduce of 1,024 ranks as 2.1 million flows. Its process and the reading of
// the network are part of the time; it takes seconds. The counter says by how much its answer differs from ours.
#include "tests/simulate/simgrid_process.hpp"

#include <algorithm>

#include <benchmark/benchmark.h>

namespace {

using namespace sextant;
using namespace units;

constexpr Wire port{12.5 * GB / s, 1 * us}, uplink{12.5 * GB / s, 2 * us};

void play_ring(benchmark::State& state, const RankNetwork& network, const std::vector<Seconds>& latencies) {
    const auto schedule = ring_all_reduce(1024, 1 * GiB);
    double end = 0;
    for (auto _ : state) end = simgrid::ring_end(network, latencies, schedule);
    state.counters["simulated_s"] = end;
    state.counters["difference"] = end / (play(network, schedule).end / s) - 1;
}

void simgrid_ring_of_1024_ranks_on_a_star(benchmark::State& state) { play_ring(state, star(1024, port), {port.latency}); }
BENCHMARK(simgrid_ring_of_1024_ranks_on_a_star)->Unit(benchmark::kMillisecond)->Iterations(1)->UseRealTime();

void simgrid_ring_of_1024_ranks_on_a_fat_tree(benchmark::State& state) {
    const auto network = fat_tree({.leaves = 32, .ranks_per_leaf = 32, .spines = 32, .port = port, .uplink = uplink});
    std::vector<Seconds> latencies(network.capacities.size(), uplink.latency);
    std::fill_n(latencies.begin(), 2 * 1024, port.latency);
    play_ring(state, network, latencies);
}
BENCHMARK(simgrid_ring_of_1024_ranks_on_a_fat_tree)->Unit(benchmark::kMillisecond)->Iterations(1)->UseRealTime();

}  // namespace
