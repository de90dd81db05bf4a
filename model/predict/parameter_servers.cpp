#include "model/predict/parameter_servers.hpp"

#include "model/predict/block_price.hpp"
#include "model/predict/shared_cores.hpp"

#include <algorithm>

namespace sextant {
namespace {

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
    if (!job.scenario.plan.has_servers() || !computes_on_cores(job) || !job.groups.to_servers.inside_hosts()) return {};
    return SharedWithServers{static_cast<double>(job.used_devices()), static_cast<double>(job.groups.to_servers.on_a_host),
                             job.nodes.cores};
}

Seconds server_sum_time(const Prepared::State& job, Bytes gradients) {
    if (!computes_on_cores(job)) return on_host_of_server(job, gradients);
    const double added = 1 - 1.0 / job.scenario.plan.dp;  // what comes first is the sum: the others read it, and write it
    return on_core_of_server(job, gradients / job.nodes.host_copy + passes_on_server(job, 3 * added * gradients, job.rates));
}

Seconds server_update_time(const Prepared::State& job, Bytes gradients) {
    if (!computes_on_cores(job)) return on_host_of_server(job, 2.0 * gradients);
    const Bytes fp32 = size_of(DataType::fp32);
    const double in_and_out = 2.0 * (1 + size_of_states(job.scenario.plan.optimizer, DataType::fp32) / fp32);  // weights and states
    const DeviceRates rates = rates_of_update(job);
    Seconds time = passes_on_server(job, (1 + in_and_out) * gradients, rates);
    // Taken from the worker; and the weights are copied for it, so that the next update does not show in them on their way.
    if (job.scenario.plan.is_asynchronous()) time += gradients / job.nodes.host_copy + passes_on_server(job, 2.0 * gradients, rates);
    return on_core_of_server(job, time);
}

}  // namespace sextant
