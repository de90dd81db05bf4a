#include "model/cost/recorded_prices.hpp"

#include "model/cost/compute.hpp"

#include <map>

namespace sextant {
namespace {

using namespace units;
using Kind = RecordedNode::Kind;

Framework of_vendor() {
    Framework f;
    f.native_build = {1.0, SourceKind::estimated, "built for the device"};
    return f;
}

class RecordedPricer {
public:
    RecordedPricer(const TaskGraph& graph, const ReplayMachine& machine)
        : graph_(graph), machine_(machine), rates_(device_rates(machine.cluster.node.device, of_vendor(), {})) {}

    [[nodiscard]] Piece price(const RecordedNode& n) const {
        switch (n.kind) {
            case Kind::host: return {SpanKind::overhead, n.duration, {}, {}, {}};
            case Kind::memory: return {SpanKind::offload, n.bytes / host_bandwidth(), {}, n.bytes, {}};
            default: return {SpanKind::forward, n.duration > Seconds{} ? n.duration : kernel_time(n), {}, n.bytes, n.flops};
        }
    }

    Piece price(const RecordedNode& n, CommunicatorIndex communicator) {
        const Group& group = group_of(communicator);
        Piece piece;
        piece.kind = n.kind == Kind::send ? SpanKind::pipeline_transfer : SpanKind::data_exchange;
        piece.exchange =
            PricedExchange{ParallelGroup::data, collective_price(collective_of(n), size_of(n, group), group, machine_.library), 0};
        return piece;
    }

private:
    [[nodiscard]] Seconds kernel_time(const RecordedNode& n) const {
        return max(n.flops / rates_.matrix[machine_.type].sustained, n.bytes / streaming_bandwidth(rates_));
    }
    [[nodiscard]] Bandwidth host_bandwidth() const {
        const LinkType& link = machine_.cluster.node.host_link;
        return link.bandwidth.value * link.achievable.value;
    }

    static Collective collective_of(const RecordedNode& n) {
        if (n.kind == Kind::send) return Collective::send;
        switch (n.collective) {
            case RecordedCollective::all_gather: return Collective::all_gather;
            case RecordedCollective::reduce_scatter: return Collective::reduce_scatter;
            case RecordedCollective::all_to_all: return Collective::all_to_all;
            case RecordedCollective::broadcast: return Collective::broadcast;
            case RecordedCollective::reduce: return Collective::reduce;
            case RecordedCollective::all_reduce:
            case RecordedCollective::barrier: break;
        }
        return Collective::all_reduce;
    }
    // As the collectives count it.
    static Bytes size_of(const RecordedNode& n, const Group& group) {
        constexpr Bytes of_barrier = 4 * B;
        if (n.kind == Kind::collective && n.collective == RecordedCollective::barrier) return of_barrier;
        if (n.kind == Kind::collective && n.collective == RecordedCollective::all_gather) return group.ranks * n.bytes;
        return n.bytes;
    }

    const Group& group_of(CommunicatorIndex c) {
        const auto known = groups_.find(c);
        if (known != groups_.end()) return known->second;
        std::vector<std::vector<DeviceIndex>> members(1);
        for (const int rank : graph_.communicators()[c].sets.front())
            members.front().push_back(machine_.device_of[static_cast<std::size_t>(rank)]);
        const Group group = make_group(machine_.topology, members.front(), members, group_machine(machine_.cluster));
        return groups_.emplace(c, group).first->second;
    }

    const TaskGraph& graph_;
    const ReplayMachine& machine_;
    DeviceRates rates_;
    std::map<CommunicatorIndex, Group> groups_;
};

}  // namespace

CostTable price_recorded(const RecordedGraph& recorded, const ReplayMachine& machine) {
    RecordedPricer pricer(recorded.graph, machine);
    CostTable table;
    table.works.resize(recorded.graph.works().size());
    std::vector<bool> priced(recorded.graph.works().size());
    for (const Segment& segment : recorded.graph.segments()) {
        if (priced[segment.work]) continue;
        priced[segment.work] = true;
        const RecordedNode* node = recorded.kind_of(segment.work);
        if (!node) continue;
        const bool exchange = node->kind == Kind::collective || node->kind == Kind::send;
        table.works[segment.work].pieces.push_back(exchange ? pricer.price(*node, segment.communicator) : pricer.price(*node));
    }
    return table;
}

}  // namespace sextant
