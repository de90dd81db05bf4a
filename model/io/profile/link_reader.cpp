// Reads entries of link and storage files, communication libraries ("library/1") and the table of reference latencies.
#include "model/hardware/estimate.hpp"
#include "model/io/profile/profile_fields.hpp"
#include "model/io/profile/profile_reader.hpp"
#include "model/io/profile/profile_words.hpp"

#include <algorithm>

namespace sextant {
namespace {

void read_steps(ObjectReader& r, std::string_view key, Sourced<Seconds> (&steps)[3]) {
    const JsonNode n = r.need(key, "{\"nvlink\": ..., \"pcie\": ..., \"network\": ...}");
    if (!n.value) return;
    ObjectReader s(n);
    read_default_source(s, r.default_source());
    s.required("nvlink", steps[static_cast<int>(Hop::nvlink)], plausible::latency);
    s.required("pcie", steps[static_cast<int>(Hop::pcie)], plausible::latency);
    s.required("network", steps[static_cast<int>(Hop::network)], plausible::latency);
}

Protocol read_protocol(const JsonNode& n, const Provenance& outer) {
    ObjectReader r(n);
    read_default_source(r, outer);
    Protocol p;
    r.required("name", p.name);
    r.required("bandwidth_fraction", p.bandwidth_fraction, plausible::part);
    read_steps(r, "ring_step", p.ring_step);
    read_steps(r, "tree_step", p.tree_step);
    r.required("base", p.base, plausible::latency);
    r.optional("inside_fraction", p.inside_fraction, plausible::part);
    r.optional("up_to", p.up_to, positive);
    r.optional("needs_order", p.needs_order);
    r.optional("channel_bytes", p.channel_bytes, positive);
    if (r.optional("channel_bandwidth", p.channel_bandwidth, plausible::bandwidth)) r.need("channel_bytes");
    r.optional("channel_start", p.channel_start, plausible::latency);
    r.each("tree_fill", [&](const JsonNode& fraction) {
        double part = 1;
        if (read_value(fraction, part, Bounds{0.01, 1})) p.tree_fill.push_back(part);
    });
    return p;
}

BroadcastRule read_broadcast_rule(const JsonNode& n) {
    ObjectReader r(n);
    BroadcastRule rule;
    r.required_word("way", rule.algorithm, broadcast_algorithm_words);
    r.optional("below", rule.below, positive);
    r.optional("fewer_than", rule.fewer_than, positive);
    r.optional("ranks_per_byte", rule.ranks_per_byte, Bounds{0, 1});
    if (rule.algorithm != BroadcastAlgorithm::binomial) r.required("segment", rule.segment, positive);
    return rule;
}

void read_messages(const JsonNode& n, const Provenance& outer, std::optional<MessagePassing>& out) {
    if (!n.value) return;
    ObjectReader r(n);
    read_default_source(r, outer);
    MessagePassing m;
    r.optional("of_host", m.of_host, plausible::bandwidth);
    message_passing_fields([&](ProfileKey key, auto field, Bounds bounds) { r.required(key.profile, m.*field, bounds); });
    r.each("broadcast", [&](const JsonNode& rule) { m.broadcast.push_back(read_broadcast_rule(rule)); });
    out = std::move(m);
}

void read_link_fields(ObjectReader& r, LinkType& link) {
    r.required("name", link.name);
    r.word("category", link.category, link_category_words);
    r.read(r.need("bandwidth", "per direction, as in \"25 GB/s\""), link.bandwidth, plausible::bandwidth);
    r.optional("achievable", link.achievable, plausible::part);
    r.optional("latency", link.latency, plausible::latency);
    r.optional("ordered", link.ordered);
    r.optional("eager_limit", link.eager_limit, positive);
    r.optional("notes", link.notes);
}

void read_storage_fields(ObjectReader& r, StorageClass& s) {
    if (r.has("schema")) r.schema("storage/1");  // in a file of its own
    r.required("name", s.name);
    r.required_word("type", s.kind, storage_kind_words);
    s.shared = s.kind == StorageKind::nfs || s.kind == StorageKind::parallel || s.kind == StorageKind::object;
    r.optional("shared", s.shared);
    storage_fields([&](ProfileKey key, auto field, Bounds bounds) { r.optional(key.profile, s.*field, bounds); });
    r.optional("backed_up", s.backed_up);
    r.optional("read_only", s.read_only);
    r.optional("retention", s.retention, plausible::retention);
    r.optional("notes", s.notes);
}

void read_library_fields(ObjectReader& r, CommunicationLibrary& library) {
    r.schema("library/1");
    r.required("name", library.name);
    r.optional("aliases", library.aliases);
    const JsonNode protocols = r.need("protocols");
    r.each("protocols", [&](const JsonNode& p) { library.protocols.push_back(read_protocol(p, r.default_source())); });
    const auto any_size = [](const Protocol& p) { return !p.up_to; };
    if (protocols.is_array() && std::none_of(library.protocols.begin(), library.protocols.end(), any_size))
        protocols.complain("a library needs at least one protocol for messages of any size", "one without \"up_to\"");
    r.optional("tree", library.tree);
    library.tree_bandwidth_fraction = {1.0, r.default_source().kind, r.default_source().source};
    r.optional("tree_bandwidth_fraction", library.tree_bandwidth_fraction, plausible::part);
    r.optional("tree_of_two_nodes", library.tree_of_two_nodes);
    r.optional("channel_rate", library.channel_rate, plausible::bandwidth);
    r.optional("in_switch_reduction", library.in_switch_reduction);
    r.optional("in_switch_bandwidth_fraction", library.in_switch_bandwidth_fraction, plausible::part);
    r.optional("in_switch_step", library.in_switch_step, plausible::latency);
    if (library.in_switch_reduction && !(library.in_switch_bandwidth_fraction.value > 0))
        r.need("in_switch_bandwidth_fraction", "a library that reduces in the switch says at which part of the port's bandwidth");
    r.optional("staged_fraction", library.staged_fraction, plausible::part);
    r.optional("in_switch_tree", library.in_switch_tree);
    r.optional("chains_follow", library.chains_follow);
    r.optional("wire_in_step", library.wire_in_step, plausible::latency);
    r.optional("launch", library.launch, plausible::latency);
    read_messages(r.get("messages"), r.default_source(), library.messages);
    r.optional("host_reduction", library.host_reduction, plausible::bandwidth);
    r.optional("host_staging", library.host_staging, plausible::bandwidth);
    r.optional("sockets_only", library.sockets_only);
    r.optional("notes", library.notes);
}

void read_latency_fields(ObjectReader& r, ReferenceLatencies& table) {
    r.schema("reference-latencies/1");
    r.required("title", table.title);
    r.required("columns", table.columns);
    r.required("cpu_clock", table.cpu_clock, plausible::clock);
    r.required("source", table.source);
    r.optional("notes", table.notes);
    r.each("rows", [&](const JsonNode& row) {
        ObjectReader c(row);
        ReferenceLatencies::Row x;
        c.required("what", x.what);
        c.required("time", x.time);
        c.required("instructions", x.instructions);
        c.required("low", x.low, plausible::latency);
        c.required("high", x.high, plausible::latency);
        c.required("instructions_low", x.instructions_low, count);
        c.required("instructions_high", x.instructions_high, count);
        c.optional("erratum", x.erratum);
        table.rows.push_back(std::move(x));
    });
}

}  // namespace

void read_default_source(ObjectReader& r, const Provenance& outer) {
    Provenance p = outer;
    r.word("kind", p.kind, source_kind_words);
    r.optional("source", p.source);
    if (p.source.empty() && r.node().file) p.source = "stated in " + std::filesystem::path(*r.node().file).filename().string();
    r.default_source(std::move(p));
}

bool read_link(const JsonNode& n, LinkType& out) {
    if (!read_whole(n, {}, out, read_link_fields, out)) return false;  // the category of the file is the default
    complete(out);
    return true;
}
bool read_storage(const JsonNode& n, StorageClass& out) { return read_whole(n, {}, out, read_storage_fields); }
bool read_library(const JsonNode& n, CommunicationLibrary& out) { return read_whole(n, {}, out, read_library_fields); }
bool read_reference_latencies(const JsonNode& n, ReferenceLatencies& out) { return read_whole(n, {}, out, read_latency_fields); }

}  // namespace sextant
