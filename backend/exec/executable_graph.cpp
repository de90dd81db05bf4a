#include "backend/exec/executable_graph.hpp"

#include <algorithm>

namespace sextant {
namespace {

// Why an operator cannot run; empty when it can.
struct Refusal {
    const OperatorGraph& graph;
    const Operator& op;

    [[nodiscard]] const Tensor& out() const { return graph.tensor(op.outputs.front()); }

    std::string operator()(const TokenPermute&) const {
        return "a mixture of experts routes its tokens by their values; only dense layers run";
    }
    std::string operator()(const Gemm& g) const {
        if (g.weight && g.batch > 1) return "a mixture of experts does not run; only dense layers do";
        return {};
    }
    std::string operator()(const Attention& a) const { return a.alibi ? "scores that fall with distance (ALiBi) do not run" : ""; }
    std::string operator()(const Embedding&) const {
        return op.inputs.empty() ? "relative position biases do not run: the layers do not say that they read them" : "";
    }
    std::string operator()(const Exchange& e) const {
        if (e.group != ParallelGroup::tensor && e.group != ParallelGroup::context)
            return "exchanges over the " + std::string(to_text(e.group)) + " group do not run";
        return {};
    }
    std::string operator()(const Pointwise& p) const {
        switch (p.kind) {
            case PointwiseKind::add:
                return op.inputs.size() < 2 && op.parameters == 0 ? "relative position biases do not run" : "";
            case PointwiseKind::mask:
                return p.alibi ? "scores that fall with distance (ALiBi) do not run" : "";
            case PointwiseKind::rotary:
                return p.head_dim == 0 ? "multi-head latent attention does not run" : "";
            case PointwiseKind::copy:
                return is_concatenation() || op.inputs.size() == 1 ? "" : "multi-head latent attention does not run";
            default:
                return {};
        }
    }
    template <class Kind>
    std::string operator()(const Kind&) const {
        return {};
    }

    [[nodiscard]] bool is_concatenation() const {
        double sum = 0;
        for (const TensorId id : op.inputs) sum += graph.tensor(id).elements();
        return sum == out().elements();
    }
};

// A loss that the block neither hands on nor exchanges.
bool has_unheard_loss(const OperatorGraph& graph) {
    std::vector<char> heard(graph.tensors().size(), 0);
    for (const TensorId id : graph.outputs()) heard[id.value] = 1;
    for (std::size_t i = graph.operators().size(); i-- > 0;) {
        const Operator& op = graph.operators()[i];
        const bool leads_on = heard[op.outputs.front().value] != 0;
        if (std::holds_alternative<CrossEntropy>(op.kind) && !leads_on) return true;
        for (const TensorId id : op.inputs)
            if (leads_on) heard[id.value] = 1;
    }
    return false;
}

}  // namespace

OperatorGraph executable(const OperatorGraph& graph) {
    OperatorGraphBuilder builder;
    std::vector<TensorId> now(graph.tensors().size());
    for (const TensorId id : graph.inputs()) {
        const Tensor& t = graph.tensor(id);
        now[id.value] = builder.input(t.name, t.shape, t.role);
    }
    const auto translated = [&](const std::vector<TensorId>& ids) {
        std::vector<TensorId> result;
        result.reserve(ids.size());
        for (const TensorId id : ids) result.push_back(now[id.value]);
        return result;
    };
    for (const Operator& op : graph.operators()) {
        Operator copy = op;
        copy.inputs = translated(op.inputs);
        const auto* loss = std::get_if<CrossEntropy>(&op.kind);
        if (loss != nullptr && copy.inputs.size() == 1) copy.inputs.push_back(builder.input("labels", {loss->rows}, TensorRole::index));
        const Tensor& first = graph.tensor(op.outputs.front());
        now[op.outputs.front().value] = builder.add(std::move(copy), first.shape, first.role);
        for (std::size_t i = 1; i < op.outputs.size(); ++i) {
            const Tensor& t = graph.tensor(op.outputs[i]);
            now[op.outputs[i].value] = builder.also(t.name, t.shape, t.role);
        }
        if (loss != nullptr) builder.also(op.name + ".statistics", {loss->rows, 3}, TensorRole::statistic);
    }
    for (const TensorId id : graph.outputs()) builder.output(now[id.value]);
    return std::move(builder).build();
}

std::vector<Diagnostic> unsupported(const OperatorGraph& graph) {
    std::vector<Diagnostic> problems;
    for (const Operator& op : graph.operators()) {
        std::string why = std::visit(Refusal{graph, op}, op.kind);
        const Diagnostic problem{.file = {}, .pointer = "/workload", .what = std::move(why), .hint = {}};
        if (!problem.what.empty() && std::ranges::find(problems, problem) == problems.end()) problems.push_back(problem);
    }
    if (has_unheard_loss(graph))
        problems.push_back(
            {.file = {}, .pointer = "/workload", .what = "losses beside the main one (multi-token prediction) do not run", .hint = {}});
    return problems;
}

}  // namespace sextant
