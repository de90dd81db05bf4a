// From a Cluster to vertices and links: node 0 with all its routes, its copies, and the fabric.
#include "model/base/ceil_divide.hpp"
#include "model/base/diagnostics.hpp"
#include "model/hardware/topology_graph.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace sextant {
namespace {

using HostGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, int>;

constexpr int largest_dragonfly = 1024;             // leaves; they are joined all to all
constexpr std::int64_t largest_graph = 10'000'000;  // vertices and links of all nodes: half a gigabyte

Bandwidth achieved(const LinkType& link) { return *link.bandwidth * *link.achievable; }

// What carries traffic out of a node, and over what.
struct Network {
    int nics = 0;
    LinkType link;
    FabricKind kind = FabricKind::none;
    bool staged = false;
};

Network network_of(const Cluster& cluster, bool use_ethernet) {
    const NodeSpec& node = cluster.node;
    // Nothing is known of the layout of a slow network beside the fast one: one switch, never full.
    if (use_ethernet && node.ethernet) return {1, *node.ethernet, FabricKind::single_switch, true};
    const FabricKind kind = node.nics > 0 ? cluster.fabric.kind : FabricKind::none;
    Network network{kind == FabricKind::none ? 0 : node.nics, node.nic_link, kind,
                    !node.gpu_direct || node.nic_link.category == LinkCategory::ethernet};
    if (node.gpu_direct_bandwidth && !network.staged && node.device.kind != DeviceKind::cpu)
        network.link.achievable.value = std::min(*network.link.achievable, **node.gpu_direct_bandwidth / *network.link.bandwidth);
    return network;
}

class Builder {
public:
    Builder(const Cluster& cluster, int nodes, bool use_ethernet)
        : cluster_(cluster), node_(cluster.node), network_(network_of(cluster, use_ethernet)) {
        g_.nodes = nodes;
        g_.devices = node_.devices;
    }

    Topology::Graph build() {
        check();
        add_host();
        add_nics();
        find_host_routes();
        assign_nics();
        add_peers();
        plan_outside();
        check_size();
        copy_nodes();
        add_outside();
        return std::move(g_);
    }

private:
    void check() const;
    void check_size() const;
    void add_host();
    void add_nics();
    void find_host_routes();
    void assign_nics();
    void add_peers();
    void plan_outside();
    void copy_nodes();
    void add_outside();

    int add(VertexKind kind, std::optional<int> node, int index, std::string name) {
        g_.vertices.push_back({kind, node, index, std::move(name)});
        return static_cast<int>(g_.vertices.size()) - 1;
    }
    // Both directions; the number of the one from a to b.
    int connect(int a, int b, LinkCategory category, Bandwidth bandwidth, Seconds forth, Seconds back) {
        g_.links.push_back({a, b, category, bandwidth, forth});
        g_.links.push_back({b, a, category, bandwidth, back});
        return static_cast<int>(g_.links.size()) - 2;
    }
    int connect(int a, int b, LinkCategory category, Bandwidth bandwidth, Seconds latency) {
        return connect(a, b, category, bandwidth, latency, latency);
    }
    int routed_hops(int from, int to) const;
    // Those beyond the nodes that the job was given, as of servers, are the next.
    [[nodiscard]] int number_of(int node) const {
        const auto& given = cluster_.node_numbers;
        const int more = node - static_cast<int>(given.size());
        if (given.empty() || more >= 0) return more + (given.empty() ? 0 : given.back() + 1);
        return given[static_cast<std::size_t>(node)];
    }

    const Cluster& cluster_;
    const NodeSpec& node_;
    Network network_;
    Topology::Graph g_;

    std::vector<int> sockets_, memories_, switches_;
    int peer_switches_ = 0;
};

// Nodes of a job behind one peer switch. A job that needs several has as many nodes behind each, the most that divide the job, as by
// Slurm's segments (sbatch, --segment): 16 of an NVL72's 18 for 64 nodes. Where that would leave half of them empty, all are filled.
int nodes_of_segment(int nodes, int behind_switch) {
    if (nodes <= behind_switch) return behind_switch;
    for (int segment = behind_switch; 2 * segment > behind_switch; --segment)
        if (nodes % segment == 0) return segment;
    return behind_switch;
}

void Builder::check() const {
    Diagnostics problems;
    const std::string who = "cluster " + cluster_.name + ": ";
    if (g_.nodes < 1) problems.add({"", "/nodes", who + "a topology of " + std::to_string(g_.nodes) + " nodes", "use at least one"});
    if (node_.devices < 1) problems.add({"", "/node/devices", who + "a node has no device", ""});
    if (g_.nodes > 1 && network_.nics < 1)
        problems.add({"", "/node/nics", who + std::to_string(g_.nodes) + " nodes, but nothing connects them",
                      "describe the NICs and the fabric, or use one node"});
    const auto& count = node_.peers.link_count;
    const auto square = [&](const std::vector<int>& row) { return std::ssize(row) == node_.devices; };
    if (node_.peers.layout == PeerLayout::matrix && !(std::ssize(count) == node_.devices && std::ranges::all_of(count, square)))
        problems.add({"", "/node/peers/link_count", who + "the matrix of links is not devices x devices", "one row per device"});
    const int per_leaf = std::max(1, cluster_.fabric.nodes_per_leaf);
    if (network_.kind == FabricKind::dragonfly && g_.nodes / per_leaf > largest_dragonfly)
        problems.add({"", "/fabric/nodes_per_leaf", who + "a dragonfly of more than " + std::to_string(largest_dragonfly) + " groups",
                      "give the number of nodes in a group"});
    problems.throw_if_any();
}

// Devices, their switches, sockets and the memory of each socket.
void Builder::add_host() {
    const int devices = node_.devices;
    g_.host_ranks = node_.device.kind == DeviceKind::cpu;
    g_.peers_staged = !node_.peer_access;
    const int socket_count = std::max(1, node_.host.sockets);
    for (int d = 0; d < devices; ++d) add(VertexKind::device, 0, d, (g_.host_ranks ? "cpu" : "gpu") + std::to_string(d));
    const int per_switch = node_.devices_per_switch;
    const int switch_count = per_switch > 1 && !g_.host_ranks ? ceil_divide(devices, per_switch) : 0;
    for (int w = 0; w < switch_count; ++w) switches_.push_back(add(VertexKind::pcie_switch, 0, w, "pcie" + std::to_string(w)));
    for (int k = 0; k < socket_count; ++k) sockets_.push_back(add(VertexKind::socket, 0, k, "socket" + std::to_string(k)));
    for (int k = 0; k < socket_count; ++k) memories_.push_back(add(VertexKind::host_memory, 0, k, "memory" + std::to_string(k)));

    // A message is written once and read once: each direction gets half of what the memory moves. Unknown memory does not limit.
    const Bandwidth memory = *node_.host.memory_bandwidth / (2.0 * socket_count);
    const Bandwidth copy = memory > Bandwidth{} ? memory : Bandwidth::from_si(std::numeric_limits<double>::infinity());
    const LinkType& host = node_.host_link;
    const bool memory_link = g_.host_ranks && host.category == LinkCategory::memory && achieved(host) > Bandwidth{};
    for (int d = 0; d < devices; ++d) {
        const int socket = d * socket_count / devices;
        if (g_.host_ranks) {
            connect(d, sockets_[socket], LinkCategory::memory, memory_link ? achieved(host) : copy,
                    memory_link ? *host.latency / 2 : Seconds{});
        } else if (switch_count > 0) {
            connect(d, switches_[d / per_switch], host.category, achieved(host), *host.latency);
        } else {
            connect(d, sockets_[socket], host.category, achieved(host), *host.latency);
        }
        const int near = switch_count > 0 ? d / per_switch * socket_count / switch_count : socket;
        g_.memory_of.push_back(memories_[near]);
    }
    for (int w = 0; w < switch_count; ++w)
        connect(switches_[w], sockets_[w * socket_count / switch_count], host.category, achieved(host), *host.latency);
    for (int k = 0; k < socket_count; ++k) connect(sockets_[k], memories_[k], LinkCategory::memory, copy, Seconds{});
    const LinkType& between = node_.host.socket_link;
    for (int k = 0; k < socket_count; ++k)
        for (int m = k + 1; m < socket_count; ++m)
            connect(sockets_[k], sockets_[m], LinkCategory::socket, achieved(between), *between.latency);
}

// Evenly over the PCIe switches where there are any, else over the sockets. Their own slot does not limit them.
void Builder::add_nics() {
    g_.network_staged = network_.staged && !g_.host_ranks;
    const bool on_switches = !switches_.empty() && network_.link.category != LinkCategory::ethernet;
    const std::vector<int>& places = on_switches ? switches_ : sockets_;
    const Bandwidth slot = max(achieved(node_.host_link), achieved(network_.link));
    for (int i = 0; i < network_.nics; ++i) {
        const int nic = add(VertexKind::nic, 0, i, "nic" + std::to_string(i));
        const auto place = static_cast<std::size_t>(i) * places.size() / static_cast<std::size_t>(network_.nics);
        connect(places[place], nic, LinkCategory::pcie, slot, *node_.host_link.latency);
        g_.nic_vertex.push_back(nic);
    }
}

// Breadth first from every vertex of node 0, before it gets peer links: PCIe is a tree and sockets are all joined, so the way of fewest
// hops is the way that the hardware takes.
void Builder::find_host_routes() {
    const int count = g_.node_vertices = static_cast<int>(g_.vertices.size());
    HostGraph host(count);
    for (int l = 0; l < std::ssize(g_.links); ++l) boost::add_edge(g_.links[l].from, g_.links[l].to, l, host);
    g_.link_into.resize(static_cast<std::size_t>(count) * count);
    struct Recorder : boost::default_bfs_visitor {
        explicit Recorder(int* into) : row(into) {}
        void tree_edge(HostGraph::edge_descriptor e, const HostGraph& graph) const { row[target(e, graph)] = graph[e]; }
        int* row;
    };
    for (int v = 0; v < count; ++v)
        boost::breadth_first_search(host, v, boost::visitor(Recorder(&g_.link_into[static_cast<std::size_t>(v) * count])));
}

int Builder::routed_hops(int from, int to) const {
    int hops = 0;
    for (int v = to; v != from; ++hops) v = g_.links[g_.link_into[from * g_.node_vertices + v]].from;
    return hops;
}

// Each device uses the NICs nearest to it, shared out among the devices that have the same ones nearest.
void Builder::assign_nics() {
    std::vector<std::vector<int>> nearest(node_.devices);
    for (int d = 0; d < node_.devices; ++d) {
        int least = std::numeric_limits<int>::max();
        for (int i = 0; i < network_.nics; ++i) {
            const int hops = routed_hops(d, g_.nic_vertex[i]);
            if (hops < least) nearest[d].clear();
            least = std::min(least, hops);
            if (hops == least) nearest[d].push_back(i);
        }
    }
    g_.nics_of.resize(node_.devices);
    for (int d = 0; d < node_.devices; ++d) {
        const auto rivals = std::ranges::count(nearest, nearest[d]);
        const auto before = std::count(nearest.begin(), nearest.begin() + d, nearest[d]);
        const auto nics = std::ssize(nearest[d]);
        const auto begin = before * nics / rivals;
        const auto end = std::max(begin + 1, (before + 1) * nics / rivals);
        if (nics > 0) g_.nics_of[d].assign(nearest[d].begin() + begin, nearest[d].begin() + end);
    }
}

// The direct links between devices; ports to peer switches leave the node and come later.
void Builder::add_peers() {
    const PeerFabric& peers = node_.peers;
    const int devices = node_.devices;
    g_.peer_count.assign(devices, std::vector<int>(devices));
    g_.peer_link = g_.peer_count;
    const auto links_between = [&](int a, int b) {
        switch (peers.layout) {
            case PeerLayout::all_to_all: return peers.links;
            case PeerLayout::pairs: return a / 2 == b / 2 ? peers.links : 0;
            case PeerLayout::matrix: return peers.link_count[a][b];
            case PeerLayout::none:
            case PeerLayout::crossbar: break;
        }
        return 0;
    };
    for (int a = 0; a < devices; ++a) {
        for (int b = a + 1; b < devices; ++b) {
            const int count = links_between(a, b);
            if (count < 1) continue;
            const int link = connect(a, b, LinkCategory::nvlink, achieved(peers.link) * count, *peers.link.latency);
            g_.peer_count[a][b] = g_.peer_count[b][a] = count;
            g_.peer_link[a][b] = link;
            g_.peer_link[b][a] = link ^ 1;
        }
    }
    if (peers.layout == PeerLayout::crossbar) g_.switch_span = devices * nodes_of_segment(g_.nodes, std::max(1, peers.domain / devices));
}

// What stands outside the nodes is numbered after them: peer switches, then leaves, then the spine.
void Builder::plan_outside() {
    g_.dragonfly = network_.kind == FabricKind::dragonfly;
    g_.rails = network_.kind == FabricKind::rail_leaf_spine;
    const bool one_leaf = network_.kind == FabricKind::single_switch || cluster_.fabric.nodes_per_leaf < 1;
    g_.nodes_per_leaf = one_leaf ? number_of(g_.nodes - 1) + 1 : cluster_.fabric.nodes_per_leaf;
    // Leaves without a node of the job are not there.
    int groups = 0;
    for (int n = 0, before = -1; n < g_.nodes; ++n) {
        const int group = number_of(n) / g_.nodes_per_leaf;
        if (group != std::exchange(before, group)) ++groups;
        g_.leaf_group.push_back(groups - 1);
    }
    g_.nodes_follow = cluster_.node_numbers.empty();
    if (network_.nics > 0) g_.leaves = groups * (g_.rails ? network_.nics : 1);
    const int devices = g_.nodes * g_.devices;
    if (g_.switch_span > 0) peer_switches_ = ceil_divide(devices, g_.switch_span);
}

// Before the memory is asked for.
void Builder::check_size() const {
    const std::int64_t of_node = std::ssize(g_.vertices) + std::ssize(g_.links) + 2 * (std::int64_t{g_.devices} + network_.nics);
    if (of_node <= largest_graph / g_.nodes) return;
    throw InputError(Diagnostic{"", "/nodes",
                                "cluster " + cluster_.name + ": " + std::to_string(g_.nodes) + " nodes of " + std::to_string(g_.devices) +
                                    " devices and " + std::to_string(network_.nics) + " NICs are more than can be laid out",
                                "use fewer nodes, or describe nodes with fewer links"});
}

void Builder::copy_nodes() {
    const auto vertices = std::exchange(g_.vertices, {});
    const auto links = std::exchange(g_.links, {});
    const int ports = g_.switch_span > 0 ? g_.devices : 0;
    const int first_peer_switch = g_.nodes * g_.node_vertices;
    const int first_leaf = first_peer_switch + peer_switches_;
    g_.node_links = static_cast<int>(links.size()) + 2 * (ports + network_.nics);
    g_.vertices.reserve(static_cast<std::size_t>(g_.nodes) * vertices.size() + peer_switches_ + g_.leaves + 1);
    g_.links.reserve(static_cast<std::size_t>(g_.nodes) * g_.node_links);
    for (int d = 0; d < ports; ++d) g_.switch_port.push_back(static_cast<int>(links.size()) + 2 * d);
    for (int i = 0; i < network_.nics; ++i) g_.nic_port.push_back(static_cast<int>(links.size()) + 2 * (ports + i));

    const PeerFabric& peers = node_.peers;
    const Seconds wire = *network_.link.latency / 2;  // its latency is from NIC to NIC: half at either end
    for (int n = 0; n < g_.nodes; ++n) {
        const int base = n * g_.node_vertices;
        const std::string prefix = "n" + std::to_string(n) + ".";
        for (const TopologyVertex& v : vertices) add(v.kind, n, v.index, prefix + v.name);
        for (TopologyLink link : links) {
            link.from += base;
            link.to += base;
            g_.links.push_back(link);
        }
        for (int d = 0; d < ports; ++d)
            connect(base + d, first_peer_switch + (n * g_.devices + d) / g_.switch_span, LinkCategory::nvlink,
                    achieved(peers.link) * peers.links, *peers.link.latency / 2);
        for (int i = 0; i < network_.nics; ++i)
            connect(base + g_.nic_vertex[i], first_leaf + g_.leaf_of(n, i), network_.link.category, achieved(network_.link), wire,
                    wire + *cluster_.fabric.switch_latency);
    }
}

void Builder::add_outside() {
    for (int i = 0; i < peer_switches_; ++i) add(VertexKind::peer_switch, {}, i, "nvswitch" + std::to_string(i));
    const int first_leaf = static_cast<int>(g_.vertices.size());
    for (int i = 0; i < g_.leaves; ++i) add(VertexKind::leaf, {}, i, "leaf" + std::to_string(i));
    g_.first_leaf_link = static_cast<int>(g_.links.size());
    if (g_.leaves < 2) return;
    const int nics_per_node = g_.rails ? 1 : network_.nics;
    const double oversubscription = cluster_.fabric.oversubscription > 0 ? cluster_.fabric.oversubscription : 1.0;
    const Bandwidth uplink = achieved(network_.link) * g_.nodes_per_leaf * nics_per_node / oversubscription;
    const Seconds hop = *cluster_.fabric.switch_latency;
    if (g_.dragonfly) {
        for (int a = 0; a < g_.leaves; ++a)
            for (int b = a + 1; b < g_.leaves; ++b)
                connect(first_leaf + a, first_leaf + b, network_.link.category, uplink / (g_.leaves - 1), hop);
    } else {
        const int spine = add(VertexKind::spine, {}, 0, "spine");
        for (int l = 0; l < g_.leaves; ++l) connect(first_leaf + l, spine, network_.link.category, uplink, hop);
    }
}

}  // namespace

Topology Topology::build(const Cluster& cluster, int nodes, bool use_ethernet) {
    return Topology(std::make_unique<Graph>(Builder(cluster, nodes, use_ethernet).build()));
}

}  // namespace sextant
