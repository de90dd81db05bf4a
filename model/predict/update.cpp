#include "model/predict/update.hpp"

#include "model/cost/kernel_lists.hpp"
#include "model/plan/framework_defaults.hpp"
#include "model/predict/block_price.hpp"

#include <algorithm>

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
double update_launches(const Prepared::State& job, const StageParameters& parameters) {
    if (!job.scenario.framework.plain_kernels) return parameters.tensors * update_kernels_per_tensor(job) + 4;
    return parameters.blocks * (job.precision.master_weights ? 3 : 2);
}

// The bytes that the update of one parameter moves: its gradient in, states and weights in and out; with master weights, a copy out.
Bytes update_traffic(const Precision& precision, const Framework& f, Optimizer optimizer) {
    const OptimizerFacts& facts = facts_of(optimizer);
    const Bytes state = size_of(precision.optimizer_state), gradient = size_of(precision.gradient_type());
    const Bytes weight = size_of(precision.parameter), master = precision.master_weights ? size_of(DataType::fp32) : Bytes{};
    const Bytes updated = size_of_states(optimizer, precision.optimizer_state) + (master > Bytes{} ? master : weight);
    Bytes traffic = gradient + 2.0 * updated + (master > Bytes{} ? weight : Bytes{});
    if (f.accumulates_from_first) traffic += gradient;  // cleared, as the first micro-batch adds to it
    if (f.plain_kernels) traffic += master;             // read again to be copied
    constexpr double passes_per_kernel = 2.5;           // an elementwise operation reads one tensor or two and writes one
    if (facts.own ? !facts.own->fused : !f.fused_optimizer) {
        const double by_kernels = facts.own ? 0 : passes_per_kernel * f.optimizer_kernels_per_tensor.value;
        traffic = std::max(facts.reads_per_parameter, by_kernels) * state;
    }
    const double norms = (f.clips_gradients ? 1 : 0) + facts.norm_passes;
    return traffic + norms * gradient;
}

// Of one matrix: five times X X^T, the square of that, and their polynomial times X, with X on its side where it is tall, in bf16 (Jordan
// et al., kellerjordan.github.io/posts/muon, 2024). Under tensor parallelism each rank takes its part for the whole, as Megatron-LM's
// `--muon-tp-mode blockwise` does. Neglects the passes of additions and norms beside the products.
constexpr int newton_schulz_products = 15;
Seconds newton_schulz_time(const WeightMatrix& w, const DeviceRates& rates, const ComputeScale& scale) {
    const std::int64_t low = std::min(w.rows, w.columns), high = std::max(w.rows, w.columns);
    const auto product = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
        const Bytes bytes = static_cast<double>(m * k + k * n + m * n) * size_of(DataType::bf16);
        return kernel_time(matrix_product({}, {.m = m, .n = n, .k = k}, DataType::bf16, bytes, false), rates, scale);
    };
    constexpr int times = newton_schulz_products / 3;
    return times * (product(low, low, high) + product(low, low, low) + product(low, high, low));
}

// With a scaled loss the host inspects the gradients first, as it does where it reads their norm, and so is not ahead of the device. Plain
// kernels, and cores, take the norm of gradients where they lie, all blocks in one pass unless ranks have parts of each, and scale them
// back.
UpdateTime update_on_device(const Prepared::State& job, const StageParameters& parameters, Bytes buckets, const Resources& r) {
    const Plan& plan = job.scenario.plan;
    const Framework& f = job.scenario.framework;
    const double width = f.plain_kernels ? size_of(job.precision.optimizer_state) / size_of(job.precision.activation) : 1;
    const Seconds launch = computes_on_cores(job) ? Seconds{} : job.on_host(f.dispatch);
    const double owned = held_parameters(parameters.trained, plan, plan.has_shards());
    const auto passes = [&](Bytes bytes, double launches) {
        const Seconds moves = passing_time(bytes, kept_bytes(job, owned), job.rates, compute_scale(r), width);
        return UpdateTime{moves + launches * job.rates.kernel_overhead / r.kernel_overhead, launches * launch / r.host, {}, {}};
    };
    const Bytes traffic = owned * update_traffic(job.precision, f, plan.optimizer) - 2.0 * spared_states(job, parameters) + buckets;
    const UpdateTime update = passes(traffic, update_launches(job, parameters));
    if (job.precision.compute != DataType::fp16 && !f.waits_for_norm) return update;
    UpdateTime norm, scaling;
    if (f.plain_kernels || computes_on_cores(job)) {
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
    return parameters * (size_of(p.parameter) + master + size_of(p.gradient_type()) + size_of_states(plan.optimizer, p.optimizer_state));
}

Bytes kept_bytes(const Prepared::State& job, const Network& network, const std::vector<BlockKernels>& templates) {
    double parameters = 0;
    for (const int t : network.sequence) parameters += templates[static_cast<std::size_t>(t)].trained.total();
    return kept_bytes(job, parameters);
}

UpdateTime orthogonalization_time(const Prepared::State& job, std::size_t stage, const Resources& r) {
    const Plan& plan = job.scenario.plan;
    Seconds dense, expert, longest;
    double dense_count = 0, expert_count = 0;
    for (std::size_t t = 0; t < job.templates.size(); ++t)
        for (const WeightMatrix& w : job.templates[t].matrices) {
            const double count = job.stages[stage].count[t] * static_cast<double>(w.count);
            if (count == 0) continue;
            const Seconds one = newton_schulz_time(w, job.rates, compute_scale(r));
            longest = max(longest, one);
            (w.expert ? expert : dense) += count * one;
            (w.expert ? expert_count : dense_count) += count;
        }
    const auto held = [&](double d, double e) { return held_parameters(d, e, plan, plan.has_shards()); };
    const Seconds launch = computes_on_cores(job) ? Seconds{} : job.on_host(job.scenario.framework.dispatch);
    UpdateTime time;
    time.device = max(Seconds::from_si(held(dense.si(), expert.si())), longest);
    time.launches = held(dense_count, expert_count) * newton_schulz_products * launch / r.host;
    return time;
}

double update_kernels_per_tensor(const Prepared::State& job) {
    const OptimizerFacts& facts = facts_of(job.scenario.plan.optimizer);
    return facts.own ? facts.own->per_tensor : job.scenario.framework.optimizer_kernels_per_tensor.value;
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
    const Bytes updated = 3.0 * size_of(DataType::fp32) + 2.0 * size_of_states(plan.optimizer, DataType::fp32);
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
        const UpdateTime products = orthogonalization_time(job, stage, r);
        update.device += products.device;
        update.launches += products.launches;
    }
    update.tied = tied_gradients(job, stage, parameters);
    return update;
}

Seconds tied_sum_time(const Prepared::State& job, const UpdateTime& update, const Resources& r) {
    if (!(update.tied > Bytes{})) return {};
    return group_time(Collective::all_reduce, update.tied, job.groups.boundaries.back(), job, r);
}

}  // namespace sextant
