// The price of each work of a task graph, found once for all its segments. Filled from the functions that the closed form uses
// (model/predict/cost_table.cpp), so that predict and simulate cannot drift apart.
#pragma once

#include "model/base/quantity.hpp"
#include "model/cost/collectives.hpp"
#include "model/graph/trace.hpp"

#include <optional>
#include <vector>

namespace sextant {

// A stretch of kernels without communication, and the exchange that follows it, if any.
struct PricedExchange {
    ParallelGroup group = ParallelGroup::tensor;
    CollectivePrice price;
    double hidden = 0;  // fraction that goes on behind the kernels that follow
};

struct Piece {
    SpanKind kind = SpanKind::forward;
    Seconds device;  // kernels, alone on the device
    Seconds host;    // to issue them, and the exchange
    Bytes bytes;     // memory traffic
    Flops flops;
    std::optional<PricedExchange> exchange;
};

struct WorkPrice {
    std::vector<Piece> pieces;
    // Memory of the rank: held from the start of the segment on, given back at its end, and in use only while it runs.
    Bytes allocates, releases, working;
};

struct CostTable {
    std::vector<WorkPrice> works;  // by WorkIndex
    double overlap_slowdown = 1;   // kernels run this much longer while communication uses the device
    // A background thread wakes once a cycle and reduces together what is ready then, up to so many bytes (Horovod's tensor fusion).
    struct Fusion {
        Seconds cycle;
        Bytes most;
    };
    std::optional<Fusion> fusion;
};

}  // namespace sextant
