#include "backend/exec/rank_plan.hpp"

#include "backend/exec/server_traffic.hpp"

namespace sextant {
namespace {

class Planner {
public:
    Planner(const TaskGraph& graph, GraphRank rank, std::optional<int> tied_to_first, bool gathers_weights)
        : graph_(graph), rank_(rank), tied_(tied_to_first), gathers_(gathers_weights) {
        for (const ServedRound& round : served_rounds(graph, rank))
            for (const Push& push : round.pushes) pushed_[push.segment] = push.block;
    }

    RankPlan write() {
        for (at_ = 0; at_ < graph_.segments().size(); ++at_) {
            const Segment& s = graph_.segments()[at_];
            if (s.rank != rank_) continue;
            if (s.stream == Stream::compute) plan_.compute.push_back(at_);
            for (const SegmentIndex before : graph_.waits_for(at_))
                if (comes_from_afar(graph_.segments()[before])) plan_.arriving.push_back(before);
            std::visit([&](const auto& work) { take(work); }, graph_.works()[s.work]);
        }
        for (const auto& [block, segment] : last_backward_) plan_.plans[segment].completes.push_back(block);
        for (const auto& [gather, segment] : last_use_) plan_.plans[segment].releases.push_back(gather);
        return std::move(plan_);
    }

private:
    [[nodiscard]] bool comes_from_afar(const Segment& s) const {
        return s.rank != rank_ && !graph_.ranks()[s.rank].server && !brings_samples(graph_.works()[s.work]);
    }
    void take(const ComputeWork& work) {
        for (int b = work.first_block; b < work.first_block + work.count; ++b) {
            if (work.phase != Phase::forward) {
                adds_to(b);
                if (tied_ == b) adds_to(0);
            }
            if (!gathers_ || !gather_.contains(b)) continue;
            const Gathers& of_block = plan_.plans[at_].gathered_by[b] = gather_[b];
            for (const std::optional<SegmentIndex> gather : {of_block.dense, of_block.experts})
                if (gather) last_use_[*gather] = at_;
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
    void take(const TransferWork&) {
        if (const auto push = pushed_.find(at_); push != pushed_.end()) reduce(push->second);
    }
    void take(const UpdateWork&) { settle_all(); }
    void take(const OverheadWork& work) {
        if (!work.of_step) return;
        settle_all();
        reductions_.clear();
    }
    template <class Other>
    void take(const Other&) {}

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
    void settle_all() {
        while (!pending_.empty()) settle(pending_.begin()->first);
    }

    const TaskGraph& graph_;
    GraphRank rank_;
    std::optional<int> tied_;
    bool gathers_;
    SegmentIndex at_ = 0;
    RankPlan plan_;
    std::map<int, SegmentIndex> pending_, last_backward_;  // by block
    std::map<int, Gathers> gather_;
    std::map<int, int> reductions_;
    std::map<SegmentIndex, int> pushed_;  // blocks whose gradients go to the servers
    std::map<SegmentIndex, SegmentIndex> last_use_;
};

}  // namespace

RankPlan plan_rank(const TaskGraph& graph, GraphRank rank, std::optional<int> tied_to_first, bool gathers_weights) {
    return Planner(graph, rank, tied_to_first, gathers_weights).write();
}

}  // namespace sextant
