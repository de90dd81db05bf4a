// What single transfers put on the links of their way: between two devices, and between a device and the memory of a host.
#include "model/hardware/topology_graph.hpp"

#include <algorithm>

namespace sextant {
namespace {

// The few links of a transfer, each once.
class TransferLoads {
public:
    explicit TransferLoads(const Topology::Graph& graph) : graph_(graph) {}

    void add(const Route& route, double weight) {
        for (const int l : route.links) {
            auto load = std::ranges::find(loads_, l, &LinkLoad::link);
            if (load == loads_.end()) load = loads_.insert(load, {l, 0});
            load->weight += weight / graph_.efficiency(l, route.through_host);
        }
    }
    [[nodiscard]] std::vector<LinkLoad> take() { return std::move(loads_); }

private:
    const Topology::Graph& graph_;
    std::vector<LinkLoad> loads_;
};

}  // namespace

std::vector<LinkLoad> Topology::send_loads(DeviceIndex from, DeviceIndex to) const {
    const Graph& g = *graph_;
    TransferLoads loads(g);
    if (from / g.unit() == to / g.unit()) {
        Route route;
        g.route(from, to, route);
        loads.add(route, 1);
        return loads.take();
    }
    // As many ways as the device with fewer NICs has, each with an equal share.
    const auto &out = g.nics_of[g.local(from)], &in = g.nics_of[g.local(to)];
    const std::size_t ways = std::min(out.size(), in.size());
    for (std::size_t w = 0; w < ways; ++w) {
        Route route;
        g.over_network(from, out[w * out.size() / ways], to, in[w * in.size() / ways], route);
        loads.add(route, 1 / static_cast<double>(ways));
    }
    return loads.take();
}

std::vector<LinkLoad> Topology::host_copy_loads(DeviceIndex device, int node, bool to_host, int together) const {
    const Graph& g = *graph_;
    TransferLoads loads(g);
    const int own = g.node_of(device), memory = g.memory_of[g.local(device)];
    if (node == own) {
        Route route;
        g.inside_host(node, g.local(device), memory, route);
        loads.add(route, 1);
    } else {
        const auto& nics = g.nics_of[g.local(device)];
        for (const int nic : nics) {
            const double share = 1 / static_cast<double>(nics.size());
            Route here, there;
            if (together > 1) {  // one sum leaves the host's memory
                g.inside_host(own, g.local(device), memory, here);
                g.inside_host(own, memory, g.nic_vertex[nic], there);
            } else {
                here.through_host = g.network_staged;
                g.device_to_nic(device, nic, here);
            }
            g.nic_to_nic(own, nic, node, nic, there);
            g.inside_host(node, g.nic_vertex[nic], memory, there);
            loads.add(here, share);
            loads.add(there, share / together);
        }
    }
    std::vector<LinkLoad> list = loads.take();
    if (!to_host)
        for (LinkLoad& load : list) load.link ^= 1;  // the way back
    return list;
}

}  // namespace sextant
