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
    require_sourced(s, "nvlink", steps[static_cast<int>(Hop::nvlink)], plausible::latency);
    require_sourced(s, "pcie", steps[static_cast<int>(Hop::pcie)], plausible::latency);
    require_sourced(s, "network", steps[static_cast<int>(Hop::network)], plausible::latency);
}

Protocol read_protocol(const JsonNode& n, const Provenance& outer) {
    ObjectReader r(n);
    read_default_source(r, outer);
    Protocol p;
    r.required("name", p.name);
    require_sourced(r, "bandwidth_fraction", p.bandwidth_fraction, plausible::part);
    read_steps(r, "ring_step", p.ring_step);
    read_steps(r, "tree_step", p.tree_step);
    require_sourced(r, "base", p.base, plausible::latency);
    read_sourced(r, "inside_fraction", p.inside_fraction, plausible::part);
    Bytes up_to;
    if (r.optional("up_to", up_to, positive)) p.up_to = up_to;
    r.optional("needs_order", p.needs_order);
    r.optional("channel_bytes", p.channel_bytes, positive);
    if (read_sourced(r, "channel_bandwidth", p.channel_bandwidth, plausible::bandwidth)) r.need("channel_bytes");
    read_sourced(r, "channel_start", p.channel_start, plausible::latency);
    r.each("tree_fill", [&](const JsonNode& fraction) {
        double part = 1;
        if (read_value(fraction, part, Bounds{0.01, 1})) p.tree_fill.push_back(part);
    });
    return p;
}

BroadcastRule read_broadcast_rule(const JsonNode& n) {
    ObjectReader r(n);
    BroadcastRule rule;
    r.required_word("way", rule.way, broadcast_way_words);
    Bytes below;
    if (r.optional("below", below, positive)) rule.below = below;
    double fewer_than = 0;
    if (r.optional("fewer_than", fewer_than, positive)) rule.fewer_than = fewer_than;
    r.optional("ranks_per_byte", rule.ranks_per_byte, Bounds{0, 1});
    if (rule.way != BroadcastWay::binomial) r.required("segment", rule.segment, positive);
    return rule;
}

void read_messages(const JsonNode& n, const Provenance& outer, std::optional<MessagePassing>& out) {
    if (!n.value) return;
    ObjectReader r(n);
    read_default_source(r, outer);
    MessagePassing m;
    Bandwidth of_host;
    if (r.optional("of_host", of_host, plausible::bandwidth)) m.of_host = of_host;
    require_sourced(r, "inside", m.inside, plausible::latency);
    require_sourced(r, "across", m.across, plausible::latency);
    require_sourced(r, "wire_in_across", m.wire_in_across, plausible::latency);
    require_sourced(r, "combine", m.combine, plausible::bandwidth);
    require_sourced(r, "post", m.post, plausible::latency);
    require_sourced(r, "copy", m.copy, plausible::bandwidth);
    require_sourced(r, "staging_call", m.staging_call, plausible::latency);
    require_sourced(r, "staging", m.staging, plausible::bandwidth);
    require_sourced(r, "device_eager", m.device_eager, plausible::latency);
    require_sourced(r, "device_reads", m.device_reads, plausible::bandwidth);
    r.required("device_eager_up_to", m.device_eager_up_to, positive);
    require_sourced(r, "device_rendezvous", m.device_rendezvous, plausible::latency);
    r.required("doubling_below", m.doubling_below, positive);
    r.each("broadcast", [&](const JsonNode& rule) { m.broadcast.push_back(read_broadcast_rule(rule)); });
    out = std::move(m);
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
    if (!n.value) return false;
    const std::size_t problems = n.diagnostics->list().size();
    LinkType link = out;  // the category of the file is the default
    {
        ObjectReader r(n);
        read_default_source(r);
        r.required("name", link.name);
        r.word("category", link.category, link_category_words);
        require_sourced(r, "bandwidth", link.bandwidth, plausible::bandwidth, "per direction, as in \"25 GB/s\"");
        read_sourced(r, "achievable", link.achievable, plausible::part);
        read_sourced(r, "latency", link.latency, plausible::latency);
        r.optional("ordered", link.ordered);
        read_sourced(r, "eager_limit", link.eager_limit, positive);
        r.optional("notes", link.notes);
    }
    if (n.diagnostics->list().size() != problems) return false;
    complete(link);
    out = std::move(link);
    return true;
}

bool read_storage(const JsonNode& n, StorageClass& out) {
    if (!n.value) return false;
    const std::size_t problems = n.diagnostics->list().size();
    StorageClass s;
    {
        ObjectReader r(n);
        read_default_source(r);
        if (r.has("schema")) r.schema("storage/1");  // in a file of its own
        r.required("name", s.name);
        r.required_word("type", s.kind, storage_kind_words);
        s.shared = s.kind == StorageKind::nfs || s.kind == StorageKind::parallel || s.kind == StorageKind::object;
        r.optional("shared", s.shared);
        read_sourced(r, "open_latency", s.open_latency, plausible::latency);
        read_sourced(r, "seek_latency", s.seek_latency, plausible::latency);
        read_sourced(r, "create_latency", s.create_latency, plausible::latency);
        read_sourced(r, "remove_latency", s.remove_latency, plausible::latency);
        read_sourced(r, "remove_unwritten_latency", s.remove_unwritten_latency, plausible::latency);
        read_sourced(r, "read_bandwidth", s.read_bandwidth, plausible::bandwidth);
        read_sourced(r, "write_bandwidth", s.write_bandwidth, plausible::bandwidth);
        read_sourced(r, "random_read_bandwidth", s.random_read_bandwidth, plausible::bandwidth);
        read_sourced(r, "read_ahead", s.read_ahead, Bounds{4096, 1e10});
        read_sourced(r, "random_read_rate", s.random_read_rate, plausible::operation_rate);
        read_sourced(r, "metadata_rate", s.metadata_rate, plausible::operation_rate);
        read_sourced(r, "client_read_bandwidth", s.client_read_bandwidth, plausible::bandwidth);
        read_sourced(r, "client_write_bandwidth", s.client_write_bandwidth, plausible::bandwidth);
        read_sourced(r, "total_read_bandwidth", s.total_read_bandwidth, plausible::bandwidth);
        read_sourced(r, "total_write_bandwidth", s.total_write_bandwidth, plausible::bandwidth);
        read_sourced(r, "capacity", s.capacity, plausible::memory);
        bool backed_up = false;
        if (r.optional("backed_up", backed_up)) s.backed_up = backed_up;
        r.optional("read_only", s.read_only);
        read_sourced(r, "retention", s.retention, plausible::retention);
        r.optional("notes", s.notes);
    }
    if (n.diagnostics->list().size() != problems) return false;
    out = std::move(s);
    return true;
}

bool read_library(const JsonNode& n, CommunicationLibrary& out) {
    if (!n.value) return false;
    const std::size_t problems = n.diagnostics->list().size();
    CommunicationLibrary library;
    {
        ObjectReader r(n);
        read_default_source(r);
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
        read_sourced(r, "tree_bandwidth_fraction", library.tree_bandwidth_fraction, plausible::part);
        r.optional("tree_of_two_nodes", library.tree_of_two_nodes);
        r.optional("channel_rate", library.channel_rate, plausible::bandwidth);
        r.optional("in_switch_reduction", library.in_switch_reduction);
        read_sourced(r, "in_switch_bandwidth_fraction", library.in_switch_bandwidth_fraction, plausible::part);
        read_sourced(r, "in_switch_step", library.in_switch_step, plausible::latency);
        if (library.in_switch_reduction && !(library.in_switch_bandwidth_fraction.value > 0))
            r.need("in_switch_bandwidth_fraction", "a library that reduces in the switch says at which part of the port's bandwidth");
        read_sourced(r, "staged_fraction", library.staged_fraction, plausible::part);
        r.optional("in_switch_tree", library.in_switch_tree);
        r.optional("chains_follow", library.chains_follow);
        read_sourced(r, "wire_in_step", library.wire_in_step, plausible::latency);
        read_sourced(r, "launch", library.launch, plausible::latency);
        read_messages(r.get("messages"), r.default_source(), library.messages);
        read_sourced(r, "host_reduction", library.host_reduction, plausible::bandwidth);
        read_sourced(r, "host_staging", library.host_staging, plausible::bandwidth);
        r.optional("sockets_only", library.sockets_only);
        r.optional("notes", library.notes);
    }
    if (n.diagnostics->list().size() != problems) return false;
    out = std::move(library);
    return true;
}

bool read_reference_latencies(const JsonNode& n, ReferenceLatencies& out) {
    if (!n.value) return false;
    const std::size_t problems = n.diagnostics->list().size();
    {
        ObjectReader r(n);
        read_default_source(r);
        r.schema("reference-latencies/1");
        r.required("title", out.title);
        r.required("columns", out.columns);
        r.required("cpu_clock", out.cpu_clock, plausible::clock);
        r.required("source", out.source);
        r.optional("notes", out.notes);
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
            out.rows.push_back(std::move(x));
        });
    }
    return n.diagnostics->list().size() == problems;
}

}  // namespace sextant
