#include "model/plan/recompute.hpp"

#include <algorithm>

namespace sextant {

bool is_recomputed(const Operator& op, const Plan& plan) {
    switch (plan.recompute) {
        case Recompute::none:
            return false;
        case Recompute::full:
        case Recompute::blocks:
            return true;
        case Recompute::selective:
            if (plan.recompute_modules.empty()) return op.attention_core;
            return std::find(plan.recompute_modules.begin(), plan.recompute_modules.end(), op.label) != plan.recompute_modules.end();
    }
    return false;
}

// Tensors that the recompute policy drops after forward. What leaves the attention core is its result and stays; the modules named
// by the plan drop their results too (they are made again just before their reader's backward).
std::vector<char> dropped_tensors(const OperatorGraph& graph, const Plan& plan) {
    std::vector<char> dropped(graph.tensors().size(), 0);
    if (plan.recompute != Recompute::selective) return dropped;
    for (const Operator& op : graph.operators())
        if (is_recomputed(op, plan))
            for (const TensorId id : op.outputs) dropped[id.value] = op.attention_core ? 1 : 2;
    for (const Operator& op : graph.operators())
        if (!is_recomputed(op, plan))
            for (const TensorId id : op.inputs)
                if (dropped[id.value] == 1) dropped[id.value] = 0;
    return dropped;
}

}  // namespace sextant
