// A priced step as the execution trace of its ranks, for simulators that know neither our streams nor our prices.
//
//   kernels    a node for each stretch of them, as long as its price. What is priced by its time alone (updates, copies with host memory)
//              has neither operations nor bytes
//   launches   host work, one after another from the start on; where hosts wait (CostTable), none before its segment may start. A stretch
//              does not wait for its own, but what follows it waits for both: a stretch ends no sooner than the host has issued it, and
//              begins as soon as it can
//   exchanges  a collective for each call, those inside blocks too. Of one that goes on behind kernels there are two: the part that is
//              waited for, and the rest, for which nothing waits
//   transfers  a send, and on the rank that waits for it a receive, which comes when the rank has done what it does before; no two from
//              one rank have the same tag
//   overhead   host work, for which the device waits
//
// Order within streams and waits between segments are dependencies. Left out: how samples come to a rank (brings_samples), that kernels are
// slower beside communication, and that a thread fuses gradients (CostTable::fusion): each is exchanged by itself.
#pragma once

#include "model/cost/cost_table.hpp"
#include "model/graph/execution_trace.hpp"
#include "model/graph/task_graph.hpp"

#include <map>
#include <string>
#include <vector>

namespace sextant {

class RecordedStep {
public:
    // Of a graph in which nothing is folded and no rank is a server. `slowness`: by rank, how much longer than their price its kernels
    // take. References graph and table.
    RecordedStep(const TaskGraph&, const CostTable&, std::vector<double> slowness);

    [[nodiscard]] std::size_t ranks() const { return graph_.ranks().size(); }
    [[nodiscard]] std::size_t nodes() const { return nodes_; }  // of all ranks
    [[nodiscard]] RecordedRank rank(GraphRank) const;
    // Those that communicate, by their names in the nodes: numbers from 1, which is how ASTRA-sim wants them.
    [[nodiscard]] const std::map<std::string, std::vector<int>>& groups() const { return groups_; }

private:
    class RankRecorder;

    [[nodiscard]] const Work& work_of(const Segment& s) const { return graph_.works()[s.work]; }
    // Whose exchange this is; none where the rank is alone in its group.
    [[nodiscard]] std::optional<CommunicatorIndex> communicator_of(const Segment&, const PricedExchange&) const;
    // Another rank's transfer that a segment waits for.
    [[nodiscard]] bool comes_from_elsewhere(SegmentIndex waiting, SegmentIndex for_this) const;
    void count(SegmentIndex);

    const TaskGraph& graph_;
    const CostTable& table_;
    std::vector<double> slowness_;
    std::vector<std::vector<SegmentIndex>> segments_;  // by rank
    std::vector<std::uint32_t> tags_;                  // by segment: of a transfer, which of its rank's it is
    std::map<std::string, std::vector<int>> groups_;
    std::size_t nodes_ = 0;
};

}  // namespace sextant
