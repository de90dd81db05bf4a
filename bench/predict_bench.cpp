// What a search and an interactive report cost: one estimate from a prepared scenario, preparation, and the full report.
#include "model/plan/partition.hpp"
#include "model/predict/groups.hpp"
#include "model/sextant.hpp"

#include <benchmark/benchmark.h>

#include <array>

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

// Limit: 10 ms, sensitivities, interval and other settings of the plan included.
void report_gpt3_175b_on_1024_gpus(benchmark::State& state) {
    const Prepared job = prepare(gpt3());
    for (auto _ : state) benchmark::DoNotOptimize(make_report(job).low);
}
BENCHMARK(report_gpt3_175b_on_1024_gpus)->Unit(benchmark::kMicrosecond);

// What a search over plans asks for again and again. The machine is the one of GPT-3 175B, with as many nodes as the plan needs; the
// placements are those of a search: pipeline last, data last, pipeline first.
Scenario large(const benchmark::State& state) {
    using enum PlanDimension;
    static const std::array placements{std::vector{tensor, context, data, pipeline}, std::vector{tensor, context, pipeline, data},
                                       std::vector{pipeline, tensor, context, data}};
    constexpr std::array fabrics{FabricKind::single_switch, FabricKind::leaf_spine, FabricKind::leaf_spine, FabricKind::dragonfly};
    Scenario s = gpt3();
    const int gpus = static_cast<int>(state.range(0));
    s.plan.tp = 2;
    s.plan.pp = static_cast<int>(state.range(1));
    s.plan.dp = gpus / (s.plan.tp * s.plan.pp);
    s.plan.vpp = 1;
    s.plan.micro_batch = 1;
    s.plan.global_batch = 2 * s.plan.dp;
    s.plan.placement = placements[static_cast<std::size_t>(state.range(2))];
    const auto fabric = static_cast<std::size_t>(state.range(3));
    s.cluster.nodes = gpus / s.cluster.node.devices;
    s.cluster.fabric.kind = fabrics[fabric];
    s.cluster.fabric.nodes_per_leaf = 32;
    s.cluster.fabric.oversubscription = fabric == 2 ? 3 : 1;
    return s;
}

void each_large_plan(benchmark::internal::Benchmark* b) {
    b->ArgNames({"gpus", "pp", "placement", "fabric"});
    for (const int gpus : {4096, 16384})
        for (const int pp : {1, 8, 64})
            for (const int placement : {0, 1, 2})
                for (const int fabric : {0, 1, 2, 3}) b->Args({gpus, pp, placement, fabric});
}

// Limits: 0.5 ms for 4,096 GPUs, 3 ms for 16,384; a dragonfly of many groups may take longer.
void lay_groups_of_a_large_plan(benchmark::State& state) {
    const Scenario scenario = large(state);
    const Topology topology = Topology::build(scenario.cluster, used_nodes(scenario));
    for (auto _ : state) benchmark::DoNotOptimize(lay_groups(scenario, topology));
}
BENCHMARK(lay_groups_of_a_large_plan)->Apply(each_large_plan)->Unit(benchmark::kMicrosecond);

void build_topology(benchmark::State& state) {
    const Scenario scenario = gpt3();
    for (auto _ : state) benchmark::DoNotOptimize(Topology::build(scenario.cluster, static_cast<int>(state.range(0))));
}
BENCHMARK(build_topology)->ArgName("nodes")->Arg(128)->Arg(512)->Arg(2048)->Unit(benchmark::kMicrosecond);

void prepare_a_large_plan(benchmark::State& state) {
    const Scenario scenario = large(state);
    for (auto _ : state) benchmark::DoNotOptimize(prepare(scenario));
}
BENCHMARK(prepare_a_large_plan)
    ->ArgNames({"gpus", "pp", "placement", "fabric"})
    ->ArgsProduct({{4096, 16384}, {8, 64}, {0, 2}, {0}})
    ->Unit(benchmark::kMicrosecond);

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
