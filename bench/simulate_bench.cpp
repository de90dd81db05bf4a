// What one simulated step costs, from the scenario to the trace on one core: lowering, prices, placement on the topology, and play.
// Limits: each of the folded steps 1 s and 1 GiB.
#include "model/sextant.hpp"
#include "tests/properties/played_scenario.hpp"

#include <benchmark/benchmark.h>
#include <sys/resource.h>

namespace {

using namespace sextant;

Scenario scenario(const char* name, const std::vector<std::string>& overrides = {}) {
    Library library = open_library();
    return load_scenario(library, std::string(SEXTANT_SOURCE_DIR "/scenarios/") + name + ".json", overrides);
}

void play(benchmark::State& state, const Scenario& s, Fold fold, const Jitter& jitter = {}) {
    double events = 0;
    for (auto _ : state) {
        const Simulation played = PlayableScenario(s, fold).play(jitter);
        events += static_cast<double>(played.events);
        benchmark::DoNotOptimize(played.trace.end);
    }
    state.counters["events"] = benchmark::Counter(events, benchmark::Counter::kAvgIterations);
    state.counters["events/s"] = benchmark::Counter(events, benchmark::Counter::kIsRate);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    state.counters["peak_MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;  // of the program so far
}

void simulate_megatron_1t_on_3072_gpus(benchmark::State& state) { play(state, scenario("megatron-1t-3072xa100"), Fold::alike); }
BENCHMARK(simulate_megatron_1t_on_3072_gpus)->Unit(benchmark::kMillisecond);

void simulate_gpt3_175b_on_1024_gpus(benchmark::State& state) { play(state, scenario("gpt3-175b-1024xa100"), Fold::alike); }
BENCHMARK(simulate_gpt3_175b_on_1024_gpus)->Unit(benchmark::kMillisecond);

void simulate_llama_405b_on_16384_gpus(benchmark::State& state) { play(state, scenario("llama-3.1-405b-16384xh100"), Fold::alike); }
BENCHMARK(simulate_llama_405b_on_16384_gpus)->Unit(benchmark::kMillisecond);

// A quarter of the machine and of the batch.
void simulate_llama_405b_on_4096_gpus(benchmark::State& state) {
    Scenario s = scenario("llama-3.1-405b-16384xh100");
    s.plan.dp /= 4;
    s.plan.global_batch /= 4;
    play(state, s, Fold::alike);
}
BENCHMARK(simulate_llama_405b_on_4096_gpus)->Unit(benchmark::kMillisecond);

// Where the ranks of a stage differ every one of them is played.
void simulate_1024_noisy_ranks(benchmark::State& state) {
    play(state, scenario("gpt3-175b-1024xa100"), Fold::nothing, {.noise = 0.02, .seed = 1});
}
BENCHMARK(simulate_1024_noisy_ranks)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
