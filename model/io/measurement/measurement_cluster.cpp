// The machine of a published row, from the few words that its source says about it.
#include "model/io/measurement/measurement_scenario.hpp"

#include "model/base/quantity_text.hpp"
#include "model/base/spelling.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

using namespace units;

// How a device reaches its peers when it has NVLink. `used` of `total` links are enabled (A800 and H800 are cut).
// By the first entry whose word stands in the device's name, else by architecture.
struct PeerPort {
    std::string_view device, architecture;
    std::string_view link;  // one link
    std::string_view port;  // all links of a device, as the catalogue measures them
    int total, used;
};
constexpr PeerPort peer_ports[] = {
    // Bridged cards: the "port" is the bridge. Datasheets of each card; the GA102 links run at 14.0625 GB/s.
    {"RTX 2080 Ti", "", "GeForce/TITAN NVLink bridge (2080 Ti/TITAN RTX)", "GeForce/TITAN NVLink bridge (2080 Ti/TITAN RTX)", 1, 1},
    {"Quadro RTX", "", "GeForce/TITAN NVLink bridge (2080 Ti/TITAN RTX)", "GeForce/TITAN NVLink bridge (2080 Ti/TITAN RTX)", 1, 1},
    {"TITAN RTX", "", "GeForce/TITAN NVLink bridge (2080 Ti/TITAN RTX)", "GeForce/TITAN NVLink bridge (2080 Ti/TITAN RTX)", 1, 1},
    {"RTX 3090", "", "RTX 3090/A40 NVLink bridge", "RTX 3090/A40 NVLink bridge", 1, 1},
    {"RTX A", "", "RTX 3090/A40 NVLink bridge", "RTX 3090/A40 NVLink bridge", 1, 1},
    {"A40", "", "RTX 3090/A40 NVLink bridge", "RTX 3090/A40 NVLink bridge", 1, 1},
    {"A30", "", "NVLink3", "NVLink3 A100 per GPU", 12, 4},
    {"A800", "", "NVLink3", "NVLink3 A100 per GPU", 12, 8},
    {"H800", "", "NVLink4", "NVLink4 H100/H200 per GPU", 18, 8},
    {"H100 PCIe", "", "NVLink4", "NVLink4 H100/H200 per GPU", 18, 12},
    {"H100 NVL", "", "NVLink4", "NVLink4 H100/H200 per GPU", 18, 12},
    {"", "pascal", "NVLink1", "NVLink1 P100 per GPU", 4, 4},
    {"", "volta", "NVLink2", "NVLink2 V100 per GPU", 6, 6},
    {"", "ampere", "NVLink3", "NVLink3 A100 per GPU", 12, 12},
    {"", "hopper", "NVLink4", "NVLink4 H100/H200 per GPU", 18, 18},
    {"", "blackwell", "NVLink5", "NVLink5 B200 per GPU", 18, 18},
};

// Links of the hybrid cube mesh of a DGX-1 (two quads joined corner to corner), V100: `nvidia-smi topo -m` of such a machine.
// The P100 has four links per device instead of six: every double link is single there.
constexpr int cube_mesh[8][8] = {{0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0}, {1, 2, 0, 2, 0, 0, 1, 0}, {2, 1, 2, 0, 0, 0, 0, 1},
                                 {2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1}, {0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0}};

// Networks by fabric and speed of a port. Another speed of the same fabric takes the nearest entry with its own bandwidth.
struct NetworkPort {
    std::string_view fabric;
    double gbit;
    std::string_view link;
};
constexpr NetworkPort network_ports[] = {
    {"infiniband", 40, "InfiniBand QDR 4x"},
    {"infiniband", 56, "InfiniBand FDR 4x"},
    {"infiniband", 100, "InfiniBand EDR 4x"},
    {"infiniband", 200, "InfiniBand HDR 4x"},
    {"infiniband", 400, "InfiniBand NDR 4x"},
    {"infiniband", 800, "InfiniBand XDR 4x"},
    {"roce", 200, "RoCE v2 200 GbE"},
    {"roce", 400, "RoCE v2 400 GbE"},
    {"omni-path", 100, "Omni-Path 100"},
    {"efa", 100, "AWS EFA v1, one 100 Gb/s adapter"},
    {"efa", 200, "AWS EFA v3 (p5en) one adapter"},
    {"efa", 400, "AWS EFA v4, one 400 Gb/s adapter"},
    {"aries", 82, "Cray Aries (Piz Daint)"},
    {"tcpx", 200, "GPUDirect-TCPX 200 Gb/s"},
    {"slingshot", 100, "Slingshot-10 100 Gb/s NIC"},
    {"slingshot", 200, "HPE Slingshot-11 200 Gb/s NIC"},
    {"ethernet", 1, "Ethernet 1 GbE kernel TCP"},
    {"ethernet", 10, "Ethernet 10 GbE kernel TCP"},
    {"ethernet", 25, "Ethernet 25 GbE kernel TCP"},
    {"ethernet", 40, "Ethernet 40 GbE kernel TCP"},
    {"ethernet", 100, "Ethernet 100 GbE kernel TCP"},
    {"ethernet", 200, "Ethernet 200 GbE kernel TCP"},
    {"ethernet", 400, "Ethernet 400 GbE kernel TCP"},
};

// The host that was sold with a generation of devices.
struct HostGeneration {
    std::string_view architecture, cpu, socket_link;
    int cores;            // of two sockets
    double thread_speed;  // against a 3.0 GHz server core of 2020
    Bandwidth memory;     // of two sockets: channels x rate x 8 bytes
    double nic_gbit;      // of an InfiniBand port, where a row spans nodes and names no network
};
constexpr HostGeneration host_generations[] = {
    {"kepler", "Xeon E5 v3/v4", "QPI 9.6 GT/s (Haswell/Broadwell)", 40, 0.75, 153.6 * GB / s, 56},
    {"maxwell", "Xeon E5 v3/v4", "QPI 9.6 GT/s (Haswell/Broadwell)", 40, 0.8, 153.6 * GB / s, 56},
    {"pascal", "Xeon E5 v4", "QPI 9.6 GT/s (Haswell/Broadwell)", 40, 0.85, 153.6 * GB / s, 100},
    {"volta", "Xeon E5 v4 or Xeon Scalable", "UPI 10.4 GT/s (Skylake/Cascade Lake)", 40, 0.9, 256 * GB / s, 100},
    {"turing", "Xeon Scalable", "UPI 10.4 GT/s (Skylake/Cascade Lake)", 40, 0.9, 256 * GB / s, 100},
    {"ampere", "EPYC 7002/7003", "xGMI-2 18 GT/s x16 (Rome/Milan)", 128, 1, 409.6 * GB / s, 200},
    {"ada", "EPYC 7003 or 4th generation Xeon", "xGMI-2 18 GT/s x16 (Rome/Milan)", 128, 1.15, 409.6 * GB / s, 200},
    {"hopper", "4th generation Xeon", "UPI 16 GT/s (Sapphire Rapids)", 112, 1.2, 614.4 * GB / s, 400},
    {"blackwell", "5th generation Xeon", "UPI 16 GT/s (Sapphire Rapids)", 112, 1.3, 716.8 * GB / s, 400},
    {"grace", "Grace", "NVLink-C2C Grace-Hopper", 144, 1.1, 1024 * GB / s, 400},
};

template <class T>
Sourced<T> assumed(T value) {
    return {value, SourceKind::estimated, "assumed for published rows"};
}

const PeerPort* find_port(const MeasuredHardware& h, const Device& device) {
    for (const PeerPort& p : peer_ports)
        if (mentions(h.gpu, p.device) && mentions(device.architecture, p.architecture)) return &p;
    return nullptr;
}

std::string_view infinity_fabric(std::string_view gpu) {
    return mentions(gpu, "MI3") ? "Infinity Fabric MI300X per pair" : "Infinity Fabric MI250X between OAMs (per link)";
}

int ports_between_pairs(const PeerPort& port, int devices) {
    // Boards without a switch divide a device's links over its peers; a pair is wired as on a board of four.
    return std::max(1, port.used / std::max(3, devices - 1));
}

// Of boards whose row says nothing: mezzanine cards are on NVLink, from Ampere on all eight of a board behind switches.
std::string assumed_kind(const MeasuredHardware& h, const Device& device, int devices, RowReport& report) {
    const bool on_nvlink = find_port(h, device) && (mentions(h.gpu, "SXM") || mentions(h.gpu, "GB200") || mentions(h.gpu, "GB300"));
    const bool switched =
        device.architecture != "pascal" && device.architecture != "volta" && (device.architecture != "ampere" || devices > 4);
    std::string kind = !on_nvlink ? "pcie" : switched ? "nvswitch" : "nvlink";
    report.assume("links inside a node are not stated: " + kind);
    return kind;
}

// Cards, in slots: pairs of them may be bridged.
bool is_bridged_card(std::string_view gpu) { return mentions(gpu, "PCIe") || mentions(gpu, "H100 NVL"); }

PeerFabric peers_of(const MeasuredHardware& h, const Device& device, int devices, const MeasurementSources& sources, RowReport& report) {
    MeasuredIntraNode intra = h.intra_node;
    if (intra.kind.empty() && devices > 1) intra.kind = assumed_kind(h, device, devices, report);
    PeerFabric peers;
    if (intra.kind == "pcie" || intra.kind.empty() || (devices == 1 && !intra.domain_gpus)) return peers;
    constexpr std::string_view at = "/hardware/intra_node";
    if (device.architecture.starts_with("cdna")) {  // also where a source calls any such link an NVLink
        peers.layout = PeerLayout::all_to_all;
        peers.link = look_up(infinity_fabric(h.gpu), sources, report, at);
        peers.links = 1;
        report.assume("one link of Infinity Fabric between every two devices");
        return peers;
    }
    const PeerPort* port = find_port(h, device);
    if (!port) {
        report.complain(at, "no NVLink is known for " + h.gpu);
        return peers;
    }
    if (intra.kind == "nvswitch") {
        peers.layout = PeerLayout::crossbar;
        peers.link = look_up(port->port, sources, report, at);
        peers.link.bandwidth.value *= static_cast<double>(port->used) / port->total;
        peers.in_switch_reduction = device.architecture == "hopper" || device.architecture == "blackwell";
        peers.domain = intra.domain_gpus.value_or(0);
        return peers;
    }
    if (intra.kind != "nvlink") {
        report.complain(std::string(at) + "/kind", "\"" + intra.kind + "\" is not known here", "one of: nvswitch, nvlink, pcie");
        return peers;
    }
    peers.link = look_up(port->link, sources, report, at);
    if (intra.pair_only || is_bridged_card(h.gpu) || (devices == 2 && port->used < port->total) || port->total == 1) {
        peers.layout = PeerLayout::pairs;
        peers.links = port->used;
    } else if (devices == 8 && (device.architecture == "pascal" || device.architecture == "volta")) {
        peers.layout = PeerLayout::matrix;
        const int most = device.architecture == "pascal" ? 1 : 2;
        for (const auto& row : cube_mesh) {
            std::vector<int>& links = peers.link_count.emplace_back();
            for (const int n : row) links.push_back(std::min(n, most));
        }
    } else {
        peers.layout = PeerLayout::all_to_all;
        peers.links = ports_between_pairs(*port, devices);
        report.assume("NVLink without a switch: " + std::to_string(peers.links) + " links between every two devices");
    }
    return peers;
}

// GeForce cards since Turing may not copy to each other over PCIe: the driver stages such copies in host memory.
bool is_geforce_without_peers(std::string_view gpu) {
    constexpr std::string_view series[] = {"RTX 20", "RTX 30", "RTX 40", "RTX 50"};
    return std::ranges::any_of(series, [&](std::string_view s) { return mentions(gpu, s); }) && !mentions(gpu, "Quadro");
}

bool peer_access_of(const MeasuredHardware& h, RowReport& report) {
    if (h.intra_node.peer_access) return *h.intra_node.peer_access;
    if (mentions(h.intra_node.as_stated, "no P2P")) return false;
    if (!is_geforce_without_peers(h.gpu)) return true;
    if (h.gpus_per_node.value_or(h.gpus) > 1) report.assume("no peer access between GeForce cards over PCIe");
    return false;
}

// A Grace stands beside each GH200, and beside each two GB200 and GB300.
int sockets_of_superchips(const Device& device, int devices) {
    return std::max(1, device.architecture == "hopper" ? devices : devices / 2);
}

// Two devices, or four consumer cards, stand on a board of one socket.
int sockets_of_boards(const MeasuredHardware& h, int devices) {
    return h.intra_node.kind == "pcie" && devices <= (is_geforce_without_peers(h.gpu) ? 4 : 2) ? 1 : 2;
}

bool has_grace(const Device& device) { return device.host_link.starts_with("NVLink-C2C"); }

const HostGeneration& generation_of(const Device& device) {
    const std::string_view sold_with = has_grace(device) ? std::string_view("grace") : device.architecture;
    const auto* generation = std::ranges::find(host_generations, sold_with, &HostGeneration::architecture);
    return generation != std::end(host_generations) ? *generation
                                                    : *std::ranges::find(host_generations, "ampere", &HostGeneration::architecture);
}

HostSpec host_of(const MeasuredHardware& h, const Device& device, int devices, const MeasurementSources& sources, RowReport& report) {
    const bool superchip = has_grace(device);
    const HostGeneration& generation = generation_of(device);
    HostSpec host;
    host.cpu = h.cpu.empty() ? std::string(generation.cpu) : h.cpu;
    host.sockets = superchip ? sockets_of_superchips(device, devices) : sockets_of_boards(h, devices);
    host.cores = generation.cores * host.sockets / 2;
    host.memory = assumed(512 * GiB);
    host.memory_bandwidth = assumed(generation.memory * (host.sockets / 2.0));
    host.thread_speed = assumed(generation.thread_speed);
    host.socket_link = look_up(generation.socket_link, sources, report, "/hardware/gpu");
    report.assume("host as sold with this generation of devices: " + std::string(generation.cpu) + ", " + std::to_string(host.sockets) +
                  (host.sockets == 1 ? " socket" : " sockets"));
    return host;
}

LinkType host_link_of(const MeasuredHardware& h, const Device& device, const MeasurementSources& sources, RowReport& report) {
    std::string name = device.host_link;
    if (mentions(h.intra_node.as_stated, "PCIe 3") || mentions(h.intra_node.as_stated, "PCIe Gen3")) name = "PCIe gen3 x16";
    return look_up(name, sources, report, "/hardware/gpu");
}

std::string known_fabrics() {
    std::string words;
    std::string_view last;
    for (const NetworkPort& p : network_ports) {
        if (p.fabric != last) words += (words.empty() ? "" : ", ") + std::string(p.fabric);
        last = p.fabric;
    }
    return words;
}

void add_network(const MeasuredHardware& h, Cluster& cluster, const MeasurementSources& sources, RowReport& report) {
    const int devices = cluster.node.devices;
    const bool in_one_domain = h.intra_node.domain_gpus.value_or(0) >= h.nodes * devices;
    if (h.nodes == 1 && !h.inter_node) return;
    const double usual_gbit = generation_of(cluster.node.device).nic_gbit;
    // One port for each two devices, and for each since boards have switches for all of them.
    const int usual_nics = usual_gbit < 200 ? std::max(1, devices / 2) : devices;
    if (!h.inter_node)
        report.assume(in_one_domain ? "nodes of one NVLink domain; the network beside it, 400 Gbit/s InfiniBand, is not crossed"
                                    : "the row names no network: " + std::to_string(usual_nics) + " ports of " + number_text(usual_gbit) +
                                          " Gbit/s InfiniBand a node, as of the devices' years");
    const MeasuredInterNode n = h.inter_node.value_or(in_one_domain ? MeasuredInterNode{"infiniband", devices, 400}
                                                                    : MeasuredInterNode{"infiniband", usual_nics, usual_gbit});
    const double gbit = n.nic_gbit_per_s.value_or(100);
    const bool over_tcp = mentions(n.fabric, "tcp") && !mentions(n.fabric, "tcpx");
    const std::string fabric_words = over_tcp ? "ethernet" : n.fabric;
    const NetworkPort* best = nullptr;
    for (const NetworkPort& p : network_ports)
        if (mentions(fabric_words, p.fabric) && (!best || std::fabs(std::log(p.gbit / gbit)) < std::fabs(std::log(best->gbit / gbit))))
            best = &p;
    if (!best) {
        report.complain("/hardware/inter_node/fabric", "fabric \"" + n.fabric + "\" is not known here", "one of: " + known_fabrics());
        return;
    }
    if (!n.nic_gbit_per_s || !n.nics_per_node)
        report.assume("network not stated in full: one port of 100 Gbit/s where a number is missing");
    NodeSpec& node = cluster.node;
    node.nics = n.nics_per_node.value_or(1);
    node.nic_link = look_up(best->link, sources, report, "/hardware/inter_node");
    if (best->gbit != gbit) node.nic_link.bandwidth.value = gbit * Gbit / s;
    const bool ethernet = best->fabric == "ethernet";
    node.gpu_direct = !ethernet && !is_geforce_without_peers(h.gpu);

    FabricSpec& fabric = cluster.fabric;
    const bool rails = !ethernet && node.nics >= devices && devices > 1;
    fabric.kind = h.nodes <= 16 ? FabricKind::single_switch : rails ? FabricKind::rail_leaf_spine : FabricKind::leaf_spine;
    fabric.nodes_per_leaf = 16;
    fabric.switch_latency = {
        ethernet ? 600 * ns : 130 * ns, SourceKind::published,
        ethernet ? "makers' pages of cut-through switches, 300 to 800 ns" : "NVIDIA QM8790 product brief, below 130 ns"};
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
    report.complain(at, "link type \"" + std::string(name) + "\" is not in the catalogue");
    return {};
}

Cluster cluster_of(const MeasuredHardware& h, const MeasurementSources& sources, RowReport& report) {
    Cluster cluster;
    const auto device = sources.device(h.gpu);
    if (!device) {
        report.complain("/hardware/gpu",
                        h.gpu.empty() ? "the row does not say which device it ran on" : "device \"" + h.gpu + "\" is not in the catalogue",
                        "`sextant profiles list` names the devices");
        return cluster;
    }
    NodeSpec& node = cluster.node;
    cluster.name = h.system;
    cluster.title = h.system.empty() ? std::to_string(h.gpus) + " x " + h.gpu : h.system;
    cluster.nodes = h.nodes;
    node.device = *device;
    const int used = h.gpus_used_per_node.value_or((h.gpus + h.nodes - 1) / h.nodes);
    node.devices = std::max(used, h.gpus_per_node.value_or(used));
    node.peers = peers_of(h, *device, node.devices, sources, report);
    node.peer_access = peer_access_of(h, report);
    node.host = host_of(h, *device, node.devices, sources, report);
    node.host_link = host_link_of(h, *device, sources, report);
    // Boards of eight and more have PCIe switches, each over two devices and a NIC (DGX-1, DGX A100 and DGX H100 user guides); so has a K80
    // card.
    node.devices_per_switch = node.devices >= 8 || mentions(h.gpu, "K80") ? std::min(2, node.devices) : 1;
    add_network(h, cluster, sources, report);
    add_known(h, node, sources, report);
    for (const std::string& field : h.assumed) report.assume("hardware." + field + " is not stated by the source");
    return cluster;
}

}  // namespace sextant
