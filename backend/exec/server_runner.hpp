// A parameter server: a process that holds its part of all weights and of the optimizer's states. A single thread handles messages in the
// order in which they arrive.
//
// Synchronous: it sums what all workers push, updates when it has everything, and sends the weights to all. Asynchronous: every push
// updates its block, and a worker that has finished its step gets the weights as they are then.
#pragma once

#include "backend/exec/rank_runner.hpp"
#include "backend/exec/server_traffic.hpp"

#include <map>

namespace sextant {

class ServerRunner {
public:
    // `server`: its number among the servers.
    ServerRunner(const Job&, int server, ComputeDevice&, Transport&, RankActivity&);

    StepRecord step(int number);
    // Sends the weights after the last step to all workers.
    void send_weights();
    [[nodiscard]] RankMemory& memory() { return memory_; }

    [[nodiscard]] const UpdateChecksum& applied() const { return applied_; }
    // For every step of a worker but its first: how many steps of other workers were applied between the moment when its weights left and
    // its last update.
    [[nodiscard]] const std::vector<int>& staleness() const { return staleness_; }

private:
    struct Worker {
        std::vector<ServedRound> rounds;
        std::size_t round = 0, push = 0;  // that come next
        Array incoming{};
        std::vector<Array> weights{};  // by block: copies on their way to it
        std::optional<int> left_at{};  // how many steps had been applied when its weights left
        [[nodiscard]] const Push& next() const { return rounds[round].pushes[push]; }
    };

    void receive(int worker);
    void serve(int worker);
    void end_round(int worker);
    void update_all(SegmentIndex);
    void drop_sums();
    void send(int worker, bool copy);
    [[nodiscard]] bool more_is_near() const;
    void drain();
    void record(SegmentIndex, Seconds start, std::int64_t moved_elements);

    const Job& job_;
    bool together_;
    ComputeDevice& device_;
    Transport& transport_;
    RankActivity& activity_;
    RankMemory memory_;
    std::vector<Worker> workers_;
    std::map<Ticket, std::optional<int>> under_way_;  // the worker from which a message comes; none: an outgoing message or a barrier
    std::map<int, int> updates_;                      // by block
    std::vector<RecordedSpan> spans_;
    int step_ = 0, steps_applied_ = 0, waiting_ = 0;
    UpdateChecksum applied_;
    std::vector<int> staleness_;
};

}  // namespace sextant
