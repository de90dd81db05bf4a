// A benchmark of storage of schema "storage-benchmark/1": which storage feeds how many emulated accelerators with which samples.
// docs/storage_benchmark.md describes it.
#pragma once

#include "model/io/scenario/scenario_reader.hpp"
#include "model/plan/storage_benchmark.hpp"

namespace sextant {

bool is_storage_benchmark(const JsonFile&);

// Usable when the file has no problem.
StorageBenchmark read_storage_benchmark(const JsonFile&, const ScenarioSources&);

}  // namespace sextant
