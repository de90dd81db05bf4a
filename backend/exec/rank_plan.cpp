#include "backend/exec/rank_plan.hpp"

#include "backend/exec/server_traffic.hpp"

#include <algorithm>
#include <utility>

namespace sextant {
namespace {

// Whose weight in a block the matrix is; null: nobody's.
const Operator* user_of(SharedMatrix matrix, const Network& network, int block) {
    const auto t = static_cast<std::size_t>(network.sequence[static_cast<std::size_t>(block)]);
    const auto operators = network.templates[t].graph.operators();
    const auto found = std::ranges::find_if(operators, [&](const Operator& op) { return op.shared == matrix; });
    return found == operators.end() ? nullptr : &*found;
}

// Which segment of a rank's compute stream others come behind.
class Dependence {
public:
    Dependence(const TaskGraph& graph, GraphRank rank) : graph_(graph), rank_(rank), before_in_stream_(graph.segments().size()) {
        std::map<std::pair<GraphRank, Stream>, SegmentIndex> last;
        for (SegmentIndex s = 0; s < graph.segments().size(); ++s) {
            const Segment& segment = graph.segments()[s];
            const auto [before, first] = last.try_emplace({segment.rank, segment.stream}, s);
            if (!first) before_in_stream_[s] = std::exchange(before->second, s);
        }
    }

    // The last one; none where the segment depends on none.
    std::optional<SegmentIndex> last_before(SegmentIndex segment) {
        for (std::vector<SegmentIndex> open{segment}; !open.empty();) {
            const SegmentIndex s = open.back();
            std::optional<SegmentIndex> last;
            const std::size_t known = open.size();
            const auto take = [&](SegmentIndex before) {
                const Segment& b = graph_.segments()[before];
                if (b.rank == rank_ && b.stream == Stream::compute)
                    last = std::max(last, std::optional(before));
                else if (const auto found = last_before_.find(before); found != last_before_.end())
                    last = std::max(last, found->second);
                else
                    open.push_back(before);
            };
            std::ranges::for_each(graph_.waits_for(s), take);
            if (before_in_stream_[s]) take(*before_in_stream_[s]);
            if (open.size() > known) continue;
            last_before_[s] = last;
            open.pop_back();
        }
        return last_before_.at(segment);
    }

private:
    const TaskGraph& graph_;
    GraphRank rank_;
    std::vector<std::optional<SegmentIndex>> before_in_stream_;  // where segments start in their order
    std::map<SegmentIndex, std::optional<SegmentIndex>> last_before_;
};

class Planner {
public:
    Planner(const TaskGraph& graph, GraphRank rank, PassingArrays passing)
        : graph_(graph), rank_(rank), shared_(shared_uses(graph, rank)), passing_(passing) {
        for (const ServedRound& round : served_rounds(graph, rank))
            for (const Push& push : round.pushes) pushed_[push.segment] = push.block;
    }

    RankPlan write() {
        for (at_ = 0; at_ < graph_.segments().size(); ++at_) {
            const Segment& s = graph_.segments()[at_];
            if (s.rank != rank_) continue;
            if (s.stream == Stream::compute) plan_.compute.push_back(at_);
            for (const SegmentIndex before : graph_.waits_for(at_)) arrives(before, graph_.works()[s.work]);
            std::visit([&](const auto& work) { take(work); }, graph_.works()[s.work]);
        }
        for (const auto& [block, segment] : last_backward_) plan_.plans[segment].completes.push_back(block);
        for (const auto& [gather, segment] : last_use_) plan_.plans[segment].releases.push_back(gather);
        Dependence dependence(graph_, rank_);
        for (const Arrival& a : arriving_) plan_.arriving.emplace(dependence.last_before(a.transfer), a);
        return std::move(plan_);
    }

private:
    [[nodiscard]] bool comes_from_afar(const Segment& s) const {
        return s.rank != rank_ && !graph_.ranks()[s.rank].server && !brings_samples(graph_.works()[s.work]);
    }
    void arrives(SegmentIndex before, const Work& here) {
        if (comes_from_afar(graph_.segments()[before])) {
            const bool gathers = std::holds_alternative<CollectiveWork>(here);
            arriving_.push_back({before, gathers ? std::optional(at_) : std::nullopt, at_});
        } else if (!arriving_.empty() && arriving_.back().gather == before && arriving_.back().reader == before) {
            arriving_.back().reader = at_;
        }
    }
    void take(const ComputeWork& work) {
        if (passing_.gradients && work.phase != Phase::forward) settle_all_but_the_last();
        for (int b = work.first_block; b < work.first_block + work.count; ++b) {
            const bool forward = work.phase == Phase::forward;
            if (!forward) adds_to(b);
            reads(b, &Gathers::dense);
            reads(b, &Gathers::experts);
            const auto [begin, end] = shared_.equal_range(b);
            for (auto use = begin; use != end; ++use) {
                if (!forward && use->second.trained) adds_to(use->second.home);
                reads(use->second.home, &Gathers::dense);
            }
        }
    }
    void take(const CollectiveWork& work) {
        for (int b = work.first_block; b < work.first_block + work.count; ++b) {
            if (work.payload == Payload::weights) {
                const bool experts = graph_.communicators()[graph_.segments()[at_].communicator].group == ParallelGroup::expert_data;
                (experts ? gather_[b].experts : gather_[b].dense) = at_;
            }
            if (work.payload == Payload::gradients) reduce(b);
        }
    }
    // While a worker waits for the servers it has time to make its gradients ready for the next step.
    void take(const TransferWork& work) {
        if (const auto push = pushed_.find(at_); push != pushed_.end()) reduce(push->second);
        if (work.payload == Payload::weights) settle_all();
    }
    void take(const UpdateWork&) { settle_all(); }
    // Weights that come up are all that a rank needs which shares them with nobody; else they are gathered behind it.
    void take(const OffloadWork& work) {
        if (work.what == Offloaded::update) return settle_all();
        gather_[work.block] = {at_, {}};
    }
    void take(const OverheadWork& work) {
        if (!work.of_step) return;
        settle_all();
        reductions_.clear();
    }
    template <class Other>
    void take(const Other&) {}

    void reads(int block, std::optional<SegmentIndex> Gathers::*weights) {
        if (!passing_.weights || !gather_.contains(block)) return;
        const std::optional<SegmentIndex> gather = plan_.plans[at_].gathered_by[block].*weights = gather_[block].*weights;
        if (gather) last_use_[*gather] = at_;
    }
    void adds_to(int block) {
        last_backward_[block] = at_;
        settle(block);
    }
    void reduce(int block) {
        // Over the shard group, then over its replicas: one reduction in two steps.
        const bool goes_on = pending_.contains(block);
        if (!goes_on && ++reductions_[block] > 1) plan_.reduces_repeatedly = true;
        pending_[block] = at_;
        if (const auto last = last_backward_.find(block); last != last_backward_.end()) {
            plan_.plans[last->second].completes.push_back(block);
            last_backward_.erase(last);
        }
    }
    void settle(int block) {
        const auto pending = pending_.find(block);
        if (pending == pending_.end()) return;
        plan_.plans[at_].settles.push_back({block, pending->second});
        plan_.reductions.push_back({block, pending->second});
        pending_.erase(pending);
    }
    // Of what is on its way, so that no more than that and what is made next are there.
    void settle_all_but_the_last() {
        SegmentIndex last = 0;
        for (const auto& [block, reduction] : pending_) last = std::max(last, reduction);
        const std::map<int, SegmentIndex> pending = pending_;
        for (const auto& [block, reduction] : pending)
            if (reduction != last) settle(block);
    }
    void settle_all() {
        while (!pending_.empty()) settle(pending_.begin()->first);
    }

    const TaskGraph& graph_;
    GraphRank rank_;
    SharedUses shared_;
    PassingArrays passing_;
    SegmentIndex at_ = 0;
    RankPlan plan_;
    std::vector<Arrival> arriving_;                        // in the order of their use
    std::map<int, SegmentIndex> pending_, last_backward_;  // by block
    std::map<int, Gathers> gather_;
    std::map<int, int> reductions_;
    std::map<SegmentIndex, int> pushed_;  // blocks whose gradients go to the servers
    std::map<SegmentIndex, SegmentIndex> last_use_;
};

}  // namespace

std::set<int> blocks_of(const TaskGraph& graph, GraphRank rank) {
    std::set<int> blocks;
    if (graph.ranks()[rank].server)
        for (std::size_t b = 0; b < graph.blocks().size(); ++b) blocks.insert(static_cast<int>(b));
    for (const Segment& s : graph.segments())
        if (const auto* work = std::get_if<ComputeWork>(&graph.works()[s.work]); work != nullptr && s.rank == rank)
            for (int b = work->first_block; b < work->first_block + work->count; ++b) blocks.insert(b);
    return blocks;
}

SharedUses shared_uses(const TaskGraph& graph, GraphRank rank) {
    SharedUses shared;
    const std::set<int> here = blocks_of(graph, rank);
    for (const SharedMatrix matrix : all_shared_matrices) {
        std::optional<int> home;
        for (const int b : here) {
            const Operator* user = user_of(matrix, graph.network(), b);
            if (user == nullptr) continue;
            if (home) shared.emplace(b, SharedUse{*home, user->is_trained()});
            if (!home) home = b;
        }
    }
    return shared;
}

std::vector<int> stages_with(const TaskGraph& graph, SharedMatrix matrix) {
    std::vector<int> stages;
    std::set<int> seen;
    for (GraphRank rank = 0; rank < graph.ranks().size(); ++rank) {
        const RankInfo& info = graph.ranks()[rank];
        if (info.server || !seen.insert(info.stage).second) continue;
        const auto trains = [&](int b) {
            const Operator* user = user_of(matrix, graph.network(), b);
            return user != nullptr && user->is_trained();
        };
        if (std::ranges::any_of(blocks_of(graph, rank), trains)) stages.push_back(info.stage);
    }
    std::ranges::sort(stages);
    return stages;
}

RankPlan plan_rank(const TaskGraph& graph, GraphRank rank, PassingArrays passing) { return Planner(graph, rank, passing).write(); }

}  // namespace sextant
