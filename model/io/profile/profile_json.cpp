#include "model/io/profile/profile_writer.hpp"

#include "model/io/format/json_text.hpp"
#include "model/io/profile/fingerprint.hpp"
#include "model/io/profile/profile_words.hpp"
#include "model/io/profile/sourced_json.hpp"

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

// Facts are for programs: SI numbers with the unit in the key. A profile reads back: quantities as people write them, and no more than is
// known.
enum class Form { facts, profile };
struct Key {
    const char *profile, *facts;
};

Json value_of(double number, Form) { return number; }
template <int B, int F, int S, int J, int M>
Json value_of(Quantity<B, F, S, J, M> q, Form form) {
    return form == Form::facts ? Json(q.si()) : profile_value(q);
}

// An object in the making.
class Writer {
public:
    explicit Writer(Form form, Json start = Json::object()) : form_(form), out_(std::move(start)) {}

    template <class T>
    void number(Key key, const Sourced<T>& n) {
        out_[form_ == Form::facts ? key.facts : key.profile] = sourced_json(n, value_of(n.value, form_));
    }
    template <class T>
    void number(Key key, const std::optional<Sourced<T>>& n) {
        if (n) number(key, *n);
    }
    // Zero is not known.
    template <class T>
    void known(Key key, const Sourced<T>& n) {
        if (form_ == Form::facts || n.value != T{}) number(key, n);
    }
    void text(const char* key, const std::string& text) {
        if (form_ == Form::facts || !text.empty()) out_[key] = text;
    }
    void put(const char* key, Json value) { out_[key] = std::move(value); }
    [[nodiscard]] bool facts() const { return form_ == Form::facts; }
    [[nodiscard]] Form form() const { return form_; }
    Json take() { return std::move(out_); }

private:
    Form form_;
    Json out_;
};

Json with_schema(const char* schema, Json&& body) {
    Json out = {{"schema", schema}};
    out.update(body);
    return out;
}

Json json_of(const LinkType& link, Form form) {
    Writer w(form, {{"name", link.name}, {"category", word_of(link.category, link_category_words)}});
    w.number({"bandwidth", "bandwidth_bytes_per_s"}, link.bandwidth);
    w.number({"achievable", "achievable_fraction"}, link.achievable);
    w.number({"latency", "latency_s"}, link.latency);
    if (!link.ordered) w.put("ordered", false);
    w.number({"eager_limit", "eager_limit_bytes"}, link.eager_limit);
    if (!w.facts()) w.text("notes", link.notes);
    return w.take();
}

Json json_of(const StorageClass& s, Form form) {
    Writer w(form, {{"name", s.name}, {"type", word_of(s.kind, storage_kind_words)}, {"shared", s.shared}});
    w.number({"open_latency", "open_latency_s"}, s.open_latency);
    w.number({"seek_latency", "seek_latency_s"}, s.seek_latency);
    w.number({"create_latency", "create_latency_s"}, s.create_latency);
    w.number({"remove_latency", "remove_latency_s"}, s.remove_latency);
    w.number({"remove_unwritten_latency", "remove_unwritten_latency_s"}, s.remove_unwritten_latency);
    w.number({"read_bandwidth", "read_bytes_per_s"}, s.read_bandwidth);
    w.number({"write_bandwidth", "write_bytes_per_s"}, s.write_bandwidth);
    w.number({"random_read_bandwidth", "random_read_bytes_per_s"}, s.random_read_bandwidth);
    w.number({"read_ahead", "read_ahead_bytes"}, s.read_ahead);
    w.number({"random_read_rate", "random_reads_per_s"}, s.random_read_rate);
    w.number({"metadata_rate", "metadata_operations_per_s"}, s.metadata_rate);
    w.number({"client_read_bandwidth", "client_read_bytes_per_s"}, s.client_read_bandwidth);
    w.number({"client_write_bandwidth", "client_write_bytes_per_s"}, s.client_write_bandwidth);
    w.number({"total_read_bandwidth", "total_read_bytes_per_s"}, s.total_read_bandwidth);
    w.number({"total_write_bandwidth", "total_write_bytes_per_s"}, s.total_write_bandwidth);
    w.number({"capacity", "capacity_bytes"}, s.capacity);
    if (s.backed_up) w.put("backed_up", *s.backed_up);
    if (s.read_only) w.put("read_only", true);
    w.number({"retention", "retention_s"}, s.retention);
    if (!w.facts()) w.text("notes", s.notes);
    return w.take();
}

Json json_of(const Device& d, Form form) {
    Writer w(form, {{"name", d.name}, {"aliases", d.aliases}, {"type", word_of(d.kind, device_kind_words)}});
    w.text("vendor", d.vendor);
    w.text("architecture", d.architecture);
    w.text("compute_capability", d.compute_capability);
    if (w.facts() || d.multiprocessors > 0) w.put("multiprocessors", d.multiprocessors);
    w.known({"clock", "clock_hz"}, d.clock);
    w.number({"sustained_clock", "sustained_clock"}, d.sustained_clock);
    w.number({"memory", "memory_bytes"}, d.memory);
    w.number({"usable_memory", "usable_memory_bytes"}, d.usable_memory);
    w.number({"memory_bandwidth", "memory_bandwidth_bytes_per_s"}, d.memory_bandwidth);
    w.number({"stream_fraction", "stream_fraction"}, d.stream_fraction);
    w.number({"load_latency", "load_latency_s"}, d.load_latency);
    w.number({"attention_forward", "attention_forward_fraction"}, d.attention_forward);
    w.number({"attention_backward", "attention_backward_fraction"}, d.attention_backward);
    w.known({"l2", "l2_bytes"}, d.l2);
    w.number({"cache_bandwidth", "cache_bandwidth_bytes_per_s"}, d.cache_bandwidth);
    w.number({"exponential", "exponential_s"}, d.exponential);
    w.number({"convolution", "convolution_fraction"}, d.convolution);
    w.number({"tf32_across_one", "tf32_across_one_fraction"}, d.tf32_across_one);
    w.number({"tf32_across_both", "tf32_across_both_fraction"}, d.tf32_across_both);
    Json peaks = Json::array();
    for (const PeakRate& p : d.peaks) {
        Writer peak(form,
                    {{"input", to_text(p.input)}, {"accumulate", to_text(p.accumulate)}, {"unit", word_of(p.unit, compute_unit_words)}});
        peak.number({"rate", "operations_per_s"}, p.rate);
        peak.number({"achievable", "achievable_fraction"}, p.achievable);
        peaks.push_back(peak.take());
    }
    w.put("peaks", std::move(peaks));
    w.number({"kernel_overhead", "kernel_overhead_s"}, d.kernel_overhead);
    w.number({"graph_kernel_overhead", "graph_kernel_overhead_s"}, d.graph_kernel_overhead);
    w.text("host_link", d.host_link);
    w.known({"power", "power_w"}, d.power);
    w.known({"idle_power", "idle_power_w"}, d.idle_power);
    w.number({"price", "price_usd_per_s"}, d.price);
    if (w.facts()) w.put("gemm_curves", d.gemm_curves.size());
    w.text("notes", d.notes);
    return w.take();
}

Json json_of(const PeerFabric& peers, Form form) {
    Writer w(form, {{"layout", word_of(peers.layout, peer_layout_words)}});
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

Json json_of(const SampleSpeeds& s, Form form) {
    Writer w(form);
    w.number({"decode_jpeg", "decode_jpeg_bytes_per_s"}, s.decode_jpeg);
    w.number({"decode_png", "decode_png_bytes_per_s"}, s.decode_png);
    w.number({"encode_jpeg", "encode_jpeg_bytes_per_s"}, s.encode_jpeg);
    w.number({"encode_png", "encode_png_bytes_per_s"}, s.encode_png);
    w.number({"resize", "resize_bytes_per_s"}, s.resize);
    w.number({"convert", "convert_bytes_per_s"}, s.convert);
    Json formats = Json::object();
    for (const auto& [name, speed] : s.formats) {
        Writer format(form);
        format.number({"read", "read_s"}, speed.read);
        format.number({"read_bytes", "read_bytes_per_s"}, speed.read_bytes);
        format.number({"write", "write_s"}, speed.write);
        format.number({"write_bytes", "write_bytes_per_s"}, speed.write_bytes);
        formats[name] = format.take();
    }
    if (!formats.empty()) w.put("formats", std::move(formats));
    return w.take();
}

Json json_of(const HostSpec& host, Form form) {
    Writer w(form, {{"cpu", host.cpu}, {"sockets", host.sockets}, {"cores", host.cores}});
    w.number({"memory", "memory_bytes"}, host.memory);
    w.number({"memory_bandwidth", "memory_bandwidth_bytes_per_s"}, host.memory_bandwidth);
    w.number({"thread_speed", "thread_speed"}, host.thread_speed);
    if (Json samples = json_of(host.samples, form); !samples.empty()) w.put("samples", std::move(samples));
    w.number({"turn", "turn_s"}, host.turn);
    if (host.sockets > 1) w.put("socket_link", json_of(host.socket_link, form));
    return w.take();
}

Json json_of(const NodeSpec& node, Form form) {
    Writer w(form);
    w.put("device", form == Form::facts ? Json(node.device.name) : with_schema("device/1", json_of(node.device, form)));
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

Json json_of(const FabricSpec& fabric, Form form) {
    Writer w(form, {{"layout", word_of(fabric.kind, fabric_kind_words)}});
    if (fabric.kind == FabricKind::none) return w.take();
    if (w.facts() || fabric.nodes_per_leaf > 0) w.put("nodes_per_leaf", fabric.nodes_per_leaf);
    w.put("oversubscription", fabric.oversubscription);
    w.number({"switch_latency", "switch_latency_s"}, fabric.switch_latency);
    w.put("in_switch_reduction", fabric.in_switch_reduction);
    return w.take();
}

Json json_of(const Sourced<Seconds> (&steps)[3], Form form) {
    Writer w(form);
    w.number({"nvlink", "nvlink"}, steps[static_cast<int>(Hop::nvlink)]);
    w.number({"pcie", "pcie"}, steps[static_cast<int>(Hop::pcie)]);
    w.number({"network", "network"}, steps[static_cast<int>(Hop::network)]);
    return w.take();
}

Json json_of(const Protocol& p, Form form) {
    Writer w(form, {{"name", p.name}});
    w.number({"bandwidth_fraction", "bandwidth_fraction"}, p.bandwidth_fraction);
    w.put(w.facts() ? "ring_step_s" : "ring_step", json_of(p.ring_step, form));
    w.put(w.facts() ? "tree_step_s" : "tree_step", json_of(p.tree_step, form));
    w.number({"base", "base_s"}, p.base);
    w.number({"inside_fraction", "inside_fraction"}, p.inside_fraction);
    if (p.up_to) w.put(w.facts() ? "up_to_bytes" : "up_to", value_of(*p.up_to, form));
    if (p.needs_order) w.put("needs_order", true);
    if (p.channel_bandwidth.value > Bandwidth{}) w.number({"channel_bandwidth", "channel_bytes_per_s"}, p.channel_bandwidth);
    if (p.channel_bytes > Bytes{}) w.put("channel_bytes", value_of(p.channel_bytes, form));
    w.number({"channel_start", "channel_start_s"}, p.channel_start);
    if (!p.tree_fill.empty()) w.put("tree_fill", p.tree_fill);
    return w.take();
}

Json json_of(const BroadcastRule& rule, Form form) {
    Writer w(form, {{"way", word_of(rule.way, broadcast_way_words)}});
    if (rule.below) w.put(w.facts() ? "below_bytes" : "below", value_of(*rule.below, form));
    if (rule.fewer_than) w.put("fewer_than", *rule.fewer_than);
    if (rule.ranks_per_byte > 0) w.put("ranks_per_byte", rule.ranks_per_byte);
    if (rule.way != BroadcastWay::binomial) w.put(w.facts() ? "segment_bytes" : "segment", value_of(rule.segment, form));
    return w.take();
}

Json json_of(const MessagePassing& m, Form form) {
    Writer w(form);
    if (m.of_host) w.put(w.facts() ? "of_host_bytes_per_s" : "of_host", value_of(*m.of_host, form));
    w.number({"inside", "inside_s"}, m.inside);
    w.number({"across", "across_s"}, m.across);
    w.number({"wire_in_across", "wire_in_across_s"}, m.wire_in_across);
    w.number({"combine", "combine_bytes_per_s"}, m.combine);
    w.number({"post", "post_s"}, m.post);
    w.number({"copy", "copy_bytes_per_s"}, m.copy);
    w.number({"staging_call", "staging_call_s"}, m.staging_call);
    w.number({"staging", "staging_bytes_per_s"}, m.staging);
    w.number({"device_eager", "device_eager_s"}, m.device_eager);
    w.number({"device_reads", "device_reads_bytes_per_s"}, m.device_reads);
    w.put(w.facts() ? "device_eager_up_to_bytes" : "device_eager_up_to", value_of(m.device_eager_up_to, form));
    w.number({"device_rendezvous", "device_rendezvous_s"}, m.device_rendezvous);
    w.put(w.facts() ? "doubling_below_bytes" : "doubling_below", value_of(m.doubling_below, form));
    Json rules = Json::array();
    for (const BroadcastRule& rule : m.broadcast) rules.push_back(json_of(rule, form));
    w.put("broadcast", std::move(rules));
    return w.take();
}

Json json_of(const CommunicationLibrary& l, Form form) {
    Writer w(form, {{"name", l.name}, {"aliases", l.aliases}, {"tree", l.tree}});
    w.number({"tree_bandwidth_fraction", "tree_bandwidth_fraction"}, l.tree_bandwidth_fraction);
    w.put("in_switch_reduction", l.in_switch_reduction);
    w.known({"in_switch_bandwidth_fraction", "in_switch_bandwidth_fraction"}, l.in_switch_bandwidth_fraction);
    w.known({"in_switch_step", "in_switch_step_s"}, l.in_switch_step);
    if (!l.tree_of_two_nodes) w.put("tree_of_two_nodes", false);
    if (l.channel_rate > Bandwidth{}) w.put(w.facts() ? "channel_rate_bytes_per_s" : "channel_rate", value_of(l.channel_rate, form));
    w.number({"staged_fraction", "staged_fraction"}, l.staged_fraction);
    if (l.in_switch_tree) w.put("in_switch_tree", true);
    if (l.chains_follow) w.put("chains_follow", true);
    w.number({"wire_in_step", "wire_in_step_s"}, l.wire_in_step);
    w.number({"launch", "launch_s"}, l.launch);
    if (l.messages) w.put("messages", json_of(*l.messages, form));
    w.number({"host_reduction", "host_reduction_bytes_per_s"}, l.host_reduction);
    w.number({"host_staging", "host_staging_bytes_per_s"}, l.host_staging);
    if (w.facts()) w.put("host_staged", l.host_staging.has_value());
    w.put("sockets_only", l.sockets_only);
    Json protocols = Json::array();
    for (const Protocol& p : l.protocols) protocols.push_back(json_of(p, form));
    w.put("protocols", std::move(protocols));
    w.text("notes", l.notes);
    return w.take();
}

Json json_of(const CalibratedNumber& n) {
    return {{"owner", n.owner},  {"name", n.name}, {"before", n.before}, {"after", n.after}, {"spread_before", n.spread_before},
            {"spread", n.spread}};
}

Json json_of(const CalibratedTerm& t) {
    Json json = {{"of", t.of}, {"name", t.name}, {"measured_s", t.measured.si()}, {"predicted_s", t.predicted.si()}, {"noise", t.noise}};
    if (t.size) json["size_bytes"] = t.size->si();
    if (t.left_out) json["left_out"] = true;
    return json;
}

Json json_of(const CalibrationStamp& c) {
    Json json = {{"host", c.host},   {"processor", c.processor},       {"date", c.date},           {"runs", c.runs},
                 {"noise", c.noise}, {"median_error", c.median_error}, {"numbers", Json::array()}, {"terms", Json::array()}};
    for (const CalibratedNumber& n : c.numbers) json["numbers"].push_back(json_of(n));
    for (const CalibratedTerm& t : c.terms) json["terms"].push_back(json_of(t));
    if (!c.fingerprint.empty()) json["fingerprint"] = c.fingerprint;
    return json;
}

Json json_of(const Cluster& c, Form form) {
    Writer w(form, {{"name", c.name}, {"title", c.title}, {"aliases", c.aliases}, {"nodes", c.nodes}});
    w.put("node", json_of(c.node, form));
    w.put("fabric", json_of(c.fabric, form));
    Json storage = Json::array();
    for (const StorageClass& s : c.shared_storage) storage.push_back(json_of(s, form));
    w.put("shared_storage", std::move(storage));
    Json systems = Json::object();
    for (const auto& [called, s] : c.file_systems) systems[called] = json_of(s, form);
    if (!systems.empty()) w.put("file_systems", std::move(systems));
    if (c.local_storage_nodes) w.put("local_storage_nodes", *c.local_storage_nodes);
    Json slurm = Json::object();
    if (!c.slurm.partition.empty()) slurm["partition"] = c.slurm.partition;
    if (!c.slurm.local_disk_constraint.empty()) slurm["local_disk_constraint"] = c.slurm.local_disk_constraint;
    if (!slurm.empty()) w.put("slurm", std::move(slurm));
    if (c.library) w.put("library", with_schema("library/1", json_of(*c.library, form)));
    if (c.calibration) w.put("calibration", json_of(*c.calibration));
    w.put("assumptions", c.assumptions);
    w.text("notes", c.notes);
    return w.take();
}

std::string text(const char* schema, Json&& body) { return json_document(with_schema(schema, std::move(body))); }

template <class Profile>
std::string with_notes(const char* schema, const Profile& profile) {
    Json out = json_of(profile, Form::facts);
    out["notes"] = profile.notes;
    return text(schema, std::move(out));
}

}  // namespace

std::string profile_to_json(const Device& d) { return text("device-facts/1", json_of(d, Form::facts)); }
std::string profile_to_json(const Cluster& c) { return text("cluster-facts/1", json_of(c, Form::facts)); }
std::string profile_to_json(const LinkType& link) { return with_notes("link-facts/1", link); }
std::string profile_to_json(const StorageClass& storage) { return with_notes("storage-facts/1", storage); }
std::string profile_to_json(const CommunicationLibrary& library) { return text("library-facts/1", json_of(library, Form::facts)); }

std::string cluster_to_profile(const Cluster& c) {
    Json out = with_schema("cluster/1", json_of(c, Form::profile));
    // What was read with a fingerprint keeps it: an edit shows through copies.
    if (c.calibration && c.calibration->fingerprint.empty())
        out["calibration"]["fingerprint"] = fingerprint_of(nlohmann::json::parse(out.dump(-1, ' ', false, Json::error_handler_t::replace)));
    return json_document(out);
}

std::string storage_to_profile(const StorageClass& s) { return text("storage/1", json_of(s, Form::profile)); }
std::string speeds_to_profile(const SampleSpeeds& s) { return text("sample-speeds/1", json_of(s, Form::profile)); }

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

}  // namespace sextant
