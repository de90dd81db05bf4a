// Nodes of execution traces, as tests write them.
#pragma once

#include "model/graph/execution_trace.hpp"

#include <string>
#include <utility>
#include <vector>

namespace sextant {

inline RecordedNode recorded_node(std::uint64_t id, RecordedNode::Kind kind, std::vector<std::uint64_t> after = {}) {
    RecordedNode n;
    n.id = id;
    n.kind = kind;
    n.name = "node " + std::to_string(id);
    n.waits_for = std::move(after);
    return n;
}

}  // namespace sextant
