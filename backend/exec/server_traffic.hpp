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

// Some gradients of a message, one of many: a look at all of them would be one more pass over memory. In the order of the device.
Array sampled(ComputeDevice&, const Array& gradients);

// What was sent or applied. The sum is over the bits of what was sampled of each message, so that one that is lost, or counted twice,
// shows.
struct Tally {
    std::int64_t updates = 0;
    std::uint32_t bits = 0;
    void add(ComputeDevice&, const Array& samples);
};

// A worker's end of it.
class ServerLink {
public:
    ServerLink(const Job&, GraphRank worker, RankMemory&);

    [[nodiscard]] std::vector<Call> push(SegmentIndex) const;
    [[nodiscard]] std::vector<Call> pull() const;

    // By the thread that computes: of a block whose gradients are whole, before they are pushed; and of all of a step, at its end, as to
    // ask a device for them is to wait for it.
    void sample(ComputeDevice&, int block);
    void count_samples(ComputeDevice&);
    [[nodiscard]] const Tally& pushed() const { return pushed_; }

private:
    [[nodiscard]] Array part_of(int server, const Array& run) const;
    [[nodiscard]] MessageCall message(int server, int tag, bool receives, const Array& run) const;

    const Job& job_;
    RankMemory& memory_;
    std::map<SegmentIndex, int> blocks_;  // by push
    std::vector<Array> samples_;          // of each message of this step
    Tally pushed_;
};

}  // namespace sextant
