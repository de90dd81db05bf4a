#include "fuzz/targets.hpp"
#include "model/io/storage_benchmark/dlio_import.hpp"
#include "model/io/storage_benchmark/storage_benchmark_reader.hpp"
#include "model/predict/loading.hpp"

#include <algorithm>
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
    // Numbers that are right one by one may not go together: such a training is refused as a whole.
    const auto of_one = [](const Diagnostic& d) { return d.pointer != "/training"; };
    if (std::ranges::any_of(diagnostics.list(), of_one)) std::abort();
    if (diagnostics.empty() && !std::isfinite(estimate(benchmark).run.si())) std::abort();
}

}  // namespace sextant::fuzz
