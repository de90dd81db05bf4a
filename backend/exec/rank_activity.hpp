// What a rank is doing, for error messages. The thread that works sets it, and any thread may read it.
#pragma once

#include "model/graph/task_graph.hpp"

#include <atomic>
#include <string>

namespace sextant {

// "backward, blocks 3-4, micro-batch 2", "all-reduce of gradients, blocks 0-3, over the data group".
std::string operation_text(const TaskGraph&, SegmentIndex);

class RankActivity {
public:
    // Outside of steps. The text must live as long as the program.
    void at(const char* activity);
    // Inside a step. The graph must live as long as text() may be called.
    void at(const TaskGraph&, int step, SegmentIndex);
    void waits_for(SegmentIndex s) { awaited_ = s; }
    void goes_on() { awaited_ = nothing; }

    // Steps count from 1: "step 3, backward, blocks 3-4, micro-batch 2, waiting for transfer of activations from rank 0 to rank 1,
    // micro-batch 2".
    [[nodiscard]] std::string text() const;

private:
    static constexpr SegmentIndex nothing = static_cast<SegmentIndex>(-1);

    std::atomic<const char*> activity_ = "the start of the program";
    std::atomic<const TaskGraph*> graph_ = nullptr;  // none outside of steps
    std::atomic<int> step_ = 0;
    std::atomic<SegmentIndex> segment_ = 0, awaited_ = nothing;
};

}  // namespace sextant
