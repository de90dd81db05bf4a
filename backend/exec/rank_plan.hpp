// What the graph says about one rank's segments before any of them runs: after which segment a gradient is complete, which reductions must
// be done before a segment, and which gathered weights it uses.
#pragma once

#include "model/graph/task_graph.hpp"

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace sextant {

// A reduction of a block's gradients that must be done, and its result added to the sums.
struct Settlement {
    int block = 0;
    SegmentIndex after = 0;
};

// The segments that gather the weights of a block for one use.
struct Gathers {
    std::optional<SegmentIndex> dense, experts;
};

struct SegmentPlan {
    std::vector<Settlement> settles;     // before it runs
    std::vector<int> completes;          // blocks whose gradients are complete behind it: they are reduced or used next
    std::map<int, Gathers> gathered_by;  // by block
    std::vector<SegmentIndex> releases;  // gathers whose weights are not used behind it
};

// A transfer from another rank to this one.
struct Arrival {
    SegmentIndex transfer = 0;
    std::optional<SegmentIndex> gather{};  // that joins the parts, where they are cut over the tensor group
    SegmentIndex reader = 0;               // the pass that begins with it
};

struct RankPlan {
    std::vector<SegmentIndex> compute;  // the segments of the compute stream, in order
    // By the last of them that the sender waits for, however indirectly, before it sends; none: it may send at any time. In the order of
    // their use.
    std::multimap<std::optional<SegmentIndex>, Arrival> arriving;
    std::map<SegmentIndex, SegmentPlan> plans;
    std::vector<Settlement> reductions;  // all of the step, in the order in which they must be done
    bool reduces_repeatedly = false;     // some block's gradients are reduced more than once in a step
};

// The blocks that a rank computes, or, as a server, has the parameters of.
std::set<int> blocks_of(const TaskGraph&, GraphRank);

// A block that uses a SharedMatrix: `home` is the first block on this rank that uses the same matrix, which lies with that block's
// parameters. A pass over the block reads the weights of its home, and adds to their gradients if the matrix is trained.
struct SharedUse {
    int home = 0;
    bool trained = false;
    friend bool operator==(const SharedUse&, const SharedUse&) = default;
};
using SharedUses = std::multimap<int, SharedUse>;  // by block
SharedUses shared_uses(const TaskGraph&, GraphRank);
// The pipeline stages that train this matrix, in order.
std::vector<int> stages_with(const TaskGraph&, SharedMatrix);

// What is there no longer than its use: weights are gathered for it, gradients given up once they are reduced.
struct PassingArrays {
    bool weights = false, gradients = false;
};
RankPlan plan_rank(const TaskGraph&, GraphRank, PassingArrays);

}  // namespace sextant
