// Communication libraries as JSON.
#include "model/io/profile/profile_json.hpp"
#include "model/io/profile/profile_words.hpp"

namespace sextant {
namespace {

ProfileJson json_of(const Sourced<Seconds> (&steps)[3], ProfileForm form) {
    ProfileObject w(form);
    w.number({"nvlink", "nvlink"}, steps[static_cast<int>(Hop::nvlink)]);
    w.number({"pcie", "pcie"}, steps[static_cast<int>(Hop::pcie)]);
    w.number({"network", "network"}, steps[static_cast<int>(Hop::network)]);
    return w.take();
}

ProfileJson json_of(const Protocol& p, ProfileForm form) {
    ProfileObject w(form, {{"name", p.name}});
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

ProfileJson json_of(const BroadcastRule& rule, ProfileForm form) {
    ProfileObject w(form, {{"way", word_of(rule.way, broadcast_way_words)}});
    if (rule.below) w.put(w.facts() ? "below_bytes" : "below", value_of(*rule.below, form));
    if (rule.fewer_than) w.put("fewer_than", *rule.fewer_than);
    if (rule.ranks_per_byte > 0) w.put("ranks_per_byte", rule.ranks_per_byte);
    if (rule.way != BroadcastWay::binomial) w.put(w.facts() ? "segment_bytes" : "segment", value_of(rule.segment, form));
    return w.take();
}

ProfileJson json_of(const MessagePassing& m, ProfileForm form) {
    ProfileObject w(form);
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
    ProfileJson rules = ProfileJson::array();
    for (const BroadcastRule& rule : m.broadcast) rules.push_back(json_of(rule, form));
    w.put("broadcast", std::move(rules));
    return w.take();
}

}  // namespace

ProfileJson json_of(const CommunicationLibrary& l, ProfileForm form) {
    ProfileObject w(form, {{"name", l.name}, {"aliases", l.aliases}, {"tree", l.tree}});
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
    ProfileJson protocols = ProfileJson::array();
    for (const Protocol& p : l.protocols) protocols.push_back(json_of(p, form));
    w.put("protocols", std::move(protocols));
    w.text("notes", l.notes);
    return w.take();
}

}  // namespace sextant
