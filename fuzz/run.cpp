#include "fuzz/targets.hpp"
#include "model/io/report/comparison_writer.hpp"
#include "model/io/trace/run_reader.hpp"
#include "model/sextant.hpp"

#include <sstream>

namespace sextant::fuzz {
namespace {

// That of corpus/run/data_parallel.json.
Scenario two_ranks() {
    static Library library = open_library();
    Diagnostics diagnostics;
    const JsonFile file = JsonFile::from_text(R"({
        "schema": "scenario/1", "name": "two ranks",
        "workload": {"mlp": {"widths": [16, 16, 4]}, "name": "layers"},
        "hardware": {"cluster": "two-core-reference"}, "framework": "sextant",
        "plan": {"dp": 2, "micro_batch": 4, "global_batch": 8, "precision": "fp32", "optimizer": "sgd"}})",
                                              "scenario.json", diagnostics);
    Scenario scenario = read_scenario(file, sources(library), diagnostics);
    diagnostics.throw_if_any();
    return scenario;
}

}  // namespace

// What a run left, and what is said about it where it is of the plan at hand.
void run(std::string_view input) {
    static const Scenario scenario = two_ranks();
    try {
        const RunRecord read = run_from_text(input, "input.json");
        const Comparison comparison = compare(scenario, read);
        comparison_to_text(comparison);
        comparison_to_json(comparison);
        std::ostringstream trace;
        write_comparison_trace(trace, comparison, read.trace);
    } catch (const InputError&) {
    }
}

}  // namespace sextant::fuzz
