#include "model/hardware/topology_graph.hpp"

#include <algorithm>
#include <limits>

namespace sextant {

void Topology::Graph::leaf_to_leaf(int from, int to, Route& out) const {
    if (dragonfly) {
        out.links.push_back(leaf_to_leaf(from, to));
    } else {
        out.links.push_back(leaf_to_spine(from));
        out.links.push_back(leaf_to_spine(to) ^ 1);
    }
}

void Topology::Graph::inside_host(int node, int from, int to, Route& out) const {
    const auto begin = static_cast<std::ptrdiff_t>(out.links.size());
    for (int v = to; v != from;) {
        const int link = link_into[from * node_vertices + v];
        out.links.push_back(node * node_links + link);
        v = links[link].from;
    }
    std::reverse(out.links.begin() + begin, out.links.end());
}

void Topology::Graph::device_to_nic(DeviceIndex d, int nic, Route& out) const {
    if (!network_staged) return inside_host(node_of(d), local(d), nic_vertex[nic], out);
    inside_host(node_of(d), local(d), memory_of[local(d)], out);
    inside_host(node_of(d), memory_of[local(d)], nic_vertex[nic], out);
}

void Topology::Graph::nic_to_device(int nic, DeviceIndex d, Route& out) const {
    if (!network_staged) return inside_host(node_of(d), nic_vertex[nic], local(d), out);
    inside_host(node_of(d), nic_vertex[nic], memory_of[local(d)], out);
    inside_host(node_of(d), memory_of[local(d)], local(d), out);
}

void Topology::Graph::nic_to_nic(int from_node, int from_nic, int to_node, int to_nic, Route& out) const {
    out.links.push_back(from_node * node_links + nic_port[from_nic]);
    const int from = leaf_of(from_node, from_nic), to = leaf_of(to_node, to_nic);
    if (from != to) leaf_to_leaf(from, to, out);
    out.links.push_back((to_node * node_links + nic_port[to_nic]) ^ 1);
}

void Topology::Graph::over_network(DeviceIndex from, int from_nic, DeviceIndex to, int to_nic, Route& out) const {
    device_to_nic(from, from_nic, out);
    nic_to_nic(node_of(from), from_nic, node_of(to), to_nic, out);
    nic_to_device(to_nic, to, out);
    out.crosses_network = true;
    out.through_host = network_staged;
}

void Topology::Graph::route(DeviceIndex from, DeviceIndex to, Route& out) const {
    const int node = node_of(from), a = local(from), b = local(to);
    if (from == to) return;
    if (same_peer_switch(from, to)) {
        out.links.push_back(port(from));
        out.links.push_back(port(to) ^ 1);
    } else if (node != node_of(to)) {
        over_network(from, nics_of[a].front(), to, nics_of[b].front(), out);
    } else if (peer_count[a][b] > 0) {
        out.links.push_back(node * node_links + peer_link[a][b]);
    } else if (host_ranks || peers_staged) {
        inside_host(node, a, memory_of[a], out);
        inside_host(node, memory_of[a], b, out);
        out.through_host = !host_ranks;
    } else {
        inside_host(node, a, b, out);
    }
}

double Topology::Graph::efficiency(int link, bool through_host) const {
    const LinkCategory category = links[link].category;
    const bool of_host = category == LinkCategory::pcie || category == LinkCategory::socket || category == LinkCategory::memory;
    return through_host && of_host ? staging_efficiency : 1.0;
}

Seconds Topology::Graph::latency(const Route& r) const {
    Seconds sum;
    for (const int l : r.links) sum += links[l].latency;
    return sum;
}

TransferPath Topology::path(DeviceIndex from, DeviceIndex to) const {
    Route route;
    graph_->route(from, to, route);
    TransferPath path{
        {}, Bandwidth::from_si(std::numeric_limits<double>::infinity()), graph_->latency(route), route.through_host, route.crosses_network};
    for (const int l : route.links)
        path.bottleneck = min(path.bottleneck, graph_->links[l].bandwidth * graph_->efficiency(l, route.through_host));
    path.links = std::move(route.links);
    return path;
}

}  // namespace sextant
