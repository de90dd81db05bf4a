#include "backend/exec/executable_graph.hpp"

#include "backend/exec/device.hpp"

#include <algorithm>
#include <optional>

namespace sextant {
namespace {

// Why an operator cannot run; empty when it can.
struct Refusal {
    const OperatorGraph& graph;
    const Operator& op;

    [[nodiscard]] const Tensor& out() const { return graph.tensor(op.outputs.front()); }

    std::string operator()(const Embedding&) const {
        return op.inputs.empty() ? "relative position biases do not run: the layers do not say that they read them" : "";
    }
    std::string operator()(const Exchange& e) const {
        const bool runs = e.group == ParallelGroup::tensor || e.group == ParallelGroup::context || e.group == ParallelGroup::expert ||
                          e.group == ParallelGroup::expert_tensor;
        return runs ? "" : "exchanges over the " + std::string(to_text(e.group)) + " group do not run";
    }
    std::string operator()(const Normalization& n) const {
        if (n.kind != NormKind::batch || n.width > 1) return {};
        return "batch normalization of one value a channel leaves only its shift, and nothing before it learns: "
               "\"micro_batch\": 2 or larger images run";
    }
    std::string operator()(const DeltaRuleScan&) const { return "gated delta rules do not run"; }
    std::string operator()(const Pointwise& p) const {
        switch (p.kind) {
            case PointwiseKind::multiply:
                return op.inputs.size() > 1 && out().shape.size() == 2 && graph.tensor(op.inputs.back()).shape.back() < out().shape.back()
                           ? "gates on shared experts do not run: \"shared_gate\": false does"
                           : "";
            case PointwiseKind::add: return op.inputs.size() < 2 && op.parameters == 0 ? "relative position biases do not run" : "";
            case PointwiseKind::copy:  // of rows, side by side, or in an order that is said
                return op.inputs.size() == 1 && out().shape.size() > 2 && p.order.empty()
                           ? "images that cannot be cut into whole windows do not run: of another \"image_px\" they do"
                           : "";
            case PointwiseKind::relu:
                return op.inputs.size() > 1
                           ? "experts with ReLU do not run: it keeps its output, which the router's weights have changed; squared_relu runs"
                           : "";
            case PointwiseKind::view:
            case PointwiseKind::from_input:
            case PointwiseKind::from_output: return "what \"" + op.name + "\" computes is not said, only what it costs";
            default: return {};
        }
    }
    template <class Kind>
    std::string operator()(const Kind&) const {
        return {};
    }
};

class Writer {
public:
    explicit Writer(const OperatorGraph& graph) : graph_(graph), now_(graph.tensors().size()), routed_(graph.tensors().size()) {}

    OperatorGraph write() {
        for (const TensorId id : graph_.inputs()) {
            const Tensor& t = graph_.tensor(id);
            now_[id.value] = builder_.input(t.name, t.shape, t.role);
        }
        for (const Operator& op : graph_.operators()) {
            Operator copy = op;
            for (TensorId& id : copy.inputs) id = now_[id.value];
            const auto* loss = std::get_if<CrossEntropy>(&op.kind);
            if (loss != nullptr && copy.inputs.size() == 1)
                copy.inputs.push_back(builder_.input("labels", {loss->rows}, TensorRole::index));
            const bool takes_weights = take_weights(op, copy);
            add(op, std::move(copy));
            if (loss != nullptr) builder_.also(op.name + ".statistics", {loss->rows, 3}, TensorRole::statistic);
            note_weights(op, takes_weights);
        }
        for (const TensorId id : graph_.outputs()) builder_.output(now_[id.value]);
        for (const TensorId id : losses_beside()) builder_.output(now_[id.value]);
        return std::move(builder_).build();
    }

private:
    // Those that the block does not hand on.
    [[nodiscard]] std::vector<TensorId> losses_beside() const {
        std::vector<bool> read(graph_.tensors().size());
        for (const TensorId id : graph_.outputs()) read[id.value] = true;
        for (const Operator& op : graph_.operators())
            for (const TensorId id : op.inputs) read[id.value] = true;
        std::vector<TensorId> beside;
        for (const Operator& op : graph_.operators())
            if (const TensorId made = op.outputs.front(); !read[made.value] && loss_behind(graph_, made) != nullptr) beside.push_back(made);
        return beside;
    }
    void add(const Operator& op, Operator copy) {
        const Tensor& first = graph_.tensor(op.outputs.front());
        now_[op.outputs.front().value] = builder_.add(std::move(copy), first.shape, first.role);
        for (std::size_t i = 1; i < op.outputs.size(); ++i) {
            const Tensor& t = graph_.tensor(op.outputs[i]);
            now_[op.outputs[i].value] = builder_.also(t.name, t.shape, t.role);
        }
    }
    // Of an operator on rows that are routed, the weights as they lie beside its rows. True where they come out of it again.
    bool take_weights(const Operator& op, Operator& copy) {
        if (op.inputs.empty() || !routed_[op.inputs.front().value]) return false;
        const auto* product = std::get_if<Gemm>(&op.kind);
        const bool bias = product != nullptr && op.parameters > static_cast<double>(product->batch * product->n * product->k);
        const auto* p = std::get_if<Pointwise>(&op.kind);
        const bool moves = std::holds_alternative<Exchange>(op.kind) || (p != nullptr && p->kind == PointwiseKind::copy);
        if (op.inputs.size() > 1) {
            copy.inputs.back() = *weights_;
            weighted_ = true;
        } else if (weighted_ ? bias : moves) {
            copy.inputs.push_back(*weights_);
        }
        return moves && !weighted_;
    }
    void note_weights(const Operator& op, bool take_part) {
        const bool permute = std::holds_alternative<TokenPermute>(op.kind);
        if (permute && op.outputs.size() > 1) {
            weights_ = now_[op.outputs[1].value];
            weighted_ = false;
        } else if (permute || op.inputs.empty() || !routed_[op.inputs.front().value]) {
            return;
        }
        routed_[op.outputs.front().value] = true;
        if (take_part)
            weights_ = builder_.also(op.name + ".weights", {graph_.tensor(op.outputs.front()).shape.front()}, TensorRole::statistic);
    }

    const OperatorGraph& graph_;
    OperatorGraphBuilder builder_;
    std::vector<TensorId> now_;        // by tensor of the graph that is priced
    std::vector<bool> routed_;         // likewise: its rows were routed
    std::optional<TensorId> weights_;  // of the router, beside the rows at hand
    bool weighted_ = false;            // they have been applied
};

}  // namespace

const CrossEntropy* loss_behind(const OperatorGraph& graph, TensorId id) {
    for (const Operator& op : graph.operators()) {
        if (op.outputs.front() != id) continue;
        if (std::holds_alternative<Exchange>(op.kind)) return loss_behind(graph, op.inputs.front());
        return std::get_if<CrossEntropy>(&op.kind);
    }
    return nullptr;
}

bool is_concatenation(const Operator& op) {
    const auto* p = std::get_if<Pointwise>(&op.kind);
    return p != nullptr && p->kind == PointwiseKind::copy && op.inputs.size() > 1 && p->head_dim == 0;
}

OperatorGraph executable(const OperatorGraph& graph) { return Writer(graph).write(); }

std::vector<Diagnostic> unsupported(const OperatorGraph& graph) {
    std::vector<Diagnostic> problems;
    for (const Operator& op : graph.operators()) {
        std::string why = op.stands_for.empty() ? std::visit(Refusal{graph, op}, op.kind) : op.stands_for + " do not run";
        const Diagnostic problem{.file = {}, .pointer = "/workload", .what = std::move(why), .hint = {}};
        if (!problem.what.empty() && std::ranges::find(problems, problem) == problems.end()) problems.push_back(problem);
    }
    return problems;
}

}  // namespace sextant
