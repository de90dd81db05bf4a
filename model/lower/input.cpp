#include "model/lower/rank_writer.hpp"

#include <algorithm>
#include <map>

namespace sextant {

// A queue longer than a step would be full or empty all the same. Of those that wait one may be loaded while the one before it is copied.
std::optional<InputPipeline> input_pipeline(const Scenario& s) {
    const DataSource& data = s.data;
    if (data.synthetic) return {};
    const std::int64_t micro_batches = std::max<std::int64_t>(1, s.plan.micro_batches()), waiting = waiting_batches(data);
    InputPipeline input;
    input.copies = s.cluster.node.device.kind != DeviceKind::cpu;
    input.beside = data.pinned && waiting > 0;
    input.behind = input.copies && input.beside && waiting > 1;
    input.ahead = static_cast<int>(std::min(micro_batches, waiting - (input.behind ? 1 : 0)));
    return input;
}

// Ranks of one tensor and context group see the same samples.
void add_feeds(LoweredJob& job) {
    if (!job.input) return;
    const std::size_t ranks = job.builder.so_far().ranks().size();
    job.loads.resize(ranks), job.copies.resize(ranks), job.takes.resize(ranks);
    std::map<std::pair<int, int>, std::vector<int>> groups;  // by stage and place among the data-parallel ranks
    for (int r = 0; r < job.layout.ranks(); ++r) {
        const RankPlace place = job.layout.place_of(r);
        groups[{place.pipeline, place.data}].push_back(r);
    }
    for (const auto& [where, group] : groups) {
        const auto first = static_cast<GraphRank>(job.fold == Fold::alike ? where.first : group.front());
        if (auto& known = job.builder.rank(first).feed; known) {  // folded: a concurrent group of the same stage
            job.builder.communicator(*known).sets.push_back(group);
            continue;
        }
        Communicator feed{ParallelGroup::tensor, {first}, {group}};
        if (job.fold == Fold::nothing) feed.members.assign(group.begin(), group.end());
        const std::vector<GraphRank> members = feed.members;
        const CommunicatorIndex index = job.builder.add(std::move(feed));
        for (const GraphRank r : members) job.builder.rank(r).feed = index;
    }
}

bool RankWriter::reads() const {
    const TaskGraph& graph = job_.builder.so_far();
    return graph.communicators()[*graph.ranks()[rank_].feed].members.front() == rank_;
}

// A step begins with as many micro-batches ready as may wait; each that is taken makes room for one more, of this step or the next, which
// is loaded from then on. The step is not over before all are: the next one begins like it.
void RankWriter::take_samples() {
    const InputPipeline& input = *job_.input;
    const double samples = static_cast<double>(job_.plan.micro_batch);
    const std::optional<SegmentIndex> asks = last_compute_;
    const SegmentIndex take = put(Stream::compute, TakeWork{});
    job_.takes[rank_].push_back(take);
    if (input.copies && !input.beside) put(Stream::compute, CopyWork{samples});
    const auto bring = [&](Stream stream, const Work& work, int ahead) {
        const auto all = static_cast<std::uint32_t>(job_.builder.steps * job_.micro_batches);
        const auto comes = static_cast<std::uint32_t>(job_.takes[rank_].size() - 1 + static_cast<std::size_t>(ahead));
        return job_.builder.add({job_.builder.work(work), rank_, *job_.builder.rank(rank_).feed, comes % all, 0, stream});
    };
    if (reads()) {
        job_.loads[rank_].push_back(bring(Stream::loader, LoadWork{samples}, input.ahead + (input.behind ? 1 : 0)));
        const std::optional<SegmentIndex> room = input.ahead > 0 ? take : asks;
        if (room) job_.builder.wait(job_.loads[rank_].back(), *room);
    }
    if (input.copies && input.beside) {
        job_.copies[rank_].push_back(bring(Stream::copy, CopyWork{samples}, input.ahead));
        job_.builder.wait(job_.copies[rank_].back(), take);
    }
}

void connect_feeds(LoweredJob& job) {
    if (!job.input) return;
    const auto ahead = static_cast<std::size_t>(job.input->ahead);
    for (GraphRank r = 0; r < job.takes.size(); ++r) {
        if (job.takes[r].empty()) continue;
        const TaskGraph& graph = job.builder.so_far();
        const GraphRank reader = graph.communicators()[*graph.ranks()[r].feed].members.front();
        const std::size_t behind = job.input->behind ? 1 : 0;
        for (std::size_t i = behind; i < job.copies[r].size(); ++i) job.builder.wait(job.copies[r][i], job.loads[reader][i - behind]);
        const std::vector<SegmentIndex>& brought = job.copies[r].empty() ? job.loads[reader] : job.copies[r];
        for (std::size_t i = ahead; i < job.takes[r].size(); ++i) job.builder.wait(job.takes[r][i], brought[i - ahead]);
    }
}

}  // namespace sextant
