// A parameter server: one process that holds its part of all weights, and of the optimizer's states. It has a single thread, which takes
// what comes in the order in which it comes.
//
// Synchronous: it sums what all workers push, updates once it has everything, and sends all of them the weights. Asynchronous: every push
// is an update of its block; a worker whose step is through gets the weights as they are at that moment.
#pragma once

#include "backend/exec/rank_runner.hpp"
#include "backend/exec/server_traffic.hpp"

#include <map>

namespace sextant {

class ServerRunner {
public:
    // `server`: its number.
    ServerRunner(const Job&, int server, ComputeDevice&, Transport&, Whereabouts&);

    StepRecord step(int number);
    // The weights after the last step, to all workers.
    void send_weights();
    [[nodiscard]] RankMemory& memory() { return memory_; }

    [[nodiscard]] const Tally& applied() const { return applied_; }
    // Of every step of a worker but its first: updates by steps of others between the moment when its weights left and its last update.
    [[nodiscard]] const std::vector<int>& staleness() const { return staleness_; }

private:
    struct Worker {
        std::vector<ServedRound> rounds;
        std::size_t round = 0, push = 0;  // that come next
        Array incoming{};
        std::vector<Array> weights{};  // on their way to it, by block, where they are a copy
        std::optional<int> left_at{};  // steps applied when they left
        [[nodiscard]] const Push& next() const { return rounds[round].pushes[push]; }
    };

    void receive(int worker);
    void serve(int worker);
    void end_round(int worker);
    void update_all(SegmentIndex);
    void drop_sums();
    void send(int worker, bool copy);
    void drain();
    void record(SegmentIndex, Seconds start, std::int64_t moved_elements);

    const Job& job_;
    bool together_;
    ComputeDevice& device_;
    Transport& transport_;
    Whereabouts& where_;
    RankMemory memory_;
    std::vector<Worker> workers_;
    std::map<Ticket, std::optional<int>> under_way_;  // what comes from which worker; none: a message that leaves, a barrier
    std::map<int, int> updates_;                      // by block
    std::vector<RecordedSpan> spans_;
    int step_ = 0, steps_applied_ = 0, waiting_ = 0;
    Tally applied_;
    std::vector<int> staleness_;
};

}  // namespace sextant
