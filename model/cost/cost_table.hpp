// The price of each work of a task graph, found once for all its segments. Filled from the functions that the closed form uses
// (model/predict/cost_table.cpp), so that predict and simulate cannot drift apart.
#pragma once

#include "model/base/quantity.hpp"
#include "model/cost/collectives.hpp"
#include "model/cost/shared_with_servers.hpp"
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
    double hidden = 0;  // the fraction that goes on behind the kernels that follow
    // What is called, with its bytes as collective_price counts them, for those who price it elsewhere.
    Collective what = Collective::all_reduce;
    Bytes size{};
};

// Samples that workers read and decode, as fast as the workers can and as the resources that they share allow (LoaderPrices).
struct PricedLoad {
    Bytes bytes;         // of the samples as stored: what progress is counted in
    double reading = 1;  // the fraction of the workers' time; the rest of it they decode
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

// How long a piece takes on a rank whose kernels take `slowness` times as long as usual. Copies, hosts and servers keep their pace.
inline Seconds device_time(const Piece& piece, double slowness) {
    return runs_kernels(piece.kind) ? slowness * piece.device : piece.device;
}

struct WorkPrice {
    std::vector<Piece> pieces;
    Bytes allocates;  // memory of the rank that is held from the start of the segment on
    Bytes releases;   // that is given back at its end
    Bytes working;    // that is in use only while it runs
};

// A resource that loaders share with each other and with the training, and how much of it each byte of a load takes: bytes, operations,
// opens or core seconds, and those a second.
struct LoaderShare {
    enum class SharedBy { all_nodes, node, network };  // the loaders of all nodes, of one, or of one and what else it sends and receives
    std::string name;
    SharedBy shared_by = SharedBy::all_nodes;
    double per_second = 0, of_byte = 0;
};

struct LoaderPrices {
    Bandwidth pace;                   // of a rank's workers that have everything to themselves
    std::vector<LoaderShare> shares;  // the last: the cores of a node's host
    double kernel_cores = 0;          // cores that the kernels of one rank keep busy; these go before the workers
};

struct CostTable {
    std::vector<WorkPrice> works;  // by WorkIndex
    bool hosts_wait = false;       // hosts issue nothing of a segment before it may start;
    bool hosts_load = false;       // of a micro-batch, before its samples are there: nobody reads ahead
    double overlap_slowdown = 1;   // how many times as long kernels take while communication uses the device
    std::optional<GradientFusion> fusion;
    std::optional<LoaderPrices> loaders;       // where samples are read
    std::optional<SharedWithServers> servers;  // where they are processes beside the workers
};

}  // namespace sextant
