#include "model/predict/server_path.hpp"

#include "model/plan/framework_defaults.hpp"
#include "model/plan/partition.hpp"
#include "model/plan/rank_layout.hpp"

#include <map>
#include <optional>
#include <set>

namespace sextant {

// Nodes are alike except for the last one, which may not be full: the first and the last of workers and of servers stand for all.
ServerPath server_path(const Scenario& scenario, const Topology& of_workers) {
    const Plan& plan = scenario.plan;
    const int nodes = used_nodes(scenario), servers = parameter_server_count(scenario);
    const int last_host = node_of_server(scenario, servers - 1);
    const int together = sums_on_host(plan, scenario.framework) ? used_devices_per_node(scenario) : 1;  // what leaves a host as one
    std::optional<Topology> with_servers;
    if (last_host >= of_workers.nodes()) with_servers = Topology::build(scenario.cluster, last_host + 1, uses_sockets(scenario));
    const Topology& topology = with_servers ? *with_servers : of_workers;
    const RankLayout layout(plan, nodes, topology.devices_per_node());
    const std::set<int> watched{0, nodes - 1, node_of_server(scenario, 0), last_host};

    std::vector<double> weights(topology.links().size());
    std::map<int, int> all, on_watched;  // servers by host
    for (int v = 0; v < servers; ++v) ++all[node_of_server(scenario, v)];
    for (const auto& [host, count] : all)
        if (watched.contains(host)) on_watched.emplace(host, count);
    for (int worker = 0; worker < layout.ranks(); ++worker)
        for (const auto& [host, count] : watched.contains(layout.node_of(worker)) ? all : on_watched)
            for (const LinkLoad& load : topology.host_copy_loads(layout.device_of(worker), host, true, together))
                weights[static_cast<std::size_t>(load.link)] += count * load.weight / servers;

    ServerPath path;
    path.servers = servers;
    path.on_a_host = all.at(node_of_server(scenario, 0));
    const auto node_of = [&](int vertex) { return topology.vertices()[static_cast<std::size_t>(vertex)].node; };
    for (std::size_t l = 0; l < weights.size(); ++l) {
        if (!(weights[l] > 0)) continue;
        const TopologyLink& link = topology.links()[l];
        const bool own = node_of(link.from) && node_of(link.to);
        if (!own && !watched.contains(node_of(link.from).value_or(node_of(link.to).value_or(-1)))) continue;
        Bandwidth& least = own ? path.host : path.network;
        least = min(least, link.bandwidth / weights[l]);
    }
    return path;
}

}  // namespace sextant
