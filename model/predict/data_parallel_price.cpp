#include "model/predict/data_parallel_price.hpp"

#include "model/plan/data_exchanges.hpp"
#include "model/predict/block_price.hpp"

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
    return {time(weight_gathers(plan, job.scenario.framework, weights_of(0, p)), size_of(job.precision.parameter)),
            time(gradient_exchanges(plan, job.scenario.framework, job.bucket_rule, gradients_of(0, p)),
                 size_of(job.precision.reduction_type()))};
}

}  // namespace sextant
