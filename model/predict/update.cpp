#include "model/predict/update.hpp"

#include "model/plan/framework_defaults.hpp"
#include "model/predict/block_price.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

// Both ends of a pipeline that share a matrix have gradients from their own use of it: of all of it, or of their shard.
Bytes tied_gradients(const Prepared::State& job, std::size_t stage, const StageParameters& parameters) {
    const Plan& plan = job.scenario.plan;
    const std::size_t last = job.stages.size() - 1;
    if (last == 0 || (stage != 0 && stage != last)) return {};
    const auto other = parameters_of(job, last - stage).shared;
    double elements = 0;
    for (const SharedMatrix m : all_shared_matrices) {
        const SharedCount &here = parameters.shared[m], &there = other[m];
        if (here.owned + here.tied > 0 && there.owned + there.tied > 0) elements += std::max(here.owned, here.tied);
    }
    return elements / (plan.shards_gradients() ? plan.shard_ranks() : 1) * size_of(job.precision.gradient_type());
}

// Kernels launched by an update. Plain kernels update a block at a time, copy master weights out and clear gradients.
double update_launches(const StageParameters& parameters, const Precision& precision, const Framework& f) {
    if (!f.plain_kernels) return parameters.tensors * f.optimizer_kernels_per_tensor.value + 4;
    return parameters.blocks * (precision.master_weights ? 3 : 2);
}

// The bytes that the update of one parameter moves: its gradient in, states and weights in and out; with master weights, a copy out.
Bytes update_traffic(const Precision& precision, const Framework& f, const OptimizerFacts& facts) {
    const Bytes state = size_of(precision.optimizer_state), gradient = size_of(precision.gradient_type());
    const Bytes weight = size_of(precision.parameter), master = precision.master_weights ? size_of(DataType::fp32) : Bytes{};
    const Bytes updated = facts.states * state + (master > Bytes{} ? master : weight);
    Bytes traffic = gradient + 2.0 * updated + (master > Bytes{} ? weight : Bytes{});
    if (f.accumulates_from_first) traffic += gradient;  // cleared, as the first micro-batch adds to it
    if (f.plain_kernels) traffic += master;             // read again to be copied
    constexpr double passes_per_kernel = 2.5;           // an elementwise operation reads one tensor or two and writes one
    if (!f.fused_optimizer) traffic = std::max(facts.reads_per_parameter, passes_per_kernel * f.optimizer_kernels_per_tensor.value) * state;
    const double norms = (f.clips_gradients ? 1 : 0) + (facts.needs_norm ? 2 : 0);
    return traffic + norms * gradient;
}

// With a scaled loss the host inspects the gradients first, as it does where it reads their norm, and so is not ahead of the device. Plain
// kernels take the norm of gradients where they lie, all blocks in one pass unless ranks have parts of each, and scale them back.
UpdateTime update_on_device(const Prepared::State& job, const StageParameters& parameters, Bytes buckets, const Resources& r) {
    const Plan& plan = job.scenario.plan;
    const Framework& f = job.scenario.framework;
    const double width = f.plain_kernels ? size_of(job.precision.optimizer_state) / size_of(job.precision.activation) : 1;
    const Seconds launch = issues_itself(job) ? Seconds{} : job.on_host(f.dispatch);
    const double owned = held_parameters(parameters.trained, plan, plan.has_shards());
    const auto passes = [&](Bytes bytes, double launches) {
        const Seconds moves = passing_time(bytes, kept_bytes(job, owned), job.rates, compute_scale(r), width);
        return UpdateTime{moves + launches * job.rates.kernel_overhead / r.kernel_overhead, launches * launch / r.host, {}, {}};
    };
    const Bytes traffic = owned * update_traffic(job.precision, f, facts_of(plan.optimizer)) + buckets;
    const UpdateTime update = passes(traffic, update_launches(parameters, job.precision, f));
    if (job.precision.compute != DataType::fp16 && !f.waits_for_norm) return update;
    UpdateTime norm, scaling;
    if (f.plain_kernels) {
        const Bytes gradients = owned * size_of(job.precision.gradient_type());
        norm = passes(gradients, plan.has_shards() ? parameters.blocks : 1);
        scaling = passes(2.0 * gradients, parameters.blocks);
    }
    const Seconds looked = max(norm.device, norm.launches);
    return {looked + max(scaling.device + update.device, scaling.launches + update.launches), {}, {}, {}};
}

}  // namespace

Bytes kept_bytes(const Prepared::State& job, double parameters) {
    const Precision& p = job.precision;
    const Plan& plan = job.scenario.plan;
    if (plan.forward_only) return parameters * size_of(p.parameter);
    const Bytes master = p.master_weights ? size_of(DataType::fp32) : Bytes{};
    return parameters *
           (size_of(p.parameter) + master + size_of(p.gradient_type()) + facts_of(plan.optimizer).states * size_of(p.optimizer_state));
}

Bytes kept_bytes(const Prepared::State& job, const Network& network, const std::vector<BlockKernels>& templates) {
    double parameters = 0;
    for (const int t : network.sequence) parameters += templates[static_cast<std::size_t>(t)].trained.total();
    return kept_bytes(job, parameters);
}

Seconds host_copy_time(const Prepared::State& job, Bytes over_link, Bytes in_host_memory, const Resources& r) {
    return over_link / (job.host_copy_beside_others() * r.host_link) + job.used_devices() * in_host_memory / job.nodes.host_memory;
}

Seconds gradient_copy_time(const Prepared::State& job, double gradients, StepEnds at, const Resources& r) {
    const Scenario& s = job.scenario;
    const GradientCopy copy = gradient_copy(s.plan, s.framework, job.precision, at);
    return host_copy_time(job, gradients * copy.over_link, gradients * copy.in_host_memory, r);
}

// Gradients that are not in host memory yet go down, weights that the device reads come up, and the host updates in its memory.
Seconds offloaded_update_time(const Prepared::State& job, std::size_t stage, const Resources& r) {
    const double owned = owned_parameters(job, stage);
    const Plan& plan = job.scenario.plan;
    Bytes copies;
    if (!offloads_gradients(plan, job.scenario.framework)) copies += gradient_bytes(job, owned);
    if (plan.offload == Offload::optimizer) copies += weight_bytes(job, owned);
    // In fp32: the gradient is read, the weight and its states are read and written.
    const Bytes updated = (1 + 2 * (1 + facts_of(plan.optimizer).states)) * size_of(DataType::fp32);
    return host_copy_time(job, copies, owned * updated, r);
}

Bytes bucket_traffic(const Prepared::State& job, const StageParameters& parameters) {
    const Plan& plan = job.scenario.plan;
    const Framework& f = job.scenario.framework;
    if (plan.dp * plan.cp == 1 || reduces_every_micro_batch(plan, f)) return {};
    return f.bucket_passes.value * gradient_bytes(job, held_parameters(parameters.trained, plan, false));
}

UpdateTime update_time(const Prepared::State& job, std::size_t stage, const Resources& r) {
    const Plan& plan = job.scenario.plan;
    if (!plan.updates_weights()) return {};
    const StageParameters parameters = parameters_of(job, stage);
    const Bytes buckets = bucket_traffic(job, parameters);
    UpdateTime update;
    if (updates_on_host(plan)) {
        update.device = streaming_time(buckets, job.rates, compute_scale(r));
        update.host = offloaded_update_time(job, stage, r);
    } else {
        update = update_on_device(job, parameters, buckets, r);
    }
    update.tied = tied_gradients(job, stage, parameters);
    return update;
}

Seconds tied_sum_time(const Prepared::State& job, const UpdateTime& update, const Resources& r) {
    if (!(update.tied > Bytes{})) return {};
    return group_time(Collective::all_reduce, update.tied, job.groups.boundaries.back(), job, r);
}

}  // namespace sextant
