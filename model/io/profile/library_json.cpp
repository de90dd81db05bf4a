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
    w.put({"ring_step", "ring_step_s"}, json_of(p.ring_step, form));
    w.put({"tree_step", "tree_step_s"}, json_of(p.tree_step, form));
    w.number({"base", "base_s"}, p.base);
    w.number({"inside_fraction", "inside_fraction"}, p.inside_fraction);
    w.number({"up_to", "up_to_bytes"}, p.up_to);
    if (p.needs_order) w.put("needs_order", true);
    if (p.channel_bandwidth.value > Bandwidth{}) w.number({"channel_bandwidth", "channel_bytes_per_s"}, p.channel_bandwidth);
    if (p.channel_bytes > Bytes{}) w.number({"channel_bytes", "channel_bytes"}, p.channel_bytes);
    w.number({"channel_start", "channel_start_s"}, p.channel_start);
    if (!p.tree_fill.empty()) w.put("tree_fill", p.tree_fill);
    return w.take();
}

ProfileJson json_of(const BroadcastRule& rule, ProfileForm form) {
    ProfileObject w(form, {{"way", word_of(rule.algorithm, broadcast_algorithm_words)}});
    w.number({"below", "below_bytes"}, rule.below);
    if (rule.fewer_than) w.put("fewer_than", *rule.fewer_than);
    if (rule.ranks_per_byte > 0) w.put("ranks_per_byte", rule.ranks_per_byte);
    if (rule.algorithm != BroadcastAlgorithm::binomial) w.number({"segment", "segment_bytes"}, rule.segment);
    return w.take();
}

ProfileJson json_of(const MessagePassing& m, ProfileForm form) {
    ProfileObject w(form);
    w.number({"of_host", "of_host_bytes_per_s"}, m.of_host);
    message_passing_fields([&](ProfileKey key, auto field, Bounds) { w.number(key, m.*field); });
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
    if (l.channel_rate > Bandwidth{}) w.number({"channel_rate", "channel_rate_bytes_per_s"}, l.channel_rate);
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
