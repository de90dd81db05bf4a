// What data parallelism exchanges and copies, each for itself.
#include "model/plan/data_exchanges.hpp"
#include "model/predict/block_price.hpp"
#include "model/predict/data_parallel_price.hpp"
#include "model/predict/update.hpp"

#include <algorithm>

namespace sextant {

Seconds server_way_time(const Prepared::State& job, Bytes bytes, const Resources& r) {
    const ServerWay& way = job.groups.to_servers;
    return max(bytes / (way.host * r.host_link), bytes / (way.network * r.network_bandwidth));
}

Seconds server_sum_time(const Prepared::State& job, Bytes gradients) {
    return job.groups.to_servers.on_a_host * gradients / job.host_bandwidth;
}
Seconds server_update_time(const Prepared::State& job, Bytes gradients) { return 2.0 * server_sum_time(job, gradients); }

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
    return {time(weight_gathers(plan, weights_of(0, p)), size_of(job.precision.parameter)),
            time(gradient_exchanges(plan, job.scenario.framework, job.bucket_rule, gradients_of(0, p)),
                 size_of(job.precision.reduction_type()))};
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

}  // namespace sextant
