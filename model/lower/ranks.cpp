#include "model/lower/rank_writer.hpp"

namespace sextant {
namespace {

constexpr ParallelGroup block_and_data_groups[] = {
    ParallelGroup::tensor, ParallelGroup::context,     ParallelGroup::expert, ParallelGroup::expert_tensor,
    ParallelGroup::data,   ParallelGroup::expert_data, ParallelGroup::shard,  ParallelGroup::replicas,
};

// The graph's rank for a rank of the job: itself, or the one that stands for its stage.
GraphRank represented(const LoweredJob& job, int rank) {
    return static_cast<GraphRank>(job.fold == Fold::alike ? job.layout.place_of(rank).pipeline : rank);
}

void add_group(LoweredJob& job, ParallelGroup group, const std::vector<int>& ranks) {
    const GraphRank first = represented(job, ranks.front());
    auto& known = job.builder.rank(first).communicators[group];
    if (job.fold == Fold::alike && known) {  // a concurrent group of the same stage
        job.builder.communicator(*known).sets.push_back(ranks);
        return;
    }
    Communicator communicator{group, {}, {ranks}};
    if (job.fold == Fold::alike) {
        communicator.members = {first};
    } else {
        for (const int r : ranks) communicator.members.push_back(represented(job, r));
    }
    const std::vector<GraphRank> members = communicator.members;
    const CommunicatorIndex index = job.builder.add(std::move(communicator));
    for (const GraphRank r : members) job.builder.rank(r).communicators[group] = index;
}

// From every rank to the one `step` stages further in its pipeline.
void add_neighbours(LoweredJob& job, int step, std::vector<std::optional<CommunicatorIndex>>& to) {
    const int stages = job.plan.pp;
    for (int r = 0; r < job.layout.ranks(); ++r) {
        RankPlace place = job.layout.place_of(r);
        place.pipeline = (place.pipeline + stages + step) % stages;
        const int peer = job.layout.rank_at(place);
        const GraphRank from = represented(job, r);
        if (to[from])
            job.builder.communicator(*to[from]).sets.push_back({r, peer});
        else
            to[from] = job.builder.add(Communicator{ParallelGroup::pipeline, {from, represented(job, peer)}, {{r, peer}}});
    }
}

}  // namespace

GraphRank LoweredJob::at_stage(int stage, GraphRank neighbour) const {
    if (fold == Fold::alike) return static_cast<GraphRank>(stage);
    RankPlace place = layout.place_of(static_cast<int>(neighbour));
    place.pipeline = stage;
    return static_cast<GraphRank>(layout.rank_at(place));
}

void add_ranks(LoweredJob& job) {
    const Plan& plan = job.plan;
    if (job.fold == Fold::alike) {
        for (int s = 0; s < plan.pp; ++s)
            job.builder.add(RankInfo{job.layout.rank_at({.pipeline = s}), s, job.layout.ranks() / plan.pp, false, {}});
    } else {
        for (int r = 0; r < job.layout.ranks(); ++r) job.builder.add(RankInfo{r, job.layout.place_of(r).pipeline, 1, false, {}});
    }
    for (const ParallelGroup group : block_and_data_groups)
        if (job.layout.size_of(group) > 1)
            for (const std::vector<int>& ranks : job.layout.groups(group)) add_group(job, group, ranks);
    const std::size_t ranks = job.builder.so_far().ranks().size();
    job.to_next.resize(ranks);
    job.to_previous.resize(ranks);
    if (plan.pp < 2) return;
    add_neighbours(job, 1, job.to_next);
    add_neighbours(job, -1, job.to_previous);
}

}  // namespace sextant
