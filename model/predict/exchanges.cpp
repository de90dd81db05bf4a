// What data parallelism exchanges and copies, each for itself.
#include "model/plan/data_exchanges.hpp"
#include "model/plan/framework_defaults.hpp"
#include "model/predict/state.hpp"

#include <algorithm>

namespace sextant {

// Every worker, or every host for its own, sends its gradients to the servers and fetches the weights: the link of a server's host carries
// its share for all of them, but for those on that host.
Seconds parameter_server_time(const Prepared::State& job, Bytes gradients, const Resources& r) {
    const Plan& plan = job.scenario.plan;
    const double workers = plan.dp;
    const double devices_here = std::min<double>(workers, job.devices_per_node);
    // Inside a node: over the devices' host links, summed in host memory (read each, write once).
    const Seconds copies = 2.0 * gradients / (job.host_copy_beside_others() * r.host_link);
    const Seconds sums = devices_here * server_sum_time(job, gradients) + server_update_time(job, gradients);
    if (job.nodes == 1 && (plan.servers_on_workers || !(job.network > Bandwidth{}))) return copies + sums;
    const Bandwidth nic = job.network * r.network_bandwidth;
    const bool as_one = sums_on_host(plan, job.scenario.framework);
    const double senders = as_one ? job.nodes : workers, beside = as_one ? 1 : devices_here;
    const double remote = plan.servers_on_workers ? (senders - beside) / job.nodes : senders / plan.parameter_servers;
    return max(copies, 2.0 * remote * gradients / nic) + sums;
}

Seconds pieces_time(const Group& group, const Prepared::State& job) {
    return group.ranks > 1 ? group.ranks * job.scenario.framework.list_of_pieces.value : Seconds{};
}

ShardedBlockPrice price_sharded_block(const BlockParameters& p, const Prepared::State& job, const JobGroups& g, const Resources& r) {
    const Plan& plan = job.scenario.plan;
    const auto time = [&](const auto& exchanges, Bytes element) {
        Seconds all;
        for (const DataExchange& e : exchanges) {
            const Group& group = group_of(g, e.group);
            if (e.elements > 0) all += pieces_time(group, job) + group_time(collective_of(e.kind), e.elements * element, group, job, r);
        }
        return all;
    };
    return {time(weight_gathers(plan, weights_of(0, p)), size_of(job.precision.parameter)),
            time(gradient_exchanges(plan, job.bucket_rule, gradients_of(0, p)), size_of(job.precision.reduction_type()))};
}

Seconds host_copy_time(const Prepared::State& job, Bytes over_link, Bytes in_host_memory, const Resources& r) {
    return over_link / (job.host_copy_beside_others() * r.host_link) + job.used_devices() * in_host_memory / job.host_bandwidth;
}

Seconds gradient_copy_time(const Prepared::State& job, double gradients, StepEnds at, const Resources& r) {
    const Scenario& s = job.scenario;
    const GradientCopy copy = gradient_copy(s.plan, s.framework, job.precision, at);
    return host_copy_time(job, gradients * copy.over_link, gradients * copy.in_host_memory, r);
}

// Gradients that are not there yet go down, weights that are read on the device come up; the host updates in its memory.
Seconds offloaded_update_time(const Prepared::State& job, std::size_t stage, const Resources& r) {
    const double owned = owned_parameters(job, stage);
    const Plan& plan = job.scenario.plan;
    Bytes copies;
    if (!gradients_go_down(plan, job.scenario.framework)) copies += gradient_bytes(job, owned);
    if (plan.offload == Offload::optimizer) copies += weight_bytes(job, owned);
    // In fp32: the gradient is read, the weight and its states are read and written.
    const Bytes updated = (1 + 2 * (1 + facts_of(plan.optimizer).states)) * size_of(DataType::fp32);
    return host_copy_time(job, copies, owned * updated, r);
}

Seconds offloaded_weights_time(const Prepared::State& job, std::size_t stage, const Resources& r) {
    const StageParameters p = parameters_of(job, stage);
    const double weights = held_parameters(p.trained + p.frozen, job.scenario.plan, job.scenario.plan.shards_parameters());
    return host_copy_time(job, weight_bytes(job, weights), {}, r);
}

}  // namespace sextant
