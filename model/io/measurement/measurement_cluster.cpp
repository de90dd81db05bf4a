// The machine of a published row, from the few words that its source says about it.
#include "model/base/ceil_divide.hpp"
#include "model/io/measurement/measurement_scenario.hpp"

#include "model/base/grouped_digits.hpp"
#include "model/base/list_text.hpp"
#include "model/base/quantity_text.hpp"
#include "model/base/spelling.hpp"
#include "model/io/measurement/mentioned_word.hpp"
#include "model/io/profile/profile_fields.hpp"

#include <algorithm>

namespace sextant {
namespace {

using namespace units;

std::string_view infinity_fabric(const Device& device) {
    return device.architecture == "cdna4"   ? "Infinity Fabric MI350X/MI355X per pair"
           : device.architecture == "cdna3" ? "Infinity Fabric MI300X per pair"
                                            : "Infinity Fabric MI250X between OAMs (per link)";
}

int links_between_pairs(int links, int devices) {
    // Boards without a switch divide a device's links over its peers; a pair is wired as on a board of four.
    return std::max(1, links / std::max(3, devices - 1));
}

// The links of a board whose row states none: mezzanine cards have links of their own, and from Ampere on NVIDIA puts the eight of a board
// behind switches.
std::string assumed_kind(const Device& device, int devices, bool has_links, RowReport& report) {
    constexpr std::string_view mezzanines[] = {"SXM", "GB200", "GB300", "GH200", "OAM", "MI3", "Gaudi"};
    const bool linked = has_links && std::ranges::any_of(mezzanines, [&](std::string_view word) { return mentions(device.name, word); });
    constexpr std::string_view unswitched[] = {"pascal", "volta", "cdna2", "cdna3", "cdna4", "gaudi"};
    const bool switched =
        std::ranges::find(unswitched, device.architecture) == std::end(unswitched) && (device.architecture != "ampere" || devices > 4);
    std::string kind = !linked ? "pcie" : switched ? "nvswitch" : "nvlink";
    report.assume("links inside a node are not stated: " + kind);
    return kind;
}

// Cards, in slots: pairs of them may be bridged.
bool is_bridged_card(std::string_view gpu) { return mentions(gpu, "PCIe") || mentions(gpu, "H100 NVL"); }

constexpr std::string_view at_intra_node = "/hardware/intra_node";

PeerFabric infinity_fabric_of(const Device& device, const MeasurementSources& sources, RowReport& report) {
    PeerFabric peers;
    peers.layout = PeerLayout::all_to_all;
    peers.link = look_up(infinity_fabric(device), sources, report, at_intra_node);
    peers.links = 1;
    report.assume("one link of Infinity Fabric between every two devices");
    return peers;
}

PeerFabric nvswitch_of(const MeasuredHardware& h, const Device& device, const UsualHardware::Nvlinks& port,
                       const MeasurementSources& sources, RowReport& report) {
    PeerFabric peers;
    peers.layout = PeerLayout::crossbar;
    peers.link = look_up(port.port, sources, report, at_intra_node);
    peers.link.bandwidth.value *= static_cast<double>(port.enabled) / port.links;
    peers.in_switch_reduction = device.architecture == "hopper" || device.architecture == "blackwell";
    peers.domain = h.intra_node.domain_gpus.value_or(0);
    return peers;
}

// Without a switch.
PeerFabric nvlinks_of(const MeasuredHardware& h, const Device& device, int devices, const UsualHardware::Nvlinks& port,
                      const MeasurementSources& sources, RowReport& report) {
    PeerFabric peers;
    peers.link = look_up(port.link, sources, report, at_intra_node);
    const bool is_pair = h.intra_node.pair_only || (devices == 2 && port.enabled < port.links);
    if (is_pair || is_bridged_card(device.name) || port.links == 1) {
        peers.layout = PeerLayout::pairs;
        peers.links = port.enabled;
    } else if (devices == 8 && !port.mesh_of_8.empty()) {
        peers.layout = PeerLayout::matrix;
        peers.link_count = port.mesh_of_8;
    } else {
        peers.layout = PeerLayout::all_to_all;
        peers.links = links_between_pairs(port.enabled, devices);
        report.assume("NVLink without a switch: " + std::to_string(peers.links) + " links between every two devices");
    }
    return peers;
}

PeerFabric peers_of(const MeasuredHardware& h, const Device& device, int devices, const MeasurementSources& sources, RowReport& report) {
    const bool has_infinity_fabric = device.architecture.starts_with("cdna");
    const UsualHardware::Nvlinks* port = sources.usual.nvlinks_of(device.name, device.architecture);
    std::string kind = h.intra_node.kind;
    if (kind.empty() && devices > 1) kind = assumed_kind(device, devices, port != nullptr || has_infinity_fabric, report);
    if (kind == "pcie" || kind.empty() || (devices == 1 && !h.intra_node.domain_gpus)) return {};
    // Also where a source calls any such link an NVLink.
    if (has_infinity_fabric) return infinity_fabric_of(device, sources, report);
    if (!port) {
        report.complain(at_intra_node, "no NVLink is known for " + h.gpu);
        return {};
    }
    if (kind == "nvswitch") return nvswitch_of(h, device, *port, sources, report);
    if (kind == "nvlink") return nvlinks_of(h, device, devices, *port, sources, report);
    report.complain(std::string(at_intra_node) + "/kind", "\"" + kind + "\" is not known here", "one of: nvswitch, nvlink, pcie");
    return {};
}

// GeForce cards since Turing may not copy to each other over PCIe: the driver stages such copies in host memory.
bool is_geforce_without_peers(std::string_view gpu) {
    constexpr std::string_view series[] = {"RTX 20", "RTX 30", "RTX 40", "RTX 50"};
    return std::ranges::any_of(series, [&](std::string_view s) { return mentions(gpu, s); }) && !mentions(gpu, "Quadro");
}

bool peer_access_of(const MeasuredHardware& h, const Device& device, RowReport& report) {
    if (h.intra_node.peer_access) return *h.intra_node.peer_access;
    if (mentions(h.intra_node.as_stated, "no P2P")) return false;
    if (!is_geforce_without_peers(device.name)) return true;
    if (h.gpus_per_node.value_or(h.gpus) > 1) report.assume("no peer access between GeForce cards over PCIe");
    return false;
}

// A Grace stands beside each GH200, and beside each two GB200 and GB300.
int sockets_of_superchips(const Device& device, int devices) {
    return std::max(1, device.architecture == "hopper" ? devices : devices / 2);
}

// Two devices, or four consumer cards, stand on a board of one socket.
int sockets_of_boards(const MeasuredHardware& h, const Device& device, int devices) {
    return h.intra_node.kind == "pcie" && devices <= (is_geforce_without_peers(device.name) ? 4 : 2) ? 1 : 2;
}

bool has_grace(const Device& device) { return device.host_link.starts_with("NVLink-C2C"); }

const UsualHardware::Host* usual_host(const Device& device, const MeasurementSources& sources) {
    return sources.usual.host_of(has_grace(device) ? std::string_view("grace") : device.architecture);
}

HostSpec host_of(const MeasuredHardware& h, const Device& device, int devices, const MeasurementSources& sources, RowReport& report) {
    const bool superchip = has_grace(device);
    HostSpec host;
    const UsualHardware::Host* usual = usual_host(device, sources);
    if (!usual) {
        report.complain("/hardware/gpu", "no host is known that was sold with " + h.gpu);
        return host;
    }
    host.cpu = h.cpu.empty() ? usual->cpu : h.cpu;
    host.sockets = superchip ? sockets_of_superchips(device, devices) : sockets_of_boards(h, device, devices);
    host.cores = usual->cores * host.sockets / 2;
    host.memory = usual->memory;
    host.memory.value *= host.sockets / 2.0;
    host.memory_bandwidth = usual->memory_bandwidth;
    host.memory_bandwidth.value *= host.sockets / 2.0;
    host.thread_speed = usual->thread_speed;
    host.socket_link = look_up(usual->socket_link, sources, report, "/hardware/gpu");
    report.assume("host as sold with this generation of devices: " + usual->cpu + ", " + counted(host.sockets, "socket"));
    return host;
}

LinkType host_link_of(const MeasuredHardware& h, const Device& device, const MeasurementSources& sources, RowReport& report) {
    std::string name = device.host_link;
    if (mentions(h.intra_node.as_stated, "PCIe 3") || mentions(h.intra_node.as_stated, "PCIe Gen3")) name = "PCIe gen3 x16";
    return look_up(name, sources, report, "/hardware/gpu");
}

std::string known_fabrics(const UsualHardware& usual) {
    std::string names;
    std::string_view last;
    for (const UsualHardware::Network& n : usual.networks) {
        if (n.fabric != last) append_to_list(names, n.fabric);
        last = n.fabric;
    }
    return names;
}

// A fabric by its generation, its switches or its service, where its own name is not among the words.
void name_fabric(std::string& words, const UsualHardware& usual) {
    constexpr std::pair<std::string_view, std::string_view> names[] = {
        {"FDR", "infiniband"}, {"EDR", "infiniband"},  {"HDR", "infiniband"}, {"NDR", "infiniband"}, {"XDR", "infiniband"},
        {"OPA", "omni-path"},  {"Spectrum-X", "roce"}, {"GbE", "ethernet"},   {"gVNIC", "ethernet"}, {"IB", "infiniband"}};
    if (usual.network_of(words, 100 * Gbit / s)) return;
    if (const std::string_view* name = mentioned_word(words, names)) words = *name;
}

// One port for each two devices, and for each since boards have switches for all of them.
int usual_ports(double gbit, int devices) { return gbit < 200 ? std::max(1, devices / 2) : devices; }

// The network of a row that names none, as of the years of its devices. `usual`: the rate of a port.
MeasuredInterNode assumed_network(const MeasuredHardware& h, int devices, Bandwidth usual, RowReport& report) {
    if (h.intra_node.domain_gpus.value_or(0) >= h.nodes * devices) {
        report.assume("nodes of one NVLink domain; the network beside it, 400 Gbit/s InfiniBand, is not crossed");
        return {"infiniband", devices, 400};
    }
    const double gbit = usual / (Gbit / s);
    const int ports = usual_ports(gbit, devices);
    report.assume("the row names no network: " + std::to_string(ports) + " ports of " + number_text(gbit) +
                  " Gbit/s InfiniBand a node, as of the devices' years");
    return {"infiniband", ports, gbit};
}

void set_fabric(FabricSpec& fabric, const MeasuredHardware& h, const NodeSpec& node, bool ethernet) {
    const bool rails = !ethernet && node.nics >= node.devices && node.devices > 1;
    const FabricKind of_many = rails ? FabricKind::rail_leaf_spine : FabricKind::leaf_spine;
    fabric.kind = h.nodes <= 16 ? FabricKind::single_switch : of_many;
    fabric.nodes_per_leaf = 16;
    fabric.switch_latency = {
        ethernet ? 600 * ns : 130 * ns, SourceKind::published,
        ethernet ? "makers' pages of cut-through switches, 300 to 800 ns" : "NVIDIA QM8790 product brief, below 130 ns"};
}

void add_network(const MeasuredHardware& h, Cluster& cluster, const MeasurementSources& sources, RowReport& report) {
    if (h.nodes == 1 && !h.inter_node) return;
    NodeSpec& node = cluster.node;
    const UsualHardware::Host* usual = usual_host(node.device, sources);
    if (!usual) return;  // complained about with the host
    MeasuredInterNode n = h.inter_node ? *h.inter_node : assumed_network(h, node.devices, usual->nic, report);
    name_fabric(n.fabric, sources.usual);
    // Where numbers are missing, those of the devices' years, or of a fabric that is not built for GPUs one port.
    const bool for_devices = mentions(n.fabric, "infiniband") || mentions(n.fabric, "roce");
    const double gbit = n.nic_gbit_per_s.value_or(for_devices ? usual->nic / (Gbit / s) : 100);
    const Bandwidth port = gbit * Gbit / s;
    const bool over_tcp = mentions(n.fabric, "tcp") && !mentions(n.fabric, "tcpx");
    const std::string fabric_words = over_tcp ? "ethernet" : n.fabric;
    const UsualHardware::Network* best = sources.usual.network_of(fabric_words, port);
    if (!best) {
        report.complain("/hardware/inter_node/fabric", "fabric \"" + n.fabric + "\" is not known here",
                        "one of: " + known_fabrics(sources.usual));
        return;
    }
    node.nics = n.nics_per_node.value_or(for_devices ? usual_ports(gbit, node.devices) : 1);
    if (!n.nic_gbit_per_s || !n.nics_per_node)
        report.assume("network not stated in full: " + counted(node.nics, "port") + " of " + number_text(gbit) + " Gbit/s a node");
    node.nic_link = look_up(best->link, sources, report, "/hardware/inter_node");
    if (best->port != port) node.nic_link.bandwidth.value = port;
    const bool ethernet = best->fabric == "ethernet";
    node.gpu_direct = !ethernet && !is_geforce_without_peers(node.device.name);
    set_fabric(cluster.fabric, h, node, ethernet);
    report.assume("a fabric without oversubscription, 16 nodes at a leaf switch");
}

// What is known of the machine by its name and the row does not say: how much of device memory its NICs move.
void add_known(const MeasuredHardware& h, NodeSpec& node, const MeasurementSources& sources, RowReport& report) {
    if (h.system.empty() || !sources.cluster || node.nics == 0) return;
    const auto known = sources.cluster(h.system);
    if (!known || !known->node.gpu_direct_bandwidth) return;
    node.gpu_direct_bandwidth = known->node.gpu_direct_bandwidth;
    report.assume("a NIC moves " + to_text(**node.gpu_direct_bandwidth) + " of device memory, as measured on this machine");
}

}  // namespace

LinkType look_up(std::string_view name, const MeasurementSources& sources, RowReport& report, std::string_view at) {
    if (auto link = sources.link(name)) return std::move(*link);
    report.complain(at, "link type \"" + std::string(name) + "\" is not in the catalog");
    return {};
}

Cluster cluster_of(const MeasuredHardware& stated, const MeasurementSources& sources, RowReport& report) {
    MeasuredHardware h = stated;
    Cluster cluster;
    const auto device = sources.device(h.gpu);
    if (!device) {
        report.complain("/hardware/gpu",
                        h.gpu.empty() ? "the row does not say which device it ran on" : "device \"" + h.gpu + "\" is not in the catalog",
                        "`sextant profiles list` names the devices; one of your own is a file: \"my-gpu.json\"");
        return cluster;
    }
    if (const auto* links = sources.usual.nvlinks_of(device->name, device->architecture); h.gpus > 1 && links != nullptr && links->torus) {
        h.intra_node.kind = "nvswitch";
        h.intra_node.domain_gpus = h.gpus;
        report.assume("a torus of all devices gives each its links, as one switch would");
    }
    NodeSpec& node = cluster.node;
    cluster.name = h.system;
    cluster.title = h.system.empty() ? std::to_string(h.gpus) + " x " + h.gpu : h.system;
    cluster.nodes = h.nodes;
    node.device = *device;
    const int used = h.gpus_used_per_node.value_or(ceil_divide(h.gpus, h.nodes));
    node.devices = std::max(used, h.gpus_per_node.value_or(used));
    if (node.devices > plausible::devices_of_node.high) {
        report.complain("/hardware/nodes", std::to_string(node.devices) + " devices do not stand in one node",
                        "`nodes`: how many there are");
        return cluster;
    }
    node.peers = peers_of(h, *device, node.devices, sources, report);
    node.peer_access = peer_access_of(h, *device, report);
    node.host = host_of(h, *device, node.devices, sources, report);
    node.host_link = host_link_of(h, *device, sources, report);
    // Boards of eight and more have PCIe switches, each over two devices and a NIC (DGX-1, DGX A100 and DGX H100 user guides); so has a K80
    // card.
    node.devices_per_switch = node.devices >= 8 || mentions(device->name, "K80") ? std::min(2, node.devices) : 1;
    add_network(h, cluster, sources, report);
    add_known(h, node, sources, report);
    for (const std::string& field : h.assumed) report.assume("hardware." + field + " is not stated by the source");
    return cluster;
}

}  // namespace sextant
