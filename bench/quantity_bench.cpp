#include "model/base/quantity_text.hpp"

#include <benchmark/benchmark.h>

namespace sextant {
namespace {

void parse_a_bandwidth(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(parse_quantity("3.35 TB/s", unit_table<Bandwidth>()));
}
BENCHMARK(parse_a_bandwidth);

}  // namespace
}  // namespace sextant
