#include "model/graph/task_graph.hpp"

#include "model/base/failure.hpp"
#include "model/base/overloaded.hpp"

#include <algorithm>

namespace sextant {
namespace {

// Every segment comes after those it waits for and after the one before it in its stream: else nothing would ever start.
bool can_run(const TaskGraph& graph) {
    const std::size_t n = graph.segments().size();
    std::vector<std::uint32_t> waiting(n), first(n + 1), last_in_stream(graph.ranks().size() * stream_count, UINT32_MAX);
    std::vector<SegmentIndex> next_in_stream(n, UINT32_MAX), followers(graph.dependency_count()), ready;
    for (SegmentIndex s = 0; s < n; ++s) {
        const Segment& segment = graph.segments()[s];
        std::uint32_t& last = last_in_stream[std::size_t{segment.rank} * stream_count + static_cast<std::size_t>(segment.stream)];
        if (last != UINT32_MAX) {
            next_in_stream[last] = s;
            ++waiting[s];
        }
        last = s;
        for (const SegmentIndex d : graph.waits_for(s)) {
            ++first[d + 1];
            ++waiting[s];
        }
    }
    for (std::size_t s = 0; s < n; ++s) first[s + 1] += first[s];
    std::vector<std::uint32_t> place(first.begin(), first.end() - 1);
    for (SegmentIndex s = 0; s < n; ++s)
        for (const SegmentIndex d : graph.waits_for(s)) followers[place[d]++] = s;
    for (SegmentIndex s = 0; s < n; ++s)
        if (waiting[s] == 0) ready.push_back(s);
    std::size_t done = 0;
    const auto release = [&](SegmentIndex s) {
        if (--waiting[s] == 0) ready.push_back(s);
    };
    while (!ready.empty()) {
        const SegmentIndex s = ready.back();
        ready.pop_back();
        ++done;
        if (next_in_stream[s] != UINT32_MAX) release(next_in_stream[s]);
        for (std::uint32_t i = first[s]; i < first[s + 1]; ++i) release(followers[i]);
    }
    return done == n;
}

// Hashes the fields that tell most works apart.
std::size_t hash_of(const Work& work) {
    const double field = std::visit(Overloaded{
                                        [](const ComputeWork& w) { return 4.0 * w.first_block + static_cast<double>(w.phase); },
                                        [](const CollectiveWork& w) { return w.elements + w.first_block; },
                                        [](const TransferWork& w) { return w.elements; },
                                        [](const UpdateWork& w) { return 1.0 * w.stage; },
                                        [](const OffloadWork& w) { return w.elements + w.stage; },
                                        [](const OverheadWork& w) { return w.of_step ? 1.0 : 0.0; },
                                        [](const ServeWork& w) { return w.elements; },
                                        [](const LoadWork& w) { return w.samples; },
                                        [](const CopyWork& w) { return w.samples; },
                                        [](const TakeWork&) { return 0.0; },
                                    },
                                    work);
    return std::hash<double>{}(field)*7 + work.index();
}

std::string blocks_text(int first, int count) {
    if (count == 1) return "block " + std::to_string(first);
    return "blocks " + std::to_string(first) + "-" + std::to_string(first + count - 1);
}

std::string_view to_text(ExchangeKind k) {
    static constexpr std::string_view names[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "nothing"};
    return names[static_cast<std::size_t>(k)];
}

std::string_view to_text(Offloaded what) {
    static constexpr std::string_view names[] = {"update in host memory", "weights from host memory", "gradients to host memory"};
    return names[static_cast<std::size_t>(what)];
}

}  // namespace

TaskGraphBuilder::TaskGraphBuilder(Network network, std::vector<BlockInstance> blocks) {
    graph_.network_ = std::move(network);
    graph_.blocks_ = std::move(blocks);
}

GraphRank TaskGraphBuilder::add(const RankInfo& info) {
    graph_.ranks_.push_back(info);
    return static_cast<GraphRank>(graph_.ranks_.size() - 1);
}

CommunicatorIndex TaskGraphBuilder::add(Communicator communicator) {
    graph_.communicators_.push_back(std::move(communicator));
    return static_cast<CommunicatorIndex>(graph_.communicators_.size() - 1);
}

WorkIndex TaskGraphBuilder::work(const Work& work) {
    const std::size_t key = hash_of(work);
    for (auto [at, end] = known_works_.equal_range(key); at != end; ++at)
        if (graph_.works_[at->second] == work) return at->second;
    graph_.works_.push_back(work);
    const auto index = static_cast<WorkIndex>(graph_.works_.size() - 1);
    known_works_.emplace(key, index);
    return index;
}

SegmentIndex TaskGraphBuilder::add(const Segment& segment) {
    graph_.segments_.push_back(segment);
    return static_cast<SegmentIndex>(graph_.segments_.size() - 1);
}

void TaskGraphBuilder::wait(SegmentIndex segment, SegmentIndex for_this) { waits_.emplace_back(segment, for_this); }

TaskGraph TaskGraphBuilder::build() && {
    const std::size_t n = graph_.segments_.size();
    graph_.steps_ = steps;
    graph_.first_dependency_.assign(n + 1, 0);
    for (const auto& [segment, for_this] : waits_) ++graph_.first_dependency_[segment + 1];
    for (std::size_t s = 0; s < n; ++s) graph_.first_dependency_[s + 1] += graph_.first_dependency_[s];
    graph_.dependencies_.resize(waits_.size());
    std::vector<std::uint32_t> place(graph_.first_dependency_.begin(), graph_.first_dependency_.end() - 1);
    for (const auto& [segment, for_this] : waits_) graph_.dependencies_[place[segment]++] = for_this;
    if (!can_run(graph_)) broken_invariant("a task graph that waits for itself");
    return std::move(graph_);
}

std::string_view to_text(Stream s) {
    static constexpr std::string_view names[stream_count] = {"compute", "communication", "send_next", "send_previous",
                                                             "copy",    "server",        "loader"};
    return names[static_cast<std::size_t>(s)];
}

std::string_view to_text(Phase p) {
    static constexpr std::string_view names[] = {"forward", "backward", "backward input", "backward weight"};
    return names[static_cast<std::size_t>(p)];
}

std::string_view to_text(Payload p) {
    static constexpr std::string_view names[] = {"gradients", "weights", "activations", "activation gradients"};
    return names[static_cast<std::size_t>(p)];
}

bool brings_samples(const Work& work) { return std::holds_alternative<LoadWork>(work) || std::holds_alternative<CopyWork>(work); }

std::string describe(const Work& work) {
    return std::visit(Overloaded{
                          [](const ComputeWork& w) { return std::string(to_text(w.phase)) + ", " + blocks_text(w.first_block, w.count); },
                          [](const CollectiveWork& w) {
                              return std::string(to_text(w.kind)) + " of " + std::string(to_text(w.payload)) +
                                     (w.count > 0 ? ", " + blocks_text(w.first_block, w.count) : "");
                          },
                          [](const TransferWork& w) { return "send " + std::string(to_text(w.payload)); },
                          [](const UpdateWork&) { return std::string("optimizer"); },
                          [](const OffloadWork& w) { return std::string(to_text(w.what)); },
                          [](const OverheadWork& w) { return std::string(w.of_step ? "end of step" : "micro-batch overhead"); },
                          [](const ServeWork& w) { return std::string(w.update ? "server update" : "server adds gradients"); },
                          [](const LoadWork&) { return std::string("load samples"); },
                          [](const CopyWork&) { return std::string("samples to the device"); },
                          [](const TakeWork&) { return std::string("take samples"); },
                      },
                      work);
}

}  // namespace sextant
