#include "model/workload/operator_graph.hpp"

#include <algorithm>
#include <cassert>

namespace sextant {
namespace {

// Adds to `out` the tensors of `op` that its backward reads; see the table at saved_for_backward.
struct SavedBy {
    const Operator& op;
    std::vector<TensorId>& out;

    void inputs() const { out.insert(out.end(), op.inputs.begin(), op.inputs.end()); }
    void outputs() const { out.insert(out.end(), op.outputs.begin(), op.outputs.end()); }
    void for_weight() const {
        if (!op.frozen) inputs();
    }
    void masks() const {
        if (op.outputs.size() > 1) out.push_back(op.outputs[1]);
    }

    void operator()(const Gemm&) const { for_weight(); }
    void operator()(const Convolution&) const { for_weight(); }
    void operator()(const Attention&) const {
        inputs();
        outputs();
    }
    void operator()(const Normalization&) const {
        inputs();
        masks();  // the statistics, where the graph has them
    }
    void operator()(const SequenceConvolution&) const { inputs(); }
    void operator()(const StateSpaceScan&) const { inputs(); }
    void operator()(const DeltaRuleScan&) const {
        inputs();
        masks();  // the rows of the inverse
    }
    void operator()(const Softmax&) const { outputs(); }
    void operator()(const Pooling& p) const {
        if (p.kind != PoolingKind::max) return;
        inputs();
        outputs();
    }
    void operator()(const Embedding&) const { for_weight(); }
    void operator()(const CrossEntropy&) const {
        inputs();
        masks();  // the statistics of the rows, likewise
    }
    void operator()(const TokenPermute&) const {
        if (op.inputs.size() > 1) out.push_back(op.inputs[1]);  // the scores; on the way back there are none
    }
    void operator()(const Exchange&) const {}
    void operator()(const Pointwise& p) const {
        switch (p.kind) {
            case PointwiseKind::gelu:
            case PointwiseKind::silu:
            case PointwiseKind::squared_relu:
            case PointwiseKind::from_input:
            case PointwiseKind::gate:
            case PointwiseKind::clamped_gate:
            case PointwiseKind::multiply: return inputs();
            case PointwiseKind::relu:
            case PointwiseKind::relu6:
            case PointwiseKind::sigmoid:
            case PointwiseKind::from_output:
            case PointwiseKind::tanh: return outputs();
            case PointwiseKind::dropout: return masks();
            case PointwiseKind::add:
            case PointwiseKind::bias:
            case PointwiseKind::scale:
            case PointwiseKind::rotary:
            case PointwiseKind::mask:
            case PointwiseKind::cast:
            case PointwiseKind::copy:
            case PointwiseKind::repeat:
            case PointwiseKind::interpolate:
            case PointwiseKind::view: return;
        }
    }
};

// Tensors that need not be kept themselves, each with the one that is kept instead.
std::vector<std::pair<TensorId, TensorId>> stand_ins(const OperatorGraph& graph) {
    std::vector<std::pair<TensorId, TensorId>> pairs;
    for (const Operator& op : graph.operators()) {
        const auto* exchange = std::get_if<Exchange>(&op.kind);
        if (exchange != nullptr && (exchange->regathered || exchange->forward == ExchangeKind::none))
            for (std::size_t i = 0; i < op.outputs.size(); ++i) pairs.emplace_back(op.outputs[i], op.inputs[i]);
        const auto* pointwise = std::get_if<Pointwise>(&op.kind);
        if (pointwise != nullptr && pointwise->kind == PointwiseKind::view)
            for (const TensorId part : op.outputs) pairs.emplace_back(part, op.inputs.front());
    }
    return pairs;
}

bool contains(std::span<const TensorId> list, TensorId id) { return std::ranges::find(list, id) != list.end(); }

double sum_parameters(std::span<const Operator> operators, bool expert) {
    double sum = 0;
    for (const Operator& op : operators)
        if (!op.tied && op.expert_parameters == expert) sum += op.parameters;
    return sum;
}

}  // namespace

double OperatorGraph::parameters() const { return dense_parameters() + expert_parameters(); }
double OperatorGraph::dense_parameters() const { return sum_parameters(operators_, false); }
double OperatorGraph::expert_parameters() const { return sum_parameters(operators_, true); }

ParameterCount ParameterCount::in_stage(const ParameterCount& before) const {
    ParameterCount here{dense, expert, {}};
    for (const SharedMatrix m : all_shared_matrices)
        if (shared[m].owned + before.shared[m].owned + before.shared[m].tied == 0) here.dense += shared[m].tied;
    return here;
}

ParameterCount operator+(const ParameterCount& a, const ParameterCount& b) {
    ParameterCount sum{a.dense + b.dense, a.expert + b.expert, {}};
    for (const SharedMatrix m : all_shared_matrices)
        sum.shared[m] = {std::max(a.shared[m].owned, b.shared[m].owned), std::max(a.shared[m].tied, b.shared[m].tied)};
    return sum;
}

ParameterCount operator*(double n, const ParameterCount& c) { return {n * c.dense, n * c.expert, n > 0 ? c.shared : decltype(c.shared){}}; }

ParameterCount OperatorGraph::count_parameters(bool frozen) const {
    ParameterCount count;
    for (const Operator& op : operators_) {
        if (op.frozen != frozen) continue;
        if (!op.tied) (op.expert_parameters ? count.expert : count.dense) += op.parameters;
        if (!op.shared) continue;
        SharedCount& shared = count.shared[*op.shared];
        (op.tied ? shared.tied : shared.owned) = op.parameters;
    }
    return count;
}

std::vector<TensorId> saved_for_backward(const Operator& op) {
    std::vector<TensorId> saved;
    std::visit(SavedBy{op, saved}, op.kind);
    return saved;
}

std::vector<TensorId> saved_for_backward(const OperatorGraph& graph) {
    std::vector<TensorId> saved;
    for (const Operator& op : graph.operators()) std::visit(SavedBy{op, saved}, op.kind);
    // Pairs stand in order of execution: from the last to the first, a chain of exchanges leads to its beginning.
    const auto pairs = stand_ins(graph);
    for (auto pair = pairs.rbegin(); pair != pairs.rend(); ++pair) std::replace(saved.begin(), saved.end(), pair->first, pair->second);
    saved.insert(saved.end(), graph.kept_for_writer().begin(), graph.kept_for_writer().end());
    std::sort(saved.begin(), saved.end());
    saved.erase(std::unique(saved.begin(), saved.end()), saved.end());
    const auto own = std::ranges::find_if(graph.outputs(), [&](TensorId id) { return !contains(graph.inputs(), id); });
    if (own != graph.outputs().end()) std::erase(saved, *own);
    return saved;
}

bool leaves_needed_output(const OperatorGraph& graph) {
    return std::ranges::any_of(graph.operators(), [&](const Operator& op) {
        return contains(op.outputs, graph.outputs().front()) && contains(saved_for_backward(op), graph.outputs().front());
    });
}

TensorId OperatorGraphBuilder::input(std::string name, std::vector<std::int64_t> shape, TensorRole role) {
    const TensorId id{static_cast<std::uint32_t>(graph_.tensors_.size())};
    graph_.tensors_.push_back({std::move(name), std::move(shape), role});
    graph_.inputs_.push_back(id);
    return id;
}

TensorId OperatorGraphBuilder::add(Operator op, std::vector<std::int64_t> shape, TensorRole role) {
    const TensorId id{static_cast<std::uint32_t>(graph_.tensors_.size())};
    for ([[maybe_unused]] const TensorId in : op.inputs) assert(in < id && "an operator reads tensors made before it");
    graph_.tensors_.push_back({op.name, std::move(shape), role});
    op.outputs = {id};
    graph_.operators_.push_back(std::move(op));
    return id;
}

TensorId OperatorGraphBuilder::also(std::string name, std::vector<std::int64_t> shape, TensorRole role) {
    assert(!graph_.operators_.empty());
    const TensorId id{static_cast<std::uint32_t>(graph_.tensors_.size())};
    graph_.tensors_.push_back({std::move(name), std::move(shape), role});
    graph_.operators_.back().outputs.push_back(id);
    return id;
}

void OperatorGraphBuilder::stands_for(std::string what) {
    assert(!graph_.operators_.empty());
    graph_.operators_.back().stands_for = std::move(what);
}

void OperatorGraphBuilder::output(TensorId id) { graph_.outputs_.push_back(id); }
void OperatorGraphBuilder::keep_for_writer(TensorId input) { graph_.kept_for_writer_.push_back(input); }

OperatorGraph OperatorGraphBuilder::build() && { return std::move(graph_); }

}  // namespace sextant
