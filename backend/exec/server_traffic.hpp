// The messages between a worker and the parameter servers.
//
// Every server has an equal part of every block's run of parameters. A worker pushes the gradients of one block at a time, in the order of
// backward, to each server its part. It pulls the weights of all blocks, in their order, from all servers. Messages of one kind between two
// processes arrive in the order in which they were sent, so each kind needs only one tag.
#pragma once

#include "backend/exec/job.hpp"
#include "backend/exec/rank_memory.hpp"
#include "backend/exec/transport.hpp"

#include <vector>

namespace sextant {

struct Push {
    SegmentIndex segment = 0, served = 0;  // the segment of the worker, and that of the server which handles it
    int block = 0;
};

// A training step of a worker.
struct ServedRound {
    std::vector<Push> pushes;
    SegmentIndex pull = 0;
};
std::vector<ServedRound> served_rounds(const TaskGraph&, GraphRank worker);

// A sample of the gradients of a message: reading all of them would be one more pass over memory.
Array sampled(ComputeDevice&, const Array& gradients);

// How much was sent or applied. `bits` sums the bits of each message's sample, so that a message that is lost or counted twice shows.
struct UpdateChecksum {
    std::int64_t updates = 0;
    std::uint32_t bits = 0;
    void add(ComputeDevice&, const Array& samples);
};

// The worker's side.
class ServerLink {
public:
    ServerLink(const Job&, GraphRank worker, RankMemory&);

    [[nodiscard]] std::vector<Call> push(SegmentIndex) const;
    [[nodiscard]] std::vector<Call> pull() const;

    // For the thread that computes. sample() is called for a block whose gradients are complete, before they are pushed; count_samples() at
    // the end of a step, because reading the samples waits for the device.
    void sample(ComputeDevice&, int block);
    void count_samples(ComputeDevice&);
    [[nodiscard]] const UpdateChecksum& pushed() const { return pushed_; }

private:
    [[nodiscard]] Array part_of(int server, const Array& run) const;
    [[nodiscard]] MessageCall message(int server, int tag, bool receives, const Array& run) const;

    const Job& job_;
    RankMemory& memory_;
    std::map<SegmentIndex, int> blocks_;  // by push
    std::vector<Array> samples_;          // of each message of this step
    UpdateChecksum pushed_;
};

}  // namespace sextant
