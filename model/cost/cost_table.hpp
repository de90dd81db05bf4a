// The price of each work of a task graph, found once for all its segments. Filled from the functions that the closed form uses
// (model/predict/cost_table.cpp), so that predict and simulate cannot drift apart.
#pragma once

#include "model/base/quantity.hpp"
#include "model/cost/collectives.hpp"
#include "model/graph/trace.hpp"
#include "model/plan/gradient_fusion.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant {

// A stretch of kernels without communication, and the exchange that follows it, if any.
struct PricedExchange {
    ParallelGroup group = ParallelGroup::tensor;
    CollectivePrice price;
    double hidden = 0;  // fraction that goes on behind the kernels that follow
    // What is called, and its bytes as collective_price counts them: for who prices it elsewhere.
    Collective what = Collective::all_reduce;
    Bytes size{};
};

// Samples that workers read and decode. They go as fast as the workers can and as what they share leaves them (LoaderPrices).
struct PricedLoad {
    Bytes bytes;         // of the samples as stored: what progress is counted in
    double reading = 1;  // part of the workers' time; the rest they decode
};

struct Piece {
    SpanKind kind = SpanKind::forward;
    Seconds device;  // kernels, alone on the device
    Seconds host;    // to issue them, and the exchange
    Bytes bytes;     // memory traffic
    Flops flops;
    std::optional<PricedExchange> exchange{};
    std::optional<PricedLoad> load{};
};

// How long a piece takes where kernels take `slowness` times as long as usual. Copies, hosts and servers keep their pace.
inline Seconds device_time(const Piece& piece, double slowness) {
    return runs_kernels(piece.kind) ? slowness * piece.device : piece.device;
}

struct WorkPrice {
    std::vector<Piece> pieces;
    // Memory of the rank: held from the start of the segment on, given back at its end, and in use only while it runs.
    Bytes allocates, releases, working;
};

// Something that loaders share with each other and with the training, and what each byte of a load takes of it: bytes, operations, opens or
// seconds of cores, and those a second.
struct LoaderShare {
    enum class Of { all_nodes, node, network };  // network: what a node has, and its other traffic shares
    std::string name;
    Of of = Of::all_nodes;
    double per_second = 0, of_byte = 0;
};

struct LoaderPrices {
    Bandwidth pace;                   // of a rank's workers, with everything to themselves
    std::vector<LoaderShare> shares;  // the last: the cores of a node's host
    double kernel_cores = 0;          // that the kernels of one rank keep busy; they come before the workers
};

struct CostTable {
    std::vector<WorkPrice> works;  // by WorkIndex
    bool hosts_wait = false;       // until a segment of kernels may start: they issue nothing ahead of it
    double overlap_slowdown = 1;   // kernels run this much longer while communication uses the device
    std::optional<GradientFusion> fusion;
    std::optional<LoaderPrices> loaders;  // where samples are read
};

}  // namespace sextant
