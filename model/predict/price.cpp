#include "model/predict/state.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

// Which of PhasePrice::exchange a group's time belongs to: tensor parallelism inside experts counts as tensor parallelism.
std::size_t exchange_term(ParallelGroup which) { return which == ParallelGroup::context ? 1 : which == ParallelGroup::expert ? 2 : 0; }

ComputeScale compute_scale(const Resources& r) { return {r.compute, r.memory_bandwidth, r.kernel_overhead}; }

PhasePrice price_phase(const std::vector<Kernel>& kernels, const std::vector<ExchangeCall>& exchanges, Seconds dispatch,
                       const Prepared::State& job, const Resources& r) {
    PhasePrice price;
    const ComputeScale scale = compute_scale(r);
    int launches = static_cast<int>(exchanges.size());
    for (const Kernel& k : kernels) {
        price.device += kernel_time(k, job.rates, scale);
        launches += k.launches;
    }
    price.host = launches * dispatch / r.host;
    for (const ExchangeCall& e : exchanges) {
        const Seconds t = exchange_time(e, job, r);
        const double hidden = hidden_fraction(e, job);
        price.exchange[exchange_term(e.group)] += (1 - hidden) * t;
        price.hidden += hidden * t;
    }
    return price;
}

// Reduction of `bytes` in buckets; the time of all, and of the last one, which backward cannot hide.
struct Bucketed {
    Seconds total, last;
};
Bucketed in_buckets(Collective what, Bytes bytes, double tensors, Seconds backward, const Group& group, const Prepared::State& job,
                    const Resources& r) {
    if (group.ranks < 2 || !(bytes > Bytes{})) return {};
    const Framework& f = job.scenario.framework;
    double buckets = 1;
    if (f.bucket) {
        Bytes bucket = f.bucket->value;
        if (f.bucket_per_rank) bucket = max(bucket, group.ranks * f.bucket_per_rank->value);
        buckets = bucket > Bytes{} ? std::ceil(bytes / bucket) : tensors;
    }
    const auto one_of = [&](double n) { return group_time(what, bytes / n, group, job, r); };
    buckets = std::max(1.0, buckets);
    if (f.reduction_cycle) {
        // A background thread wakes once a cycle and reduces what backward has made ready since, up to a bucket; a reduction that
        // takes longer than a cycle lets more gather for the next.
        const auto rounds = [&](Seconds each) { return std::clamp(std::ceil(backward / each), buckets, std::max(buckets, tensors)); };
        const double by_cycle = rounds(f.reduction_cycle->value);
        buckets = rounds(max(f.reduction_cycle->value, one_of(by_cycle)));
    }
    const Seconds one = one_of(buckets);
    // The last bucket waits for half a cycle on average.
    const Seconds wait = f.reduction_cycle ? 0.5 * f.reduction_cycle->value : Seconds{};
    return {buckets * one + wait, one + wait};
}

// Every worker sends its gradients to the servers and fetches the weights: each server's link carries its share for all workers.
Seconds parameter_server_time(const Prepared::State& job, Bytes gradients, const Resources& r) {
    const Plan& plan = job.scenario.plan;
    const double workers = plan.dp;
    const double servers = plan.servers_on_workers ? std::max(job.nodes, plan.parameter_servers) : plan.parameter_servers;
    const double devices_here = std::min<double>(workers, job.devices_per_node);
    // Inside a node: over the devices' host links, summed in host memory (read each, write once).
    const Seconds copies = 2.0 * gradients / (job.host_copy * r.node_bandwidth);
    const Seconds sums = devices_here * server_sum_time(job, gradients) + server_update_time(job, gradients);
    if (job.nodes == 1 && (plan.servers_on_workers || !(job.network > Bandwidth{}))) return copies + sums;
    const Bandwidth nic = job.network * r.network_bandwidth;
    const double remote = workers / servers * (servers > 1 || !plan.servers_on_workers ? 1 : (workers - devices_here) / workers);
    return copies + sums + 2.0 * remote * gradients / nic;
}

// Gathers of ZeRO-3 / FSDP: every block's weights before its forward and again before its backward, its gradients scattered after,
// each micro-batch; each block's communication runs beside the compute of the block before it.
DataParallelPrice price_sharded_parameters(const Prepared::State& job, std::size_t stage, Seconds forward, Seconds backward,
                                           const Resources& r) {
    const Framework& f = job.scenario.framework;
    const Plan& plan = job.scenario.plan;
    const StageBlocks& blocks = job.stages[stage];
    const double m = static_cast<double>(job.micro_batches);
    const bool overlaps = plan.gather_overlap.value_or(f.overlaps_parameter_gather);
    Seconds gather, scatter, largest_gather, largest_scatter;
    for (std::size_t t = 0; t < job.templates.size(); ++t) {
        if (blocks.count[t] == 0) continue;
        const auto [one_gather, one_scatter] = price_sharded_block(job.templates[t], job, r);
        gather += blocks.count[t] * one_gather;
        scatter += blocks.count[t] * one_scatter;
        largest_gather = max(largest_gather, one_gather);
        largest_scatter = max(largest_scatter, one_scatter);
    }
    const bool every = plan.reduce_every_micro_batch.value_or(true);  // a sharded gradient has no room to wait in
    const double scatters = plan.forward_only ? 0 : every ? m : 1;
    const Seconds in_forward = gather;
    const Seconds in_backward = plan.forward_only ? Seconds{} : (f.reshards_after_forward ? gather : Seconds{}) + (scatters / m) * scatter;
    DataParallelPrice price;
    if (!overlaps) {
        price.exposed = m * (in_forward + in_backward);
        return price;
    }
    // The first gather and the last scatter have nothing to hide behind.
    const Seconds first = min(largest_gather, in_forward), last = min(largest_scatter, in_backward);
    const Seconds exposed_forward = first + max(Seconds{}, in_forward - first - forward);
    const Seconds exposed_backward = last + max(Seconds{}, in_backward - last - backward);
    price.exposed = m * (exposed_forward + exposed_backward);
    price.hidden = m * (in_forward + in_backward) - price.exposed;
    return price;
}

DataParallelPrice price_replicated_parameters(const Prepared::State& job, std::size_t stage, Seconds forward, Seconds backward,
                                              const Resources& r) {
    const Framework& f = job.scenario.framework;
    const Plan& plan = job.scenario.plan;
    const double m = static_cast<double>(job.micro_batches);
    const StageParameters p = parameters_of(job, stage);
    const bool sharded = plan.data_parallel == DataParallel::zero1 || plan.data_parallel == DataParallel::zero2;
    DataParallelPrice price;
    Seconds total, last;
    if (plan.data_parallel == DataParallel::parameter_server || plan.data_parallel == DataParallel::async_parameter_server) {
        total = parameter_server_time(job, gradient_bytes(job, p.total()), r);
        last = 0.5 * total;  // fetching the weights waits for the update
    } else {
        const Collective what = sharded ? Collective::reduce_scatter : Collective::all_reduce;
        const Group& dense_group = sharded ? job.groups.shard : job.groups.data;
        const Bucketed dense = in_buckets(what, gradient_bytes(job, p.dense), p.tensors, backward, dense_group, job, r);
        const Bucketed expert = in_buckets(what, gradient_bytes(job, p.expert), p.tensors, backward, job.groups.expert_data, job, r);
        total = dense.total + expert.total;
        last = max(dense.last, expert.last);
        if (job.groups.replicas.ranks > 1 && sharded)
            total += group_time(Collective::all_reduce, gradient_bytes(job, p.dense) / std::max(1, job.groups.shard.ranks),
                                job.groups.replicas, job, r);
    }
    const bool every = plan.reduce_every_micro_batch.value_or(f.reduces_every_micro_batch) || plan.data_parallel == DataParallel::zero2;
    const double rounds = every ? m : 1;
    if (plan.gradient_overlap.value_or(f.overlaps_gradients)) {
        const Seconds exposed = max(min(last, total), total - backward);
        price.exposed = rounds * exposed;
        price.hidden = rounds * (total - exposed);
    } else {
        price.exposed = rounds * total;
    }
    if (sharded) {
        // Updated weights are gathered, beside the next forward where the framework does that.
        const Seconds gather = group_time(Collective::all_gather, weight_bytes(job, p.dense), job.groups.shard, job, r) +
                               group_time(Collective::all_gather, weight_bytes(job, p.expert), job.groups.expert_data, job, r);
        const bool overlaps = plan.gather_overlap.value_or(f.overlaps_parameter_gather);
        const Seconds exposed = overlaps ? max(Seconds{}, gather - forward) : gather;
        price.exposed += exposed;
        price.hidden += gather - exposed;
    }
    return price;
}

}  // namespace

PhasePrice& PhasePrice::operator+=(const PhasePrice& o) {
    device += o.device;
    host += o.host;
    for (int i = 0; i < 3; ++i) exchange[i] += o.exchange[i];
    hidden += o.hidden;
    return *this;
}

PhasePrice operator*(double n, const PhasePrice& p) {
    PhasePrice out = p;
    out.device *= n;
    out.host *= n;
    for (Seconds& e : out.exchange) e *= n;
    out.hidden *= n;
    return out;
}

const Group& group_of(const JobGroups& groups, ParallelGroup which) {
    switch (which) {
        case ParallelGroup::tensor:
            return groups.tensor;
        case ParallelGroup::context:
            return groups.context;
        case ParallelGroup::expert:
            return groups.expert;
        case ParallelGroup::expert_tensor:
            return groups.expert_tensor;
        case ParallelGroup::data:
            return groups.data;
        case ParallelGroup::expert_data:
            return groups.expert_data;
        case ParallelGroup::shard:
            return groups.shard;
        case ParallelGroup::replicas:
            return groups.replicas;
        case ParallelGroup::pipeline:
            return groups.pipeline;
    }
    return groups.tensor;
}

Collective collective_of(ExchangeKind kind) {
    switch (kind) {
        case ExchangeKind::all_reduce:
            return Collective::all_reduce;
        case ExchangeKind::all_gather:
            return Collective::all_gather;
        case ExchangeKind::reduce_scatter:
            return Collective::reduce_scatter;
        case ExchangeKind::all_to_all:
        case ExchangeKind::none:
            break;
    }
    return Collective::all_to_all;
}

double hidden_fraction(const ExchangeCall& e, const Prepared::State& job) {
    const Framework& f = job.scenario.framework;
    const bool overlaps = job.scenario.plan.tensor_overlap.value_or(f.overlaps_tensor);
    return overlaps && e.group == ParallelGroup::tensor ? f.tensor_overlap_fraction.value : 0;
}

Seconds exchange_time(const ExchangeCall& e, const Prepared::State& job, const Resources& r) {
    return group_time(collective_of(e.kind), e.bytes, group_of(job.groups, e.group), job, r);
}

Bytes gradient_bytes(const Prepared::State& job, double parameters) { return parameters * size_of(job.precision.reduction_type()); }
Bytes weight_bytes(const Prepared::State& job, double parameters) {
    return parameters * (1 - job.scenario.plan.pruned_fraction) * size_of(job.precision.parameter);
}

Seconds server_sum_time(const Prepared::State& job, Bytes gradients) { return gradients / job.host_memory; }
Seconds server_update_time(const Prepared::State& job, Bytes gradients) { return 2.0 * gradients / job.host_memory; }

ShardedBlockPrice price_sharded_block(const BlockKernels& k, const Prepared::State& job, const Resources& r) {
    const auto time = [&](Collective what, Bytes bytes, const Group& g) { return group_time(what, bytes, g, job, r); };
    const JobGroups& g = job.groups;
    const Bytes gradients = gradient_bytes(job, k.parameters);
    ShardedBlockPrice price;
    price.gather = time(Collective::all_gather, weight_bytes(job, k.parameters), g.shard) +
                   time(Collective::all_gather, weight_bytes(job, k.expert_parameters), g.expert_data);
    price.scatter = time(Collective::reduce_scatter, gradients, g.shard) +
                    time(Collective::reduce_scatter, gradient_bytes(job, k.expert_parameters), g.expert_data) +
                    time(Collective::all_reduce, gradients / g.shard.ranks, g.replicas);
    return price;
}

Seconds group_time(Collective what, Bytes bytes, const Group& group, const Prepared::State& job, const Resources& r) {
    const double bandwidth = group.crosses_network ? r.network_bandwidth : r.node_bandwidth;
    return collective_time(what, bytes, group, job.scenario.library, {bandwidth, r.latency});
}

double held_parameters(const Prepared::State& job, std::size_t stage, bool sharded) {
    const Plan& plan = job.scenario.plan;
    const StageParameters p = parameters_of(job, stage);
    return sharded ? p.dense / plan.shard_ranks() + p.expert / plan.expert_replicas() : p.total();
}

double owned_parameters(const Prepared::State& job, std::size_t stage) {
    const DataParallel dp = job.scenario.plan.data_parallel;
    return held_parameters(job, stage, dp == DataParallel::zero1 || dp == DataParallel::zero2 || dp == DataParallel::zero3);
}

Seconds dispatch_time(const Prepared::State& job, bool backward) {
    const Framework& f = job.scenario.framework;
    if (job.scenario.plan.cuda_graph && !f.dispatch_in_graph) return {};
    return (backward ? f.backward_dispatch : f.dispatch).value / job.scenario.cluster.node.host.thread_speed.value;
}

SegmentPrice price_block(const BlockKernels& k, const Prepared::State& job, const Resources& r) {
    const Seconds forward = dispatch_time(job, false);
    SegmentPrice price;
    price.forward = price_phase(k.forward, k.forward_exchanges, forward, job, r);
    if (job.scenario.plan.forward_only) return price;
    price.backward = price_phase(k.backward, k.backward_exchanges, dispatch_time(job, true), job, r);
    price.recompute = price_phase(k.recompute, k.recompute_exchanges, forward, job, r);
    return price;
}

// Gradients go down, updated weights come up, over each device's own link; the host updates in its memory.
Seconds offloaded_update_time(const Prepared::State& job, std::size_t stage, const Resources& r) {
    const double owned = owned_parameters(job, stage);
    const Seconds copies = (gradient_bytes(job, owned) + weight_bytes(job, owned)) / (job.host_copy * r.node_bandwidth);
    return copies + owned * job.devices_per_node * Bytes::from_si(28) / job.host_memory;
}

Seconds offloaded_weights_time(const Prepared::State& job, std::size_t stage, const Resources& r) {
    return weight_bytes(job, owned_parameters(job, stage)) / (job.host_copy * r.node_bandwidth);
}

DataParallelPrice price_data_parallel(const Prepared::State& job, std::size_t stage, Seconds forward, Seconds backward,
                                      const Resources& r) {
    const Plan& plan = job.scenario.plan;
    DataParallelPrice price;
    if (plan.data_parallel == DataParallel::zero3)
        price = price_sharded_parameters(job, stage, forward, backward, r);
    else if (!plan.forward_only)
        price = price_replicated_parameters(job, stage, forward, backward, r);
    price.slowdown = (job.scenario.framework.overlap_slowdown.value - 1) / r.overlap * price.hidden;
    if (plan.offload != Offload::none && !plan.forward_only) {
        price.offload = offloaded_update_time(job, stage, r);
        if (plan.offload == Offload::optimizer_and_parameters)  // once ahead and once back
            price.offload += 2.0 * static_cast<double>(job.micro_batches) * offloaded_weights_time(job, stage, r);
    }
    return price;
}

Seconds price_optimizer(const Prepared::State& job, std::size_t stage, const Resources& r) {
    const Plan& plan = job.scenario.plan;
    if (plan.forward_only || plan.without_optimizer || plan.offload != Offload::none) return {};
    const Framework& f = job.scenario.framework;
    const OptimizerFacts facts = facts_of(plan.optimizer);
    const double owned = owned_parameters(job, stage);
    // Gradient in, states and master weights in and out, weights out.
    const Bytes state = size_of(job.precision.optimizer_state);
    Bytes per_parameter = size_of(job.precision.gradient_type()) + 2.0 * facts.states * state + size_of(job.precision.parameter);
    per_parameter += job.precision.master_weights ? Bytes::from_si(8) : size_of(job.precision.parameter);
    if (!f.fused_optimizer) per_parameter = facts.reads_per_parameter * state;
    const double norms = (f.clips_gradients ? 1 : 0) + (facts.needs_norm ? 2 : 0);
    per_parameter += norms * size_of(job.precision.gradient_type());
    const double launches = parameters_of(job, stage).tensors * f.optimizer_kernels_per_tensor.value + 4;
    const Seconds device =
        owned * per_parameter / (job.rates.memory * r.memory_bandwidth) + launches * job.rates.kernel_overhead / r.kernel_overhead;
    const Seconds host = launches * f.dispatch.value / job.scenario.cluster.node.host.thread_speed.value / r.host;
    return max(device, host);
}

}  // namespace sextant
