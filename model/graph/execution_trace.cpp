#include "model/graph/execution_trace.hpp"

namespace sextant {

std::string_view to_text(RecordedCollective c) {
    static constexpr std::string_view names[] = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                                                 "broadcast",  "reduce",     "barrier"};
    return names[static_cast<std::size_t>(c)];
}

const RecordedNode* RecordedGraph::kind_of(WorkIndex w) const {
    const Work& work = graph.works()[w];
    if (const auto* busy = std::get_if<ComputeWork>(&work)) return &kinds[static_cast<std::size_t>(busy->first_block)];
    if (const auto* exchange = std::get_if<CollectiveWork>(&work)) return &kinds[static_cast<std::size_t>(exchange->first_block)];
    return nullptr;
}

}  // namespace sextant
