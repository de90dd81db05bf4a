#include "model/io/scenario/run_reader.hpp"

namespace sextant {
namespace {

bool has_end(const Run& run) { return run.epochs || run.tokens || run.samples; }

void read_sweep(const JsonNode& node, Run& run) {
    ObjectReader r(node);
    Sweep sweep;
    r.required("tasks", sweep.tasks, Bounds{1, 1e6});
    r.required("start_up", sweep.start_up, Bounds{0, 1e7});
    r.required("at_once", sweep.at_once, Bounds{1, 1e6});
    if (!has_end(run)) node.complain("a task has no end", "state epochs, tokens or samples of the run: those of one task");
    run.sweep = sweep;
}

void read_failures(const JsonNode& node, Run& run) {
    ObjectReader r(node);
    Failures failures;
    constexpr Bounds lasting{1, 1e12}, still{0, 1e7};  // seconds
    if (!r.get("device_mtbf").value && !r.get("node_mtbf").value)
        node.complain("nothing says how often the job fails",
                      "device_mtbf or node_mtbf, the mean time between failures of one: \"50000 h\"");
    r.optional("device_mtbf", failures.device_mtbf, lasting);
    r.optional("node_mtbf", failures.node_mtbf, lasting);
    r.optional("detection", failures.detection, still);
    r.required("restart", failures.restart, still);
    if (!has_end(run)) node.complain("the run has no end", "state its epochs, tokens or samples");
    run.failures = failures;
}

}  // namespace

void read_run(const JsonNode& node, const Workload& workload, Run& run) {
    ObjectReader r(node);
    r.optional("epochs", run.epochs, positive);
    r.optional("tokens", run.tokens, positive);
    r.optional("samples", run.samples, positive);
    r.optional("dataset_samples", run.dataset_samples, Bounds{1, 1e15});
    r.optional("base_learning_rate", run.base_learning_rate, positive);
    r.optional("base_batch", run.base_batch);
    if (run.base_learning_rate && !run.base_batch) node.complain("\"base_batch\" is missing", "the batch that base_learning_rate is of");
    if (run.base_batch && !run.base_learning_rate)
        node.complain("\"base_learning_rate\" is missing", "of the job on one device, with base_batch");
    r.optional("price", run.device_price);
    if (const JsonNode n = r.get("sweep"); n.value) read_sweep(n, run);
    if (const JsonNode n = r.get("failures"); n.value) read_failures(n, run);
    if (run.epochs.has_value() + run.tokens.has_value() + run.samples.has_value() > 1)
        node.complain("the length of the run is stated more than once", "one of epochs, tokens and samples");
    if (run.tokens && workload.tokens_per_sample() == 0)
        r.get("tokens").complain(workload.name + " has no tokens", "state samples or epochs");
}

}  // namespace sextant
