// Memory of a stage over time: what its work allocates and releases, at the times that a trace gives.
//
// A segment holds what it allocates from the start of its first span on, uses its working memory until the end of its last span, and
// releases memory there (WorkPrice in model/cost/cost_table.hpp). What it still exchanges while the next segment computes needs none of
// that memory. A segment with nothing to run allocates and releases when the one before it in the graph is done. At the same instant
// segments are taken in the order of the graph, in which the end of a segment comes before the start of the next one.
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
    Bytes held;  // from then until the next point
    friend bool operator==(const MemoryPoint&, const MemoryPoint&) = default;
};

struct MemoryTimeline {
    int stage = 0;
    GraphRank rank = 0;              // the first of the stage
    StageMemory base;                // what is held all the time
    std::vector<MemoryPoint> curve;  // from time 0: activations, logits, and what is in use only while a segment runs
    Bytes highest;                   // point of the curve,
    Seconds highest_at;              // and when it is first reached

    [[nodiscard]] Bytes peak() const { return base.total() + highest; }
};

// One for each stage of `base`, in order. `segments` and the prices of their works: those of the graph that the trace is of.
std::vector<MemoryTimeline> memory_timelines(const Trace&, std::span<const Segment> segments, const CostTable&,
                                             std::span<const StageMemory> base);

// The most that the curve holds within each of `intervals` equal parts of [0, end].
std::vector<Bytes> highest_by_interval(const MemoryTimeline&, Seconds end, std::size_t intervals);

}  // namespace sextant
