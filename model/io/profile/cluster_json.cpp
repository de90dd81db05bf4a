// Clusters as JSON: their nodes, their fabric, and what they were calibrated to.
#include "model/io/profile/profile_json.hpp"
#include "model/io/profile/profile_words.hpp"

namespace sextant {
namespace {

ProfileJson json_of(const PeerFabric& peers, ProfileForm form) {
    ProfileObject w(form, {{"layout", word_of(peers.layout, peer_layout_words)}});
    if (peers.layout == PeerLayout::none) return w.take();
    w.put("link", json_of(peers.link, form));
    if (peers.layout == PeerLayout::matrix)
        w.put("link_count", peers.link_count);
    else
        w.put("links", peers.links);
    w.put("in_switch_reduction", peers.in_switch_reduction);
    if (peers.domain) w.put("domain", peers.domain);
    return w.take();
}

ProfileJson json_of(const HostSpec& host, ProfileForm form) {
    ProfileObject w(form, {{"cpu", host.cpu}, {"sockets", host.sockets}, {"cores", host.cores}});
    w.number({"memory", "memory_bytes"}, host.memory);
    w.number({"memory_bandwidth", "memory_bandwidth_bytes_per_s"}, host.memory_bandwidth);
    w.number({"thread_speed", "thread_speed"}, host.thread_speed);
    if (ProfileJson samples = json_of(host.samples, form); !samples.empty()) w.put("samples", std::move(samples));
    w.number({"turn", "turn_s"}, host.turn);
    if (host.sockets > 1) w.put("socket_link", json_of(host.socket_link, form));
    return w.take();
}

ProfileJson json_of(const NodeSpec& node, ProfileForm form) {
    ProfileObject w(form);
    w.put("device", form == ProfileForm::facts ? ProfileJson(node.device.name) : with_schema("device/1", json_of(node.device, form)));
    w.put("devices", node.devices);
    w.put("peers", json_of(node.peers, form));
    w.put("host_link", json_of(node.host_link, form));
    w.put("devices_per_switch", node.devices_per_switch);
    w.put("peer_access", node.peer_access);
    w.put("host", json_of(node.host, form));
    w.put("nics", node.nics);
    if (node.nics > 0) w.put("nic_link", json_of(node.nic_link, form));
    w.put("gpu_direct", node.gpu_direct);
    w.number({"gpu_direct_bandwidth", "gpu_direct_bandwidth_bytes_per_s"}, node.gpu_direct_bandwidth);
    if (node.ethernet) w.put("ethernet", json_of(*node.ethernet, form));
    if (node.local_storage) w.put("local_storage", json_of(*node.local_storage, form));
    w.known({"base_power", "base_power_w"}, node.base_power);
    w.number({"price", "price_usd_per_s"}, node.price);
    return w.take();
}

ProfileJson json_of(const FabricSpec& fabric, ProfileForm form) {
    ProfileObject w(form, {{"layout", word_of(fabric.kind, fabric_kind_words)}});
    if (fabric.kind == FabricKind::none) return w.take();
    if (w.facts() || fabric.nodes_per_leaf > 0) w.put("nodes_per_leaf", fabric.nodes_per_leaf);
    w.put("oversubscription", fabric.oversubscription);
    w.number({"switch_latency", "switch_latency_s"}, fabric.switch_latency);
    w.put("in_switch_reduction", fabric.in_switch_reduction);
    return w.take();
}

ProfileJson json_of(const CalibratedNumber& n) {
    return {{"owner", n.owner},  {"name", n.name}, {"before", n.before}, {"after", n.after}, {"spread_before", n.spread_before},
            {"spread", n.spread}};
}

ProfileJson json_of(const CalibratedTerm& t) {
    ProfileJson json = {
        {"of", t.of}, {"name", t.name}, {"measured_s", t.measured.si()}, {"predicted_s", t.predicted.si()}, {"noise", t.noise}};
    if (t.size) json["size_bytes"] = t.size->si();
    if (t.left_out) json["left_out"] = true;
    return json;
}

ProfileJson json_of(const CalibrationStamp& c) {
    ProfileJson json = {{"host", c.host},
                        {"processor", c.processor},
                        {"date", c.date},
                        {"runs", c.runs},
                        {"noise", c.noise},
                        {"median_error", c.median_error},
                        {"numbers", ProfileJson::array()},
                        {"terms", ProfileJson::array()}};
    for (const CalibratedNumber& n : c.numbers) json["numbers"].push_back(json_of(n));
    for (const CalibratedTerm& t : c.terms) json["terms"].push_back(json_of(t));
    if (!c.fingerprint.empty()) json["fingerprint"] = c.fingerprint;
    return json;
}

}  // namespace

ProfileJson json_of(const Cluster& c, ProfileForm form) {
    ProfileObject w(form, {{"name", c.name}, {"title", c.title}, {"aliases", c.aliases}, {"nodes", c.nodes}});
    w.put("node", json_of(c.node, form));
    w.put("fabric", json_of(c.fabric, form));
    ProfileJson storage = ProfileJson::array();
    for (const StorageClass& s : c.shared_storage) storage.push_back(json_of(s, form));
    w.put("shared_storage", std::move(storage));
    ProfileJson systems = ProfileJson::object();
    for (const auto& [called, s] : c.file_systems) systems[called] = json_of(s, form);
    if (!systems.empty()) w.put("file_systems", std::move(systems));
    if (c.local_storage_nodes) w.put("local_storage_nodes", *c.local_storage_nodes);
    ProfileJson slurm = ProfileJson::object();
    if (!c.slurm.partition.empty()) slurm["partition"] = c.slurm.partition;
    if (!c.slurm.local_disk_constraint.empty()) slurm["local_disk_constraint"] = c.slurm.local_disk_constraint;
    if (!slurm.empty()) w.put("slurm", std::move(slurm));
    if (c.library) w.put("library", with_schema("library/1", json_of(*c.library, form)));
    if (c.calibration) w.put("calibration", json_of(*c.calibration));
    w.put("assumptions", c.assumptions);
    w.text("notes", c.notes);
    return w.take();
}

}  // namespace sextant
