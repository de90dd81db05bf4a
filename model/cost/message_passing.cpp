#include "model/cost/message_passing.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

struct MessageCall {
    Bytes size;
    const Group& group;
    const MessagePassing& m;
    LinkScale scale;
    double n, nodes;
    double gain = ring_gain(group, scale);

    // A rank's part of what the host's memory moves, where that is less than what its core could.
    [[nodiscard]] Bandwidth on_host(const Sourced<Bandwidth>& rate, double passes) const {
        if (!(group.machine.host_memory > Bandwidth{})) return rate.value;
        const Bandwidth core = m.of_host ? rate.value * (group.machine.host_memory / *m.of_host) : rate.value;
        return min(core, group.machine.host_memory / (passes * std::ceil(n / nodes)));
    }
    [[nodiscard]] Bandwidth combine() const { return on_host(m.combine, 3); }  // two operands read, the sum written
    [[nodiscard]] Bandwidth copy() const { return on_host(m.copy, 2); }
    [[nodiscard]] Seconds latency(double inside, double across) const {
        return (inside * m.inside.value + across * (m.across.value + max(group.wire_latency - m.wire_in_across.value, Seconds{}))) /
               scale.latency;
    }
    [[nodiscard]] double rounds_inside() const { return std::ceil(std::log2(std::ceil(n / nodes))); }
    [[nodiscard]] double rounds_across() const { return std::ceil(std::log2(nodes)); }
    [[nodiscard]] Seconds doubling_latency() const { return latency(rounds_inside(), rounds_across()); }
    [[nodiscard]] double rounds() const { return rounds_inside() + rounds_across(); }

    // Device buffers are copied to the host, reduced there, and copied back.
    [[nodiscard]] CollectivePrice all_reduce() const {
        CollectivePrice call;
        if (!group.host_buffers) call.fixed = m.staging_call.value + 2.0 * size / m.staging.value;
        if (size < m.doubling_below) {
            call.fixed += doubling_latency() + rounds() * size / combine();
            return call;
        }
        const double across = nodes > 1 ? nodes : 0;
        call.fixed += latency(2 * std::max(n - 1 - across, 0.0), 2 * std::min(across, n - 1));
        call.bytes = 2 * (n - 1) / n * size;
        call.efficiency = std::min(gain, combine() / group.ring);
        return call;
    }

    // A rank's time for one message of this size to each of `children`, and for the one that it received.
    [[nodiscard]] Seconds hand_on(Bytes segment, double children, bool received) const {
        if (group.host_buffers) return (children + (received ? 1 : 0)) * (m.post.value + segment / copy());
        if (segment <= m.device_eager_up_to) return children * (m.device_eager.value + segment / m.device_reads.value);
        return children * (m.device_rendezvous.value + segment / (group.ring * gain));
    }
    [[nodiscard]] Seconds transfer(Bytes bytes) const {
        if (!group.host_buffers) return hand_on(bytes, 1, false);
        return latency(group.crosses_network ? 0 : 1, group.crosses_network ? 1 : 0) + bytes / min(copy(), group.ring);
    }

    // The mean over ranks, some of which have the message early: that is what MPI's benchmarks print (OSU's osu_bcast).
    [[nodiscard]] CollectivePrice broadcast() const {
        const auto fits = [&](const BroadcastRule& r) {
            return (!r.below || size < *r.below) && (!r.fewer_than || n < *r.fewer_than + r.ranks_per_byte * (size / units::B));
        };
        const auto rule = std::ranges::find_if(m.broadcast, fits);
        return {rule == m.broadcast.end() ? binomial() : by_rule(*rule), {}, Pattern::ring, 1};
    }
    [[nodiscard]] Seconds by_rule(const BroadcastRule& rule) const {
        switch (rule.algorithm) {
            case BroadcastAlgorithm::binomial: return binomial();
            case BroadcastAlgorithm::split_binary: return split_binary(rule.segment);
            case BroadcastAlgorithm::chain: break;
        }
        // One behind the other.
        return (std::ceil(size / rule.segment) + n / 2 - 1) * hand_on(min(rule.segment, size), 1, true);
    }
    // Numbers of ranks have half of their bits set, each a message on the way from the root. A sender serves larger subtrees first: a rank
    // waits for as many as there are bits before its last that are not set, rounds / 2 - 1 + 1 / n in the mean.
    [[nodiscard]] Seconds binomial() const {
        const double waits = std::max(rounds() / 2 - 1 + 1 / n, 0.0);
        const Seconds message = group.host_buffers ? size / copy() : hand_on(size, 1, false);
        const Seconds served = group.host_buffers ? hand_on(size, 1, false) : message;
        return (doubling_latency() + rounds() * message) / 2 + waits * served;
    }
    // Each half goes down one side of a binary tree; then ranks of both sides swap halves. From seven ranks on there is one in the middle
    // that receives and has two children.
    [[nodiscard]] Seconds split_binary(Bytes segment) const {
        const double segments = std::ceil(size / (2.0 * segment));
        const double depth = std::floor(std::log2(n)) - 1;  // half of the ranks are leaves, the others nearer
        return (segments + depth) * hand_on(segment, 2, n >= 7) + transfer(size / 2.0);
    }
};

}  // namespace

std::optional<CollectivePrice> message_price(Collective what, Bytes size, const Group& group, const MessagePassing& messages,
                                             LinkScale scale) {
    const MessageCall call{size, group, messages, scale, static_cast<double>(group.ranks), static_cast<double>(group.nodes)};
    if (what == Collective::all_reduce) return call.all_reduce();
    if (what == Collective::broadcast) return call.broadcast();
    return std::nullopt;
}

}  // namespace sextant
