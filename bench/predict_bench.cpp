// What a search and an interactive report cost: one estimate from a prepared scenario, preparation, and the full report.
#include "model/sextant.hpp"

#include <benchmark/benchmark.h>

namespace {

using namespace sextant;

Scenario gpt3() {
    Library library = open_library();
    return load_scenario(library, SEXTANT_SOURCE_DIR "/scenarios/gpt3-175b-1024xa100.json");
}

// Limit: 20 us.
void estimate_gpt3_175b_on_1024_gpus(benchmark::State& state) {
    const Prepared job = prepare(gpt3());
    for (auto _ : state) benchmark::DoNotOptimize(estimate(job).step);
}
BENCHMARK(estimate_gpt3_175b_on_1024_gpus)->Unit(benchmark::kMicrosecond);

void prepare_gpt3_175b_on_1024_gpus(benchmark::State& state) {
    const Scenario scenario = gpt3();
    for (auto _ : state) benchmark::DoNotOptimize(prepare(scenario));
}
BENCHMARK(prepare_gpt3_175b_on_1024_gpus)->Unit(benchmark::kMicrosecond);

// Limit: 2 ms, sensitivities and interval included.
void report_gpt3_175b_on_1024_gpus(benchmark::State& state) {
    const Prepared job = prepare(gpt3());
    for (auto _ : state) benchmark::DoNotOptimize(make_report(job).low);
}
BENCHMARK(report_gpt3_175b_on_1024_gpus)->Unit(benchmark::kMicrosecond);

Scenario resnet152() {
    Library library = open_library();
    return load_scenario(library, SEXTANT_SOURCE_DIR "/scenarios/resnet50-snellius-16-nodes.json", {"workload=\"resnet152\""});
}

// Limit: 20 us.
void estimate_resnet_152_on_64_gpus(benchmark::State& state) {
    const Prepared job = prepare(resnet152());
    for (auto _ : state) benchmark::DoNotOptimize(estimate(job).step);
}
BENCHMARK(estimate_resnet_152_on_64_gpus)->Unit(benchmark::kMicrosecond);

// Limit: 3 ms.
void prepare_resnet_152_on_64_gpus(benchmark::State& state) {
    const Scenario scenario = resnet152();
    for (auto _ : state) benchmark::DoNotOptimize(prepare(scenario));
}
BENCHMARK(prepare_resnet_152_on_64_gpus)->Unit(benchmark::kMicrosecond);

}  // namespace
