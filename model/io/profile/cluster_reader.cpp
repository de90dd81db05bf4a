// Reads cluster profiles ("cluster/1"): a node, how its devices reach each other, and the fabric between nodes.
#include "model/io/profile/fingerprint.hpp"
#include "model/io/profile/profile_fields.hpp"
#include "model/io/profile/profile_json.hpp"
#include "model/io/profile/profile_reader.hpp"
#include "model/io/profile/profile_words.hpp"

#include <nlohmann/json.hpp>

namespace sextant {
namespace {

// Link counts for every pair of the node's devices: square, symmetric, nothing to itself, some link at all.
void read_link_count(ObjectReader& r, int devices, std::vector<std::vector<int>>& matrix) {
    const JsonNode n = r.need("link_count", "one row per device, one number of links per pair");
    if (!n.value) return;
    for (const JsonNode& row : n.elements()) {
        std::vector<int> counts;
        for (const JsonNode& e : row.elements()) {
            int links = 0;
            if (!read_value(e, links, Bounds{0, 64})) return;
            counts.push_back(links);
        }
        if (std::ssize(counts) != devices)
            return row.complain("a row of " + std::to_string(counts.size()) + " numbers for " + std::to_string(devices) + " devices");
        matrix.push_back(std::move(counts));
    }
    if (std::ssize(matrix) != devices)
        return n.complain(std::to_string(matrix.size()) + " rows for " + std::to_string(devices) + " devices", "one row per device");
    bool any = false;
    for (int a = 0; a < devices; ++a) {
        if (matrix[a][a] != 0) n.complain("device " + std::to_string(a) + " has links to itself", "the diagonal is zero");
        for (int b = 0; b < a; ++b) {
            any = any || matrix[a][b] > 0;
            if (matrix[a][b] != matrix[b][a])
                n.complain("not symmetric: " + std::to_string(matrix[b][a]) + " links from " + std::to_string(b) + " to " +
                           std::to_string(a) + ", " + std::to_string(matrix[a][b]) + " back");
        }
    }
    if (!any) n.complain("no links at all", "leave `peers` out when devices reach each other over PCIe only");
}

void read_peers(const JsonNode& n, Catalog& catalog, int devices, PeerFabric& peers) {
    if (!n.value) return;
    ObjectReader r(n);
    r.required_word("layout", peers.layout, peer_layout_words);
    if (peers.layout == PeerLayout::none) return;
    read_link_reference(r.need("link", "the link between two devices; crossbar: the whole port of a device"), catalog, peers.link);
    r.optional("links", peers.links, Bounds{1, 64});
    if (peers.layout == PeerLayout::matrix) read_link_count(r, devices, peers.link_count);
    r.optional("in_switch_reduction", peers.in_switch_reduction);
    r.optional("domain", peers.domain, Bounds{1, 100000});
    if (peers.in_switch_reduction && peers.layout != PeerLayout::crossbar)
        r.get("in_switch_reduction").complain("only a crossbar has a switch that can add");
    if (peers.domain && peers.layout != PeerLayout::crossbar) r.get("domain").complain("only a crossbar has a domain");
    if (peers.domain % devices != 0)
        r.get("domain").complain(std::to_string(peers.domain) + " devices are no whole number of nodes of " + std::to_string(devices));
    if (peers.layout == PeerLayout::pairs && devices % 2 != 0) r.get("layout").complain("pairs need an even number of devices");
}

void read_host(const JsonNode& n, Catalog& catalog, const Provenance& outer, HostSpec& host) {
    if (!n.value) return;
    ObjectReader r(n);
    read_default_source(r, outer);
    r.optional("cpu", host.cpu);
    r.optional("sockets", host.sockets, Bounds{1, 64});
    r.required("cores", host.cores, Bounds{1, 100000});
    r.read(r.need("memory", "as in \"512 GiB\""), host.memory, plausible::memory);
    host.memory_bandwidth = {Bandwidth::from_si(100e9) * host.sockets, SourceKind::estimated, "100 GB/s per socket"};
    r.optional("memory_bandwidth", host.memory_bandwidth, plausible::bandwidth);
    host.thread_speed = {1.0, SourceKind::estimated, "a server core of 2020"};
    r.optional("thread_speed", host.thread_speed, Bounds{0.01, 100});
    read_sample_speeds(r.get("samples"), r.default_source(), host.samples);
    r.optional("turn", host.turn, plausible::latency);
    const JsonNode socket_link = r.get("socket_link");
    if (socket_link.value)
        read_link_reference(socket_link, catalog, host.socket_link);
    else if (host.sockets > 1)
        r.need("socket_link", "the link between sockets; `sextant profiles list` names those known");
    if (host.cores < host.sockets) r.get("cores").complain("fewer cores than sockets");
}

void read_network(ObjectReader& r, Catalog& catalog, NodeSpec& node) {
    r.optional("nics", node.nics, Bounds{0, 1024});
    const JsonNode link = r.get("nic_link");
    if (node.nics > 0 && !link.value) r.need("nic_link", "the link of one network adapter");
    if (link.value) read_link_reference(link, catalog, node.nic_link);
    r.optional("gpu_direct", node.gpu_direct);
    r.optional("gpu_direct_bandwidth", node.gpu_direct_bandwidth, plausible::bandwidth);
    if (const JsonNode ethernet = r.get("ethernet"); ethernet.value) {
        LinkType slow;
        slow.category = LinkCategory::ethernet;
        if (read_link_reference(ethernet, catalog, slow)) node.ethernet = std::move(slow);
    }
}

void read_node(const JsonNode& n, Catalog& catalog, const Provenance& outer, NodeSpec& node) {
    if (!n.value) return;
    ObjectReader r(n);
    read_default_source(r, outer);
    read_device_reference(r.need("device", "a name from `sextant profiles list`, a file, or a device as an object"), catalog, node.device);
    r.required("devices", node.devices, plausible::devices_of_node);
    read_peers(r.get("peers"), catalog, node.devices, node.peers);
    const JsonNode host_link = r.get("host_link");
    if (host_link.value)
        read_link_reference(host_link, catalog, node.host_link);
    else if (const LinkType* usual = node.device.host_link.empty() ? nullptr : find_link(catalog, node.device.host_link, *n.diagnostics))
        node.host_link = *usual;
    r.optional("devices_per_switch", node.devices_per_switch, plausible::devices_of_node);
    if (node.devices % node.devices_per_switch != 0)
        r.get("devices_per_switch")
            .complain(std::to_string(node.devices_per_switch) + " does not divide the node's " + std::to_string(node.devices) + " devices");
    r.optional("peer_access", node.peer_access);
    read_host(r.need("host", "at least {\"cores\": ..., \"memory\": ...}"), catalog, r.default_source(), node.host);
    read_network(r, catalog, node);
    if (const JsonNode local = r.get("local_storage"); local.value) {
        StorageClass storage;
        if (read_storage_reference(local, catalog, storage)) node.local_storage = std::move(storage);
    }
    node.base_power = {Watts::from_si(200.0 + 100.0 * node.devices), SourceKind::estimated, "200 W and 100 W per device"};
    r.optional("base_power", node.base_power, plausible::power);
    r.optional("price", node.price, plausible::price);
}

// Each as its users call it: a storage class, or "local", the disk of each node.
void read_file_systems(const JsonNode& n, Catalog& catalog, Cluster& c) {
    if (n.value && !n.is_object()) return n.complain("expected an object", R"(as in {"scratch": "Parallel file system, typical"})");
    for (const auto& [called, system] : n.members()) {
        StorageClass storage;
        if (system.is_string() && *system.value == "local") {
            if (c.node.local_storage)
                c.file_systems[called] = *c.node.local_storage;
            else
                system.complain("the nodes have no local disk", "state node.local_storage");
        } else if (read_storage_reference(system, catalog, storage)) {
            c.file_systems[called] = std::move(storage);
        }
    }
}

void read_local_storage_nodes(ObjectReader& r, Cluster& c) {
    if (r.optional("local_storage_nodes", c.local_storage_nodes, Bounds{1, 1e6}) && !c.node.local_storage)
        r.get("local_storage_nodes").complain("node.local_storage is missing", "the disk that these nodes have");
}

void read_slurm(const JsonNode& n, SchedulerNames& names) {
    if (!n.value) return;
    ObjectReader r(n);
    r.optional("partition", names.partition);
    r.optional("local_disk_constraint", names.local_disk_constraint);
}

void read_fabric(const JsonNode& n, const Provenance& outer, FabricSpec& fabric) {
    if (!n.value) return;
    ObjectReader r(n);
    read_default_source(r, outer);
    r.required_word("layout", fabric.kind, fabric_kind_words);
    r.optional("nodes_per_leaf", fabric.nodes_per_leaf, Bounds{1, 100000});
    const bool leaves =
        fabric.kind == FabricKind::leaf_spine || fabric.kind == FabricKind::rail_leaf_spine || fabric.kind == FabricKind::dragonfly;
    if (leaves && !r.has("nodes_per_leaf")) r.need("nodes_per_leaf", "nodes whose adapters meet at one leaf switch");
    r.optional("oversubscription", fabric.oversubscription, Bounds{1, 1000});
    fabric.switch_latency = {Seconds::from_si(0.3e-6), SourceKind::estimated, "typical of a switch"};
    r.optional("switch_latency", fabric.switch_latency, plausible::latency);
    r.optional("in_switch_reduction", fabric.in_switch_reduction);
}

constexpr Bounds spread{0, 100}, seconds{0, 1e9};

void read_term(const JsonNode& n, std::vector<CalibratedTerm>& terms) {
    ObjectReader r(n);
    CalibratedTerm& t = terms.emplace_back();
    r.required("of", t.of);
    r.required("name", t.name);
    r.required("measured_s", t.measured, InSi{seconds});
    r.required("predicted_s", t.predicted, InSi{seconds});
    r.required("noise", t.noise, spread);
    r.optional("size_bytes", t.size, InSi{{0, 1e18}});
    r.optional("left_out", t.left_out);
}

void read_number(const JsonNode& n, std::vector<CalibratedNumber>& numbers) {
    ObjectReader r(n);
    CalibratedNumber& c = numbers.emplace_back();
    r.required("owner", c.owner);
    r.required("name", c.name);
    r.required("before", c.before);
    r.required("after", c.after);
    r.required("spread_before", c.spread_before, spread);
    r.required("spread", c.spread, spread);
}

void read_calibration(const JsonNode& n, const JsonNode& profile, std::optional<CalibrationStamp>& out) {
    if (!n.value) return;
    ObjectReader r(n);
    CalibrationStamp stamp;
    r.required("host", stamp.host);
    r.required("processor", stamp.processor);
    r.required("date", stamp.date);
    r.required("runs", stamp.runs, Bounds{1, 1e6});
    r.required("noise", stamp.noise, spread);
    r.required("median_error", stamp.median_error, Bounds{0, 1e6});
    r.each("numbers", [&](const JsonNode& e) { read_number(e, stamp.numbers); });
    r.each("terms", [&](const JsonNode& e) { read_term(e, stamp.terms); });
    if (r.optional("fingerprint", stamp.fingerprint)) stamp.edited = stamp.fingerprint != fingerprint_of(*profile.value);
    out = std::move(stamp);
}

void read_cluster_fields(ObjectReader& r, Catalog& catalog, Cluster& c) {
    r.schema("cluster/1");
    r.required("name", c.name);
    c.title = c.name;
    r.optional("title", c.title);
    r.optional("aliases", c.aliases);
    r.optional("nodes", c.nodes, Bounds{1, 1e6});
    read_node(r.need("node"), catalog, r.default_source(), c.node);
    read_fabric(r.get("fabric"), r.default_source(), c.fabric);
    if (c.nodes > 1 && c.node.nics == 0)
        r.get("nodes").complain(std::to_string(c.nodes) + " nodes without network adapters", "state node.nics and node.nic_link");
    if (c.nodes > 1 && c.fabric.kind == FabricKind::none)
        r.need("fabric", "how the nodes are connected, as in {\"layout\": \"single_switch\"}");
    r.each("shared_storage", [&](const JsonNode& s) {
        StorageClass storage;
        if (read_storage_reference(s, catalog, storage)) c.shared_storage.push_back(std::move(storage));
    });
    read_file_systems(r.get("file_systems"), catalog, c);
    read_local_storage_nodes(r, c);
    read_slurm(r.get("slurm"), c.slurm);
    if (const JsonNode library = r.get("library"); library.value) {
        CommunicationLibrary measured;
        if (read_library(library, measured)) c.library = std::move(measured);
    }
    read_calibration(r.get("calibration"), r.node(), c.calibration);
    r.optional("assumptions", c.assumptions);
    r.optional("notes", c.notes);
}

}  // namespace

bool read_cluster(const JsonNode& n, Catalog& catalog, Cluster& out) {
    return read_whole(n, {}, out, [&](ObjectReader& r, Cluster& c) { read_cluster_fields(r, catalog, c); });
}

// The base is written out, with the source of each number, so that a changed one does not take over its source.
bool read_changed_cluster(const JsonNode& n, Catalog& catalog, Cluster& out) {
    Cluster base;
    if (!read_cluster_reference(n.child("base"), catalog, base)) return false;
    nlohmann::json changes = *n.value, whole = with_schema("cluster/1", json_of(base, ProfileForm::profile));
    changes.erase("base");
    const JsonNode node = n.child("node");
    const bool other_device = node.is_object() && node.child("device").value;
    if (other_device) whole["node"].erase("device");  // as a whole: hardware.device says what a device has otherwise
    whole.merge_patch(changes);
    if (!read_cluster({&whole, n.file, n.pointer, n.diagnostics}, catalog, out)) return false;
    if (!other_device) out.node.device = std::move(base.node.device);  // its measured products are not in what was written
    return true;
}

}  // namespace sextant
