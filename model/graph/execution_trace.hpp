// What each rank of a job ran, and what waited for what, as in an execution trace of Chakra: nodes with times or
// sizes, and no order but their dependencies.
#pragma once

#include "model/base/quantity.hpp"
#include "model/graph/task_graph.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

enum class RecordedCollective : std::uint8_t { all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, barrier };
std::string_view to_text(RecordedCollective);

struct RecordedNode {
    enum class Kind : std::uint8_t {
        kernel,
        host,    // work of the processor that feeds the device
        memory,  // a copy from or to memory outside the device
        collective,
        send,
        receive,
        nothing,  // takes no time
    };
    std::uint64_t id = 0;
    std::string name;
    Kind kind = Kind::nothing;
    Seconds duration;  // of a kernel and of host work, as measured; zero: not stated
    Flops flops;       // of a kernel
    Bytes bytes;       // that a kernel or copy moves; of a communication as price_recorded has them (model/cost/recorded_prices.hpp)
    RecordedCollective collective = RecordedCollective::all_reduce;
    std::string group;     // of a collective: the name of its ranks, empty for all
    int peer = 0;          // of a send or receive
    std::int64_t tag = 0;  // of a send or receive: the n-th receive meets the n-th send of the same ranks and tag
    std::vector<std::uint64_t> waits_for;
};

struct RecordedRank {
    std::string file;
    std::vector<RecordedNode> nodes;  // in any order
};

struct ExecutionTrace {
    std::vector<RecordedRank> ranks;                 // by rank
    std::map<std::string, std::vector<int>> groups;  // by name, ascending; of others the ranks that call a collective of the name
    std::vector<int> node_of;                        // by rank; empty: they fill one node after the other
};

// An execution trace as a task graph (model/lower/execution_trace.hpp).
struct RecordedGraph {
    TaskGraph graph;
    // What each work is: a work of kernels, host work, copies or communication names one of these as its first
    // block. Nodes that are alike share one.
    std::vector<RecordedNode> kinds;

    // None for a work that takes no time.
    [[nodiscard]] const RecordedNode* kind_of(WorkIndex) const;
};

}  // namespace sextant
