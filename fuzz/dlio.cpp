#include "fuzz/targets.hpp"
#include "model/io/storage_benchmark/dlio_import.hpp"
#include "model/io/storage_benchmark/storage_benchmark_reader.hpp"
#include "model/predict/loading.hpp"

#include <cmath>
#include <cstdlib>

namespace sextant::fuzz {

// A workload of DLIO; what is accepted must be read as ours, and answered.
void dlio(std::string_view input) {
    std::string document;
    try {
        document = import_dlio(input, "workload.yaml");
    } catch (const InputError&) {
        return;
    }
    Diagnostics diagnostics;
    JsonFile file = JsonFile::from_text(document, "imported.json", diagnostics);
    file.set("storage=any");
    ScenarioSources sources;
    sources.storage = [](const JsonNode&) { return StorageClass{}; };
    const StorageBenchmark benchmark = read_storage_benchmark(file, sources);
    if (!diagnostics.empty() || !std::isfinite(estimate(benchmark).run.si())) std::abort();
}

}  // namespace sextant::fuzz
