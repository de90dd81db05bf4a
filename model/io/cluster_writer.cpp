#include "model/io/cluster_writer.hpp"

#include "model/base/quantity_text.hpp"
#include "model/io/profile_words.hpp"

#include <nlohmann/json.hpp>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

constexpr int digits = 9;

double text_of(double number) { return number; }
template <int B, int F, int S, int J, int M>
std::string text_of(Quantity<B, F, S, J, M> q) {
    return to_text(q, digits);
}

template <class T>
void add(Json& out, const char* key, const Sourced<T>& n) {
    out[key] = {{"value", text_of(n.value)}, {"kind", to_text(n.kind)}, {"source", n.source}};
}
template <class T>
void add(Json& out, const char* key, const std::optional<Sourced<T>>& n) {
    if (n) add(out, key, *n);
}
// Zero is not known.
template <class T>
void add_known(Json& out, const char* key, const Sourced<T>& n) {
    if (n.value != T{}) add(out, key, n);
}
void add_text(Json& out, const char* key, const std::string& text) {
    if (!text.empty()) out[key] = text;
}

Json json_of(const LinkType& link) {
    Json out = {{"name", link.name}, {"category", word(link.category)}};
    add(out, "bandwidth", link.bandwidth);
    add(out, "achievable", link.achievable);
    add(out, "latency", link.latency);
    add_text(out, "notes", link.notes);
    return out;
}

Json json_of(const StorageClass& s) {
    Json out = {{"name", s.name}, {"type", word(s.kind)}, {"shared", s.shared}};
    add(out, "open_latency", s.open_latency);
    add(out, "seek_latency", s.seek_latency);
    add(out, "read_bandwidth", s.read_bandwidth);
    add(out, "write_bandwidth", s.write_bandwidth);
    add(out, "random_read_rate", s.random_read_rate);
    add(out, "metadata_rate", s.metadata_rate);
    add(out, "client_read_bandwidth", s.client_read_bandwidth);
    add(out, "client_write_bandwidth", s.client_write_bandwidth);
    add(out, "total_read_bandwidth", s.total_read_bandwidth);
    add(out, "total_write_bandwidth", s.total_write_bandwidth);
    if (s.backed_up) out["backed_up"] = *s.backed_up;
    add(out, "retention", s.retention);
    add_text(out, "notes", s.notes);
    return out;
}

Json json_of(const Device& d) {
    Json out = {{"schema", "device/1"}, {"name", d.name}, {"aliases", d.aliases}, {"type", word(d.kind)}};
    add_text(out, "vendor", d.vendor);
    add_text(out, "architecture", d.architecture);
    add_text(out, "compute_capability", d.compute_capability);
    if (d.multiprocessors > 0) out["multiprocessors"] = d.multiprocessors;
    add_known(out, "clock", d.clock);
    add(out, "sustained_clock", d.sustained_clock);
    add(out, "memory", d.memory);
    add(out, "usable_memory", d.usable_memory);
    add(out, "memory_bandwidth", d.memory_bandwidth);
    add(out, "stream_fraction", d.stream_fraction);
    add(out, "attention_forward", d.attention_forward);
    add(out, "attention_backward", d.attention_backward);
    add_known(out, "l2", d.l2);
    for (const PeakRate& p : d.peaks) {
        Json peak = {{"input", to_text(p.input)},
                     {"accumulate", to_text(p.accumulate)},
                     {"unit", p.unit == ComputeUnit::tensor ? "tensor" : "vector"}};
        add(peak, "rate", p.rate);
        add(peak, "achievable", p.achievable);
        out["peaks"].push_back(std::move(peak));
    }
    add(out, "kernel_overhead", d.kernel_overhead);
    add(out, "graph_kernel_overhead", d.graph_kernel_overhead);
    add_text(out, "host_link", d.host_link);
    add_known(out, "power", d.power);
    add_known(out, "idle_power", d.idle_power);
    add(out, "price", d.price);
    add_text(out, "notes", d.notes);
    return out;
}

Json json_of(const PeerFabric& peers) {
    Json out = {{"layout", word(peers.layout)}};
    if (peers.layout == PeerLayout::none) return out;
    out["link"] = json_of(peers.link);
    if (peers.layout == PeerLayout::matrix)
        out["link_count"] = peers.link_count;
    else
        out["links"] = peers.links;
    out["in_switch_reduction"] = peers.in_switch_reduction;
    if (peers.domain) out["domain"] = peers.domain;
    return out;
}

Json json_of(const HostSpec& host) {
    Json out = {{"cpu", host.cpu}, {"sockets", host.sockets}, {"cores", host.cores}};
    add(out, "memory", host.memory);
    add(out, "memory_bandwidth", host.memory_bandwidth);
    add(out, "thread_speed", host.thread_speed);
    if (host.sockets > 1) out["socket_link"] = json_of(host.socket_link);
    return out;
}

Json json_of(const NodeSpec& node) {
    Json out = {{"device", json_of(node.device)},
                {"devices", node.devices},
                {"peers", json_of(node.peers)},
                {"host_link", json_of(node.host_link)},
                {"devices_per_switch", node.devices_per_switch},
                {"peer_access", node.peer_access},
                {"host", json_of(node.host)},
                {"nics", node.nics}};
    if (node.nics > 0) out["nic_link"] = json_of(node.nic_link);
    out["gpu_direct"] = node.gpu_direct;
    if (node.ethernet) out["ethernet"] = json_of(*node.ethernet);
    if (node.local_storage) out["local_storage"] = json_of(*node.local_storage);
    add(out, "base_power", node.base_power);
    add(out, "price", node.price);
    return out;
}

Json json_of(const FabricSpec& fabric) {
    Json out = {{"layout", word(fabric.kind)}};
    if (fabric.nodes_per_leaf > 0) out["nodes_per_leaf"] = fabric.nodes_per_leaf;
    out["oversubscription"] = fabric.oversubscription;
    add(out, "switch_latency", fabric.switch_latency);
    out["in_switch_reduction"] = fabric.in_switch_reduction;
    return out;
}

Json json_of(const Protocol& p) {
    const auto steps = [](const Sourced<Seconds>(&s)[3]) {
        Json list;
        add(list, "nvlink", s[static_cast<int>(Hop::nvlink)]);
        add(list, "pcie", s[static_cast<int>(Hop::pcie)]);
        add(list, "network", s[static_cast<int>(Hop::network)]);
        return list;
    };
    Json out = {{"name", p.name}};
    add(out, "bandwidth_fraction", p.bandwidth_fraction);
    out["ring_step"] = steps(p.ring_step);
    out["tree_step"] = steps(p.tree_step);
    add(out, "base", p.base);
    if (p.up_to) out["up_to"] = to_text(*p.up_to, digits);
    return out;
}

Json json_of(const CommunicationLibrary& l) {
    Json out = {{"schema", "library/1"}, {"name", l.name}, {"aliases", l.aliases}, {"protocols", Json::array()}};
    for (const Protocol& p : l.protocols) out["protocols"].push_back(json_of(p));
    out["tree"] = l.tree;
    add(out, "tree_bandwidth_fraction", l.tree_bandwidth_fraction);
    out["in_switch_reduction"] = l.in_switch_reduction;
    if (l.in_switch_reduction) add(out, "in_switch_bandwidth_fraction", l.in_switch_bandwidth_fraction);
    if (l.in_switch_reduction) add(out, "in_switch_step", l.in_switch_step);
    add(out, "host_reduction", l.host_reduction);
    add(out, "host_staging", l.host_staging);
    out["sockets_only"] = l.sockets_only;
    add_text(out, "notes", l.notes);
    return out;
}

Json json_of(const CalibrationStamp& c) {
    return {{"host", c.host}, {"processor", c.processor}, {"date", c.date},
            {"runs", c.runs}, {"noise", c.noise},         {"median_error", c.median_error}};
}

}  // namespace

std::string cluster_to_profile(const Cluster& c) {
    Json out = {{"schema", "cluster/1"}, {"name", c.name}, {"title", c.title}, {"aliases", c.aliases}, {"nodes", c.nodes}};
    out["node"] = json_of(c.node);
    out["fabric"] = json_of(c.fabric);
    for (const StorageClass& s : c.shared_storage) out["shared_storage"].push_back(json_of(s));
    if (c.library) out["library"] = json_of(*c.library);
    if (c.calibration) out["calibration"] = json_of(*c.calibration);
    out["assumptions"] = c.assumptions;
    add_text(out, "notes", c.notes);
    return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sextant
