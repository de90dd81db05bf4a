// Memory of a stage over time: what its work allocates and gives back, when a trace says that it ran.
//
// A segment holds what it allocates from the start of its first span on, uses its working memory until the end of its last span, and gives
// back there what it releases (WorkPrice in model/cost/cost_table.hpp). What it still exchanges while the next one computes needs none of
// that any more. A segment without anything to run does so when the one before it in the graph is done. At one instant segments are taken
// in the order of the graph, in which the end of a segment comes before the start of the one after it.
#pragma once

#include "model/cost/cost_table.hpp"
#include "model/graph/task_graph.hpp"
#include "model/graph/trace.hpp"
#include "model/predict/estimate.hpp"

#include <span>
#include <vector>

namespace sextant {

struct MemoryPoint {
    Seconds at;
    Bytes held;  // from then on, until the next point
    friend bool operator==(const MemoryPoint&, const MemoryPoint&) = default;
};

struct MemoryTimeline {
    int stage = 0;
    GraphRank rank = 0;              // the first of the stage
    StageMemory base;                // what is held all the time; activations and logits are in the curve
    std::vector<MemoryPoint> curve;  // from time 0; activations, and what is in use only while a segment runs
    Bytes highest;                   // of the curve
    Seconds highest_at;              // for the first time

    [[nodiscard]] Bytes peak() const { return base.total() + highest; }
};

// One for each stage of `base`, in order. `segments` and the prices of their works: those of the graph that the trace is of.
std::vector<MemoryTimeline> memory_timelines(const Trace&, std::span<const Segment> segments, const CostTable&,
                                             std::span<const StageMemory> base);

// The most that the curve holds within each of `intervals` equal parts of [0, end].
std::vector<Bytes> highest_by_interval(const MemoryTimeline&, Seconds end, std::size_t intervals);

}  // namespace sextant
