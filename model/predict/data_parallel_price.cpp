#include "model/predict/data_parallel_price.hpp"

#include "model/plan/data_exchanges.hpp"
#include "model/predict/block_price.hpp"
#include "model/predict/shared_cores.hpp"

#include <algorithm>

namespace sextant {
namespace {

// Where the workers are cores, a server is a process on a core too: it receives what comes itself, and moves bytes at the rate of a core.
bool serves_on_core(const Prepared::State& job) { return job.scenario.cluster.node.device.kind == DeviceKind::cpu; }

// A server has an equal part of what a rank with all weights would keep, and goes over it in every step.
Seconds passes_on_server(const Prepared::State& job, Bytes moved, const DeviceRates& rates) {
    return passing_time(moved, job.rates.kept / job.groups.to_servers.servers, rates);
}

// While workers wait for the update, servers have the memory to themselves.
DeviceRates rates_of_update(const Prepared::State& job) {
    DeviceRates rates = job.rates;
    if (job.scenario.plan.is_asynchronous()) return rates;
    const auto streamed = [&](double at_work) { return times_streamed(job.scenario.cluster.node.device, job.nodes.cores, at_work); };
    rates.memory = streamed(job.groups.to_servers.on_a_host) / streamed(job.used_devices()) * rates.memory;
    return rates;
}

// How long a server takes for what takes a worker `time`: workers wait for servers, which have the cores meanwhile.
Seconds on_core_of_server(const Prepared::State& job, Seconds time) {
    return time / job.nodes.ranks_per_core * std::max(1.0, job.groups.to_servers.on_a_host / job.nodes.cores);
}

Seconds on_host_of_server(const Prepared::State& job, Bytes moved) {
    return job.groups.to_servers.on_a_host * moved / job.nodes.host_memory;
}

}  // namespace

Seconds server_way_time(const Prepared::State& job, Bytes bytes, const Resources& r) {
    const ServerPath& path = job.groups.to_servers;
    return max(bytes / (path.host * r.host_link), bytes / (path.network * r.network_bandwidth));
}

Seconds push_time(const Prepared::State& job, Bytes bytes, const Resources& r) {
    return shared_with_servers(job) ? Seconds{} : server_way_time(job, bytes, r);
}

std::optional<SharedWithServers> shared_with_servers(const Prepared::State& job) {
    if (!job.scenario.plan.has_servers() || !serves_on_core(job) || !job.groups.to_servers.inside_hosts()) return {};
    return SharedWithServers{static_cast<double>(job.used_devices()), static_cast<double>(job.groups.to_servers.on_a_host),
                             job.nodes.cores};
}

Seconds server_sum_time(const Prepared::State& job, Bytes gradients) {
    if (!serves_on_core(job)) return on_host_of_server(job, gradients);
    const double added = 1 - 1.0 / job.scenario.plan.dp;  // what comes first is the sum: the others read it, and write it
    return on_core_of_server(job, gradients / job.nodes.host_copy + passes_on_server(job, 3 * added * gradients, job.rates));
}

Seconds server_update_time(const Prepared::State& job, Bytes gradients) {
    if (!serves_on_core(job)) return on_host_of_server(job, 2.0 * gradients);
    const Bytes fp32 = size_of(DataType::fp32);
    const double in_and_out = 2.0 * (1 + size_of_states(job.scenario.plan.optimizer, DataType::fp32) / fp32);  // weights and states
    const DeviceRates rates = rates_of_update(job);
    Seconds time = passes_on_server(job, (1 + in_and_out) * gradients, rates);
    // Taken from the worker; and the weights are copied for it, so that the next update does not show in them on their way.
    if (job.scenario.plan.is_asynchronous()) time += gradients / job.nodes.host_copy + passes_on_server(job, 2.0 * gradients, rates);
    return on_core_of_server(job, time);
}

Seconds pieces_time(const Group& group, const Prepared::State& job) {
    return group.ranks > 1 ? group.ranks * job.scenario.framework.list_of_pieces.value : Seconds{};
}

ShardedBlockPrice price_sharded_block(const BlockParameters& p, const Prepared::State& job, const JobGroups& g, const Resources& r) {
    const Plan& plan = job.scenario.plan;
    const auto time = [&](const auto& exchanges, Bytes element) {
        Seconds all;
        for (const DataExchange& e : exchanges) {
            const Group& group = g[e.group];
            if (e.elements > 0) all += pieces_time(group, job) + group_time(collective_of(e.kind), e.elements * element, group, job, r);
        }
        return all;
    };
    return {time(weight_gathers(plan, job.scenario.framework, weights_of(0, p)), size_of(job.precision.parameter)),
            time(gradient_exchanges(plan, job.scenario.framework, job.bucket_rule, gradients_of(0, p)),
                 size_of(job.precision.reduction_type()))};
}

}  // namespace sextant
