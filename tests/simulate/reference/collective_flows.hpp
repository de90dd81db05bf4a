// A collective as the individual flows that its algorithm sends, over links shared max-min fairly.
//
// It goes by rounds; in each, a rank sends to one other rank at most. A rank starts its send of a round when its own send of the round
// before is through and what it was to receive in that round has come. The route's latency passes first, then the bytes flow.
// Ranks need not be in the same round.
#pragma once

#include "tests/simulate/reference/rank_network.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace sextant {

struct Rounds {
    std::vector<int> to;  // by rank, whom it sends to; itself where it sends nothing. No two send to the same rank.
    int count = 1;        // so many rounds alike
    Bytes bytes;          // that each rank sends in each of them
};

struct CollectiveSchedule {
    int ranks = 1;
    std::vector<Rounds> rounds;
};

// `bytes` as in docs/model/collectives.md: of the buffer; all-gather: of the result; reduce-scatter: of the input; all-to-all: sent by one
// rank. Ring r sends to r + 1. Every algorithm is free for a single rank.
CollectiveSchedule ring_all_reduce(int ranks, Bytes);
CollectiveSchedule ring_all_gather(int ranks, Bytes);
CollectiveSchedule ring_reduce_scatter(int ranks, Bytes);
// Scatter in rings inside groups of `group` consecutive ranks, all-reduce in rings over the ranks that hold the same part, gather inside.
CollectiveSchedule two_level_all_reduce(int groups, int group, Bytes);
// Round k: to the rank k further on.
CollectiveSchedule pairwise_all_to_all(int ranks, Bytes);
// Rank r passes on to 2 r + 1, then to 2 r + 2; rank 0 has it first.
CollectiveSchedule tree_broadcast(int ranks, Bytes);

struct PlayedCollective {
    Seconds end;               // of the last flow, from 0
    std::uint64_t flows = 0;   // that it consists of
    std::uint64_t events = 0;  // that it took to find the end; 0 where folded
};

// Flow by flow.
PlayedCollective play(const RankNetwork&, const CollectiveSchedule&);

// One round for all rounds alike, without replaying them; none where that would not be exact. It is exact
//   - where every rank sends and receives in each round, and all flows of a round have the same rate and latency: they start together,
//     and so end together;
//   - in the last rounds alike, also where each flow goes as fast as it would alone although all are under way: then nobody ever
//     slows another, and the slowest flow of a round sets the pace: count times its time.
// docs/model/link_sharing.md proves both.
std::optional<PlayedCollective> fold(const RankNetwork&, const CollectiveSchedule&);

// Folded where that is exact, else flow by flow.
PlayedCollective simulate_collective(const RankNetwork&, const CollectiveSchedule&);

}  // namespace sextant
