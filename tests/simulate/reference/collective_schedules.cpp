#include "tests/simulate/reference/collective_flows.hpp"

#include <numeric>

namespace sextant {
namespace {

// Ranks r of a ring with the members first, first + stride, ... send to the next.
void close_ring(std::vector<int>& to, int first, int stride, int size) {
    for (int i = 0; i < size; ++i) to[first + i * stride] = first + (i + 1) % size * stride;
}

CollectiveSchedule ring(int ranks, Bytes bytes, int passes) {
    CollectiveSchedule schedule{ranks, {}};
    if (ranks == 1) return schedule;
    Rounds rounds{std::vector<int>(ranks), passes * (ranks - 1), bytes / ranks};
    close_ring(rounds.to, 0, 1, ranks);
    schedule.rounds.push_back(std::move(rounds));
    return schedule;
}

}  // namespace

CollectiveSchedule ring_all_reduce(int ranks, Bytes bytes) { return ring(ranks, bytes, 2); }
CollectiveSchedule ring_all_gather(int ranks, Bytes bytes) { return ring(ranks, bytes, 1); }
CollectiveSchedule ring_reduce_scatter(int ranks, Bytes bytes) { return ring(ranks, bytes, 1); }

CollectiveSchedule two_level_all_reduce(int groups, int group, Bytes bytes) {
    if (groups == 1) return ring_all_reduce(group, bytes);
    if (group == 1) return ring_all_reduce(groups, bytes);
    const int ranks = groups * group;
    Rounds inside{std::vector<int>(ranks), group - 1, bytes / group};
    for (int g = 0; g < groups; ++g) close_ring(inside.to, g * group, 1, group);
    Rounds across{std::vector<int>(ranks), 2 * (groups - 1), bytes / ranks};
    for (int r = 0; r < group; ++r) close_ring(across.to, r, group, groups);
    return {ranks, {inside, across, inside}};
}

CollectiveSchedule pairwise_all_to_all(int ranks, Bytes bytes) {
    CollectiveSchedule schedule{ranks, {}};
    for (int k = 1; k < ranks; ++k) {
        Rounds round{std::vector<int>(ranks), 1, bytes / ranks};
        for (int r = 0; r < ranks; ++r) round.to[r] = (r + k) % ranks;
        schedule.rounds.push_back(std::move(round));
    }
    return schedule;
}

CollectiveSchedule tree_broadcast(int ranks, Bytes bytes) {
    CollectiveSchedule schedule{ranks, {}};
    // Level by level: the ranks of a level send to their first children, then to their second ones.
    for (int begin = 0; 2 * begin + 1 < ranks; begin = 2 * begin + 1)
        for (const int child : {1, 2}) {
            Rounds round{std::vector<int>(ranks), 1, bytes};
            std::iota(round.to.begin(), round.to.end(), 0);
            for (int r = begin; r < 2 * begin + 1 && 2 * r + child < ranks; ++r) round.to[r] = 2 * r + child;
            schedule.rounds.push_back(std::move(round));
        }
    return schedule;
}

}  // namespace sextant
