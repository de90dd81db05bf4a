// How fast a search is, and what its bounds are worth: the same space searched with them and without. Counters are of one second:
// "plans": evaluated or ruled out; "evaluated": priced, or found too large; "priced": step and memory worked out.
#include "model/sextant.hpp"

#include <benchmark/benchmark.h>

namespace {

using namespace sextant;

// A framework that can do everything: the whole space.
const std::vector<std::string> whole_space{R"(framework={"base": "megatron-core", "lacks": []})"};

SearchRequest request(const char* scenario, int devices, bool prune, const std::vector<std::string>& overrides = whole_space) {
    Library library = open_library();
    SearchRequest r;
    r.job = load_scenario(library, std::string(SEXTANT_SOURCE_DIR "/scenarios/") + scenario + ".json", overrides);
    r.devices = {devices};
    r.prune = prune;
    return r;
}

void measure(benchmark::State& state, const SearchRequest& request) {
    SearchCounts counts;
    for (auto _ : state) counts += search(request).counts;
    const auto rate = [](std::int64_t n) { return benchmark::Counter(static_cast<double>(n), benchmark::Counter::kIsRate); };
    state.counters["plans"] = rate(counts.all());
    state.counters["evaluated"] = rate(counts.priced + counts.too_large);
    state.counters["priced"] = rate(counts.priced);
}

// Limit: 2 s.
void search_gpt3_175b_on_4096_gpus(benchmark::State& state) { measure(state, request("gpt3-175b-1024xa100", 4096, true)); }
BENCHMARK(search_gpt3_175b_on_4096_gpus)->Unit(benchmark::kMillisecond)->Iterations(1);

void search_gpt3_175b_on_4096_gpus_without_bounds(benchmark::State& state) { measure(state, request("gpt3-175b-1024xa100", 4096, false)); }
BENCHMARK(search_gpt3_175b_on_4096_gpus_without_bounds)->Unit(benchmark::kMillisecond)->Iterations(1);

void search_llama_3_8b_on_64_gpus(benchmark::State& state) { measure(state, request("llama-3-8b-fsdp-64xh100", 64, true)); }
BENCHMARK(search_llama_3_8b_on_64_gpus)->Unit(benchmark::kMillisecond);

void search_llama_3_8b_on_64_gpus_without_bounds(benchmark::State& state) { measure(state, request("llama-3-8b-fsdp-64xh100", 64, false)); }
BENCHMARK(search_llama_3_8b_on_64_gpus_without_bounds)->Unit(benchmark::kMillisecond)->Iterations(1);

// 1.03 trillion parameters, as its framework is. Limit: 10 s.
void search_1t_of_experts_on_16384_gpus(benchmark::State& state) {
    measure(state, request("deepseek-v3-2048xh100", 16384, true,
                           {R"(workload={"model": "deepseek-v3", "moe": {"experts": 384}})", "hardware.cluster_nodes=2048",
                            "plan.global_batch=16384", "plan.precision=bf16"}));
}
BENCHMARK(search_1t_of_experts_on_16384_gpus)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
