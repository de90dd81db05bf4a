// What can be read off the graph about one rank's segments before any of them runs: which gradients are whole after which of them, which
// reductions must be through before which, whose weights are gathered for which.
#pragma once

#include "model/graph/task_graph.hpp"

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace sextant {

// A reduction of a block's gradients that must be through, and what it brought taken in.
struct Settlement {
    int block = 0;
    SegmentIndex after = 0;
};

// Where weights of a block come from that are gathered for each use.
struct Gathers {
    std::optional<SegmentIndex> dense, experts;
};

struct SegmentPlan {
    std::vector<Settlement> settles;     // before it runs
    std::vector<int> completes;          // blocks whose gradients nothing is added to behind it before they are reduced or used
    std::map<int, Gathers> gathered_by;  // by block
    std::vector<SegmentIndex> releases;  // gathered weights that nothing behind it uses
};

// A transfer of another rank that comes here.
struct Arrival {
    SegmentIndex transfer = 0;
    std::optional<SegmentIndex> gather{};  // that puts together what was cut over the tensor group
    SegmentIndex reader = 0;               // the pass that begins with it
};

struct RankPlan {
    std::vector<SegmentIndex> compute;  // the segments of the compute stream, in order
    std::vector<Arrival> arriving;      // in the order of their use
    std::map<SegmentIndex, SegmentPlan> plans;
    std::vector<Settlement> reductions;  // all of the step, in the order in which they must be through
    bool reduces_repeatedly = false;     // some block's gradients more than once in the step
};

// The blocks that a rank computes, or, as a server, has the parameters of.
std::set<int> blocks_of(const TaskGraph&, GraphRank);

// Of a block that uses a SharedMatrix: the first block here that uses the same one, with whose parameters it lies. The pass over the one
// reads the weights of the other, and, where the matrix is trained, adds to its gradients.
struct SharedUse {
    int home = 0;
    bool trained = false;
    friend bool operator==(const SharedUse&, const SharedUse&) = default;
};
using SharedUses = std::multimap<int, SharedUse>;  // by block
SharedUses shared_uses(const TaskGraph&, GraphRank);
// The pipeline stages that train one, in order.
std::vector<int> stages_with(const TaskGraph&, SharedMatrix);

RankPlan plan_rank(const TaskGraph&, GraphRank, const SharedUses&, bool gathers_weights);

}  // namespace sextant
