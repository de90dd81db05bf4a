// What goes between a worker and the parameter servers, read off the graph, and how it goes.
//
// Every server has an equal part of every block's run of parameters. A worker pushes a block's gradients at a time, the part of each server
// to that one, in the order of backward; it pulls the weights of all blocks, in their order, from all servers. Messages of one kind between
// two processes arrive in the order in which they were sent, so one tag for each is enough.
#pragma once

#include "backend/exec/job.hpp"
#include "backend/exec/rank_memory.hpp"
#include "backend/exec/transport.hpp"

#include <vector>

namespace sextant {

struct Push {
    SegmentIndex segment = 0, served = 0;  // of the worker, and what the server does with it
    int block = 0;
};

// A training step of a worker.
struct ServedRound {
    std::vector<Push> pushes;
    SegmentIndex pull = 0;
};
std::vector<ServedRound> served_rounds(const TaskGraph&, GraphRank worker);

// What was sent or applied. The sum is over the bits of some gradients of each message, so that one that is lost, or counted twice, shows.
struct Tally {
    std::int64_t updates = 0;
    std::uint32_t bits = 0;
    void add(const Array& gradients);
};

// A worker's end of it.
class ServerLink {
public:
    ServerLink(const Job&, GraphRank worker, RankMemory&);

    std::vector<Call> push(SegmentIndex);
    [[nodiscard]] std::vector<Call> pull() const;
    [[nodiscard]] const Tally& pushed() const { return pushed_; }

private:
    [[nodiscard]] MessageCall message(int server, int tag, bool receives, const Array& run) const;

    const Job& job_;
    RankMemory& memory_;
    std::map<SegmentIndex, int> blocks_;  // by push
    Tally pushed_;
};

}  // namespace sextant
