#include "model/plan/recompute.hpp"

#include <algorithm>
#include <array>

namespace sextant {
namespace {

// The labels that the builders give to operators.
constexpr std::array<std::string_view, 9> modules{"core_attn", "layernorm",      "qkv",        "mlp", "mlp_act", "moe",
                                                  "moe_act",   "shared_experts", "mla_up_proj"};

// An activation is a module by itself and part of the one around it: "mlp_act" of "mlp".
bool covers(std::string_view module, std::string_view label) {
    constexpr std::string_view activation = "_act";
    return module == label || (label.starts_with(module) && label.substr(module.size()) == activation);
}

}  // namespace

std::span<const std::string_view> recompute_modules() { return modules; }

bool is_recomputed(const Operator& op, const Plan& plan) {
    switch (plan.recompute) {
        case Recompute::none: return false;
        case Recompute::full:
        case Recompute::blocks: return true;
        case Recompute::selective:
            if (plan.recompute_modules.empty()) return op.attention_core;
            return std::ranges::any_of(plan.recompute_modules, [&](const std::string& module) { return covers(module, op.label); });
    }
    return false;
}

std::vector<bool> recomputed_operators(const OperatorGraph& graph, const Plan& plan, const Framework& framework) {
    const std::span<const Operator> operators = graph.operators();
    std::vector<bool> recomputed(operators.size()), read(graph.tensors().size(), !framework.recomputes_what_is_read);
    for (const TensorId id : saved_for_backward(graph)) read[id.value] = true;
    for (std::size_t i = operators.size(); i-- > 0;) {
        const Operator& op = operators[i];
        recomputed[i] = is_recomputed(op, plan) && std::ranges::any_of(op.outputs, [&](TensorId id) { return read[id.value]; });
        if (recomputed[i])
            for (const TensorId id : op.inputs) read[id.value] = true;
    }
    return recomputed;
}

// Tensors that the recompute policy drops after forward. What leaves the attention core is its result and stays; the modules named
// by the plan drop their results too (they are made again just before their reader's backward).
std::vector<bool> dropped_tensors(const OperatorGraph& graph, const Plan& plan) {
    std::vector<bool> dropped(graph.tensors().size()), made_by_core(graph.tensors().size());
    if (plan.recompute != Recompute::selective) return dropped;
    for (const Operator& op : graph.operators())
        if (is_recomputed(op, plan))
            for (const TensorId id : op.outputs) {
                dropped[id.value] = true;
                made_by_core[id.value] = op.attention_core;
            }
    for (const Operator& op : graph.operators())
        if (!is_recomputed(op, plan))
            for (const TensorId id : op.inputs)
                if (made_by_core[id.value]) dropped[id.value] = false;
    return dropped;
}

}  // namespace sextant
