#include "backend/exec/rank_activity.hpp"

#include "model/base/overloaded.hpp"

namespace sextant {
namespace {

std::string rank_text(const TaskGraph& graph, GraphRank rank) {
    const RankInfo& info = graph.ranks()[rank];
    return (info.server ? "server " : "rank ") + std::to_string(info.rank);
}

}  // namespace

std::string operation_text(const TaskGraph& graph, SegmentIndex index) {
    const Segment& s = graph.segments()[index];
    const Work& work = graph.works()[s.work];
    const std::string micro_batch = ", micro-batch " + std::to_string(s.micro_batch);
    return std::visit(
        Overloaded{
            [&](const ComputeWork&) { return describe(work) + micro_batch; },
            [&](const CollectiveWork& w) { return describe(work) + ", over the " + std::string(to_text(w.group)) + " group"; },
            [&](const TransferWork& w) {
                const std::vector<GraphRank>& ends = graph.communicators()[s.communicator].members;
                const bool back = w.payload == Payload::weights;
                return "transfer of " + std::string(to_text(w.payload)) + " from " + rank_text(graph, ends[back ? 1 : 0]) + " to " +
                       rank_text(graph, ends[back ? 0 : 1]) + micro_batch;
            },
            [&](const ServeWork&) { return describe(work) + " of rank " + std::to_string(s.worker); },
            [&](const auto&) { return describe(work); },
        },
        work);
}

void RankActivity::at(const char* activity) {
    activity_ = activity;
    graph_ = nullptr;
}

void RankActivity::at(const TaskGraph& graph, int step, SegmentIndex segment) {
    step_ = step;
    segment_ = segment;
    graph_ = &graph;
}

std::string RankActivity::text() const {
    const TaskGraph* graph = graph_;
    if (graph == nullptr) return activity_.load();
    std::string text = "step " + std::to_string(step_ + 1) + ", " + operation_text(*graph, segment_);
    if (const SegmentIndex awaited = awaited_; awaited != nothing) text += ", waiting for " + operation_text(*graph, awaited);
    return text;
}

}  // namespace sextant
