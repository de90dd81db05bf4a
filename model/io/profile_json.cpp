#include "model/io/profile_writer.hpp"

#include "model/io/profile_words.hpp"

#include <nlohmann/json.hpp>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

double plain(double number) { return number; }
template <int B, int F, int S, int J, int M>
double plain(Quantity<B, F, S, J, M> q) {
    return q.si();
}

template <class T>
Json number(const Sourced<T>& n) {
    return {{"value", plain(n.value)}, {"kind", to_text(n.kind)}, {"source", n.source}};
}
template <class T>
void add(Json& out, const char* key, const Sourced<T>& n) {
    out[key] = number(n);
}
template <class T>
void add(Json& out, const char* key, const std::optional<Sourced<T>>& n) {
    if (n) out[key] = number(*n);
}

Json json_of(const LinkType& link) {
    Json out = {{"name", link.name}, {"category", word(link.category)}};
    add(out, "bandwidth_bytes_per_s", link.bandwidth);
    add(out, "achievable_fraction", link.achievable);
    add(out, "latency_s", link.latency);
    return out;
}

Json json_of(const StorageClass& s) {
    Json out = {{"name", s.name}, {"type", word(s.kind)}, {"shared", s.shared}};
    add(out, "open_latency_s", s.open_latency);
    add(out, "seek_latency_s", s.seek_latency);
    add(out, "read_bytes_per_s", s.read_bandwidth);
    add(out, "write_bytes_per_s", s.write_bandwidth);
    add(out, "random_reads_per_s", s.random_read_rate);
    add(out, "metadata_operations_per_s", s.metadata_rate);
    add(out, "client_read_bytes_per_s", s.client_read_bandwidth);
    add(out, "client_write_bytes_per_s", s.client_write_bandwidth);
    add(out, "total_read_bytes_per_s", s.total_read_bandwidth);
    add(out, "total_write_bytes_per_s", s.total_write_bandwidth);
    add(out, "retention_s", s.retention);
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
    add(out, "memory_bytes", host.memory);
    add(out, "memory_bandwidth_bytes_per_s", host.memory_bandwidth);
    add(out, "thread_speed", host.thread_speed);
    if (host.sockets > 1) out["socket_link"] = json_of(host.socket_link);
    return out;
}

Json json_of(const NodeSpec& node) {
    Json out = {{"device", node.device.name},
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
    add(out, "base_power_w", node.base_power);
    add(out, "price_usd_per_s", node.price);
    return out;
}

Json json_of(const FabricSpec& fabric) {
    Json out = {{"layout", word(fabric.kind)}};
    if (fabric.kind == FabricKind::none) return out;
    out["nodes_per_leaf"] = fabric.nodes_per_leaf;
    out["oversubscription"] = fabric.oversubscription;
    add(out, "switch_latency_s", fabric.switch_latency);
    out["in_switch_reduction"] = fabric.in_switch_reduction;
    return out;
}

std::string text(const char* schema, Json&& body) {
    Json out = {{"schema", schema}};
    out.update(body);
    return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string profile_to_json(const Device& d) {
    Json out = {{"name", d.name},
                {"aliases", d.aliases},
                {"type", word(d.kind)},
                {"vendor", d.vendor},
                {"architecture", d.architecture},
                {"compute_capability", d.compute_capability},
                {"multiprocessors", d.multiprocessors}};
    add(out, "clock_hz", d.clock);
    add(out, "sustained_clock", d.sustained_clock);
    add(out, "memory_bytes", d.memory);
    add(out, "usable_memory_bytes", d.usable_memory);
    add(out, "memory_bandwidth_bytes_per_s", d.memory_bandwidth);
    add(out, "stream_fraction", d.stream_fraction);
    add(out, "l2_bytes", d.l2);
    out["peaks"] = Json::array();
    for (const PeakRate& p : d.peaks) {
        Json peak = {{"input", to_text(p.input)},
                     {"accumulate", to_text(p.accumulate)},
                     {"unit", p.unit == ComputeUnit::tensor ? "tensor" : "vector"},
                     {"operations_per_s", number(p.rate)}};
        add(peak, "achievable_fraction", p.achievable);
        out["peaks"].push_back(std::move(peak));
    }
    add(out, "kernel_overhead_s", d.kernel_overhead);
    add(out, "graph_kernel_overhead_s", d.graph_kernel_overhead);
    out["host_link"] = d.host_link;
    add(out, "power_w", d.power);
    add(out, "idle_power_w", d.idle_power);
    add(out, "price_usd_per_s", d.price);
    out["gemm_curves"] = d.gemm_curves.size();
    out["notes"] = d.notes;
    return text("device-facts/1", std::move(out));
}

std::string profile_to_json(const Cluster& c) {
    Json out = {{"name", c.name},   {"title", c.title},        {"aliases", c.aliases},
                {"nodes", c.nodes}, {"node", json_of(c.node)}, {"fabric", json_of(c.fabric)}};
    out["shared_storage"] = Json::array();
    for (const StorageClass& s : c.shared_storage) out["shared_storage"].push_back(json_of(s));
    out["assumptions"] = c.assumptions;
    out["notes"] = c.notes;
    return text("cluster-facts/1", std::move(out));
}

std::string profile_to_json(const LinkType& link) {
    Json out = json_of(link);
    out["notes"] = link.notes;
    return text("link-facts/1", std::move(out));
}

std::string profile_to_json(const StorageClass& storage) {
    Json out = json_of(storage);
    out["notes"] = storage.notes;
    return text("storage-facts/1", std::move(out));
}

std::string profile_to_json(const CommunicationLibrary& library) {
    const auto steps = [](const Sourced<Seconds>(&s)[3]) {
        return Json{{"nvlink", number(s[0])}, {"pcie", number(s[1])}, {"network", number(s[2])}};
    };
    Json out = {{"name", library.name},
                {"aliases", library.aliases},
                {"tree", library.tree},
                {"tree_bandwidth_fraction", number(library.tree_bandwidth_fraction)},
                {"in_switch_reduction", library.in_switch_reduction},
                {"host_staged", library.host_staging.has_value()},
                {"sockets_only", library.sockets_only},
                {"protocols", Json::array()},
                {"notes", library.notes}};
    for (const Protocol& p : library.protocols) {
        Json protocol = {{"name", p.name},
                         {"bandwidth_fraction", number(p.bandwidth_fraction)},
                         {"ring_step_s", steps(p.ring_step)},
                         {"tree_step_s", steps(p.tree_step)},
                         {"base_s", number(p.base)}};
        if (p.up_to) protocol["up_to_bytes"] = p.up_to->si();
        out["protocols"].push_back(std::move(protocol));
    }
    return text("library-facts/1", std::move(out));
}

std::string profile_to_json(const ReferenceLatencies& table) {
    Json out = {{"title", table.title},
                {"columns", table.columns},
                {"source", table.source},
                {"cpu_clock_hz", table.cpu_clock.si()},
                {"rows", Json::array()}};
    for (const auto& r : table.rows) {
        Json row = {{"what", r.what},
                    {"time", r.time},
                    {"instructions", r.instructions},
                    {"low_s", r.low.si()},
                    {"high_s", r.high.si()},
                    {"instructions_low", r.instructions_low},
                    {"instructions_high", r.instructions_high}};
        if (!r.erratum.empty()) row["erratum"] = r.erratum;
        out["rows"].push_back(std::move(row));
    }
    return text("latency-facts/1", std::move(out));
}

std::string profile_list_to_json(Catalog& catalog) {
    Json out;
    for (const NamesOfKind& kind : all_names(catalog)) out[kind.kind] = kind.names;
    return text("profile-list/1", std::move(out));
}

}  // namespace sextant
