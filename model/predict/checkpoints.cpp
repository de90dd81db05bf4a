#include "model/predict/checkpoints.hpp"

#include "model/predict/input.hpp"
#include "model/predict/state.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

// The fraction of the shared storage of this name that loaders take, with steps that take this long.
double taken_by_loaders(const InputJob& in, const std::string& storage, Seconds step) {
    double most = 0;
    for (const SampleSource& source : in.later) {
        if (source.storage.name != storage) continue;
        for (const StorageDemand& d : storage_demands(source, {}, in.others))
            if (!d.of_node) most = std::max(most, in.all_readers * in.samples * d.of_sample / (d.per_second * step.si()));
    }
    return most;
}

// While a checkpoint is written to the shared storage that samples come from.
struct SharedWithLoaders {
    double left = 1;     // of the storage for the checkpoint
    Seconds step, more;  // of the training meanwhile; by which it is longer than usual
};
// Loaders and checkpoint each get half of what other jobs leave; one that needs less leaves the rest to the other.
SharedWithLoaders share_with_loaders(const Checkpoints& asked, const Prepared::State& job, const StepWithoutInput& rest) {
    const auto& read = job.scenario.data.storage;
    if (!job.input || !asked.storage.shared || !read || read->name != asked.storage.name) return {};
    const double left = 1 - job.input->others;
    if (!asked.asynchronous) return {left, rest.time, {}};
    InputJob meanwhile = *job.input;
    meanwhile.others = 1 - left / 2;
    const Seconds alone = rest.time + input_wait(*job.input, rest, {}), beside = rest.time + input_wait(meanwhile, rest, {});
    return {left * (1 - std::min(0.5, taken_by_loaders(*job.input, read->name, beside))), beside, beside - alone};
}

// The fraction of the trained parameters that the optimizer treats apart.
double share_of_matrices(const Prepared::State& job) {
    double matrices = 0, all = 0;
    for (std::size_t s = 0; s < job.stages.size(); ++s) {
        const StageParameters p = parameters_of(job, s);
        matrices += p.matrices.total();
        all += p.trained.total();
    }
    return all > 0 ? matrices / all : 0;
}

// What a checkpoint has of one parameter: its weight as it is stored, the master copy if there is a separate one, and the optimizer's
// states.
Bytes bytes_of_parameter(const Prepared::State& job) {
    const Precision& precision = job.precision;
    const Optimizer optimizer = job.scenario.plan.optimizer;
    return (shards_are_masters(job) ? Bytes{} : size_of(precision.parameter)) +
           (precision.master_weights ? size_of(DataType::fp32) : Bytes{}) + size_of_states(optimizer, precision.optimizer_state) -
           share_of_matrices(job) * facts_of(optimizer).spared_states * size_of(precision.optimizer_state);
}

// Each part is written by one rank that holds it: one rank of each tensor and pipeline place, or every rank where the states are sharded.
CheckpointWriters writers_of(const Prepared::State& job) {
    const Plan& plan = job.scenario.plan;
    CheckpointWriters writers;
    writers.count = plan.has_shards() ? plan.devices() : plan.tp * plan.pp;
    writers.nodes = std::min<double>(job.nodes.count, std::ceil(writers.count / devices_of_node(job)));
    writers.network = job.nodes.network;
    return writers;
}

}  // namespace

std::optional<CheckpointEstimate> estimate_checkpoints(const Prepared::State& job, const Estimate& e) {
    const auto& asked = job.scenario.data.checkpoints;
    if (!asked) return {};
    CheckpointEstimate c;
    c.bytes = size_of(job.scenario.workload).trained_parameters * (1 - job.scenario.plan.pruned_fraction) * bytes_of_parameter(job);
    c.steps = std::max(1.0, asked->every_steps ? static_cast<double>(*asked->every_steps) : std::ceil(*asked->every / e.step));
    const SharedWithLoaders meanwhile = share_with_loaders(*asked, job, without_input(e));
    CheckpointWriters writers = writers_of(job);
    writers.left = meanwhile.left;
    c.write = checkpoint_time(c.bytes, asked->storage, writers);
    writers.left = 1 - job.scenario.data.others;
    c.read = checkpoint_read_time(c.bytes, asked->storage, writers);
    c.wait = asked->asynchronous ? c.bytes / writers.count / job.nodes.host_copy : c.write;
    // A checkpoint waits for the one before.
    c.wait = max(c.wait, c.write - c.steps * e.step);
    if (meanwhile.more > Seconds{}) c.wait += min(c.write, c.steps * e.step) / meanwhile.step * meanwhile.more;
    return c;
}

}  // namespace sextant
