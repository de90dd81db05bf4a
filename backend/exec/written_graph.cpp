#include "backend/exec/written_graph.hpp"

#include "backend/exec/device.hpp"
#include "backend/exec/executable_graph.hpp"
#include "backend/exec/index_inputs.hpp"
#include "backend/exec/rotary_heads.hpp"
#include "backend/kernels/rearrange.hpp"
#include "model/workload/operator_checks.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

using Shape = std::vector<std::int64_t>;

bool is_real(const Tensor& t) { return t.role == TensorRole::activation || t.role == TensorRole::logits; }
double real(std::int64_t count) { return static_cast<double>(count); }

// Whether an operator finds its tensors as every engine assumes.
class Layout {
public:
    Layout(const OperatorGraph& graph, const Operator& op, std::int64_t samples) : graph_(graph), op_(op), samples_(samples) {}

    [[nodiscard]] bool fits() const {
        return !op_.expert_parameters && contradictions(graph_, op_).empty() && roles_fit() && std::visit(*this, op_.kind);
    }

    bool operator()(const Gemm& g) const {
        if (!g.weight) return joins_heads(g);
        if (g.batch > 1 || !has_weight(g.n * g.k, g.n)) return false;
        if (op_.outputs.size() == 1) return g.n % 2 == 0 || !reads_gate();
        return std::ranges::all_of(op_.outputs, [&](TensorId id) { return is_matrix(graph_.tensor(id)) && rows(id) == g.m; });
    }
    bool operator()(const Convolution& c) const {
        const Convolution of = underlying(c);
        return has_weight(of.out_channels * (of.in_channels / of.groups) * of.kernel_h * of.kernel_w, c.out_channels);
    }
    bool operator()(const Attention& a) const {
        const auto is = [](const Tensor& t, std::int64_t tokens, std::int64_t width) { return t.shape == Shape{tokens, width}; };
        return op_.parameters == 0 && op_.outputs.size() == 2 && !a.balanced &&
               sees_a_key(a.causal || a.window > 0, a.query_len, a.key_len) && is(in(0), a.batch * a.query_len, a.heads * a.head_dim) &&
               is(in(1), a.batch * a.key_len, a.kv_heads * a.head_dim) && is(in(2), a.batch * a.key_len, a.kv_heads * a.value_dim) &&
               is(out(), a.batch * a.query_len, a.heads * a.value_dim);
    }
    bool operator()(const Normalization& n) const {
        const bool by_row = n.kind == NormKind::layer || n.kind == NormKind::rms;
        if (n.gated || out().shape.size() < 2) return false;
        const std::int64_t channels = by_row ? n.width : out().shape[1], statistics = n.kind == NormKind::rms ? 1 : 2;
        if (op_.parameters != real(channels) && op_.parameters != real(2 * channels)) return false;
        if (op_.outputs.size() > 1 && out(1).elements() < real(statistics * n.rows * n.parts)) return false;
        if (n.kind == NormKind::batch) return n.rows == channels && n.parts == 1;
        return by_row || (n.parts == 1 && n.rows % samples_ == 0 && channels % (n.rows / samples_) == 0 &&
                          real(samples_ * channels) <= out().elements());
    }
    bool operator()(const Softmax& s) const { return op_.parameters == 0 && !s.masked; }
    bool operator()(const Pointwise& p) const {
        switch (p.kind) {
            case PointwiseKind::gelu:
            case PointwiseKind::relu:
            case PointwiseKind::relu6:
            case PointwiseKind::squared_relu:
            case PointwiseKind::silu:
            case PointwiseKind::sigmoid:
            case PointwiseKind::tanh:
            case PointwiseKind::scale: return is_map();
            case PointwiseKind::gate:
            case PointwiseKind::clamped_gate: {
                const bool curve = p.gate == PointwiseKind::gelu || p.gate == PointwiseKind::silu || p.gate == PointwiseKind::sigmoid ||
                                   p.gate == PointwiseKind::tanh;
                return curve && takes(1) && makes(1) && is_matrix(in(0)) && is_matrix(out()) && in(0).shape[0] == out().shape[0] &&
                       in(0).shape[1] == 2 * out().shape[1] && op_.parameters == 0;
            }
            case PointwiseKind::dropout:
                return takes(1) && makes(2) && same(in(0), out()) && same(out(1), out()) && op_.parameters == 0 && p.constant >= 0 &&
                       p.constant < 1;
            case PointwiseKind::add:
                if (takes(2)) return makes(1) && same(in(0), out()) && same(in(1), out()) && op_.parameters == 0;
                return is_map(true) && is_matrix(out()) && out().shape[0] % samples_ == 0 && is_multiple(op_.parameters, out().shape[1]);
            case PointwiseKind::bias:
                return is_map(true) && !are_scores(out()) && out().shape.size() > 1 && op_.parameters == real(out().shape[1]);
            case PointwiseKind::multiply:
                if (takes(1)) return is_map(true) && !are_scores(out()) && out().shape.size() > 1 && op_.parameters == real(out().shape[1]);
                return takes(2) && makes(1) && same(in(0), out()) && out().shape.size() > 1 &&
                       is_multiple(in(1).elements(), out().shape[1]) && std::fmod(out().elements(), in(1).elements()) == 0 &&
                       op_.parameters == 0;
            case PointwiseKind::mask: return is_map() && hides(p);
            case PointwiseKind::rotary: return rotates(p);
            case PointwiseKind::repeat:
            case PointwiseKind::interpolate:
                return takes(1) && makes(1) && op_.parameters == 0 && is_image(in(0)) && is_image(out()) &&
                       in(0).shape[0] == out().shape[0] && in(0).shape[1] == out().shape[1] && in(0).shape[2] <= out().shape[2] &&
                       in(0).shape[3] <= out().shape[3];
            case PointwiseKind::copy: return copies(p);
            default: return false;
        }
    }
    bool operator()(const Pooling&) const {
        const auto is_of_pixels = [](const Tensor& t) { return is_image(t) || is_matrix(t); };
        return op_.parameters == 0 && is_of_pixels(in(0)) && is_of_pixels(out()) && in(0).shape.size() >= out().shape.size() &&
               in(0).shape[0] == out().shape[0] && in(0).shape[1] == out().shape[1];
    }
    bool operator()(const Embedding& e) const { return takes(1) && has_weight(e.rows * e.width, 0); }
    bool operator()(const CrossEntropy& c) const { return op_.parameters == 0 && makes(1) && columns_of(in(0)) == c.classes; }
    template <class Kind>
    bool operator()(const Kind&) const {
        return false;
    }

private:
    [[nodiscard]] const Tensor& in(std::size_t i) const { return graph_.tensor(op_.inputs[i]); }
    [[nodiscard]] const Tensor& out(std::size_t i = 0) const { return graph_.tensor(op_.outputs[i]); }
    [[nodiscard]] bool takes(std::size_t count) const { return op_.inputs.size() == count; }
    [[nodiscard]] bool makes(std::size_t count) const { return op_.outputs.size() == count; }
    static bool same(const Tensor& a, const Tensor& b) { return a.elements() == b.elements(); }
    static bool is_matrix(const Tensor& t) { return t.shape.size() == 2; }
    [[nodiscard]] std::int64_t rows(TensorId id) const { return graph_.tensor(id).shape.front(); }
    static bool is_multiple(double count, std::int64_t of) { return count > 0 && std::fmod(count, real(of)) == 0; }
    static bool sees_a_key(bool hides, std::int64_t queries, std::int64_t keys) { return !hides || queries <= keys; }
    [[nodiscard]] bool has_weight(std::int64_t weight, std::int64_t bias) const {
        return op_.parameters == real(weight) || op_.parameters == real(weight + bias);
    }
    [[nodiscard]] bool is_map(bool has_parameters = false) const {
        return takes(1) && makes(1) && same(in(0), out()) && (op_.parameters > 0) == has_parameters;
    }
    [[nodiscard]] bool reads_gate() const {
        return std::ranges::any_of(graph_.operators(), [](const Operator& other) {
            const auto* p = std::get_if<Pointwise>(&other.kind);
            return p != nullptr && (p->kind == PointwiseKind::gate || p->kind == PointwiseKind::clamped_gate);
        });
    }
    // Scores of the tokens of each group, or of these what they attend to.
    [[nodiscard]] bool joins_heads(const Gemm& g) const {
        const bool makes_scores = is_matrix(in(0));
        const Tensor &scores = makes_scores ? out() : in(0), &tokens = makes_scores ? in(0) : out(), &keys = in(1);
        const std::int64_t width = makes_scores ? g.k : g.n, of_scores = makes_scores ? g.n : g.k;
        if (!makes(1) || op_.parameters > 0 || scores.shape != Shape{g.batch, g.m, of_scores} || !is_matrix(tokens) || !is_matrix(keys))
            return false;
        const std::int64_t groups = tokens.shape[0] / g.m;
        if (groups < 1 || tokens.shape[0] % g.m != 0 || g.batch % groups != 0) return false;
        const std::int64_t heads = g.batch / groups, key_heads = keys.shape[1] / width;
        return tokens.shape[1] == heads * width && keys.shape == Shape{groups * of_scores, key_heads * width} && key_heads > 0 &&
               heads % key_heads == 0;
    }
    [[nodiscard]] bool hides(const Pointwise& p) const {
        const Shape& shape = out().shape;
        if (!are_scores(out()) || shape[0] % samples_ != 0) return false;
        if (p.shifted_windows == 0) return sees_a_key(p.causal || p.window > 0, shape[1], shape[2]);
        const std::int64_t windows = p.shifted_windows * p.shifted_windows, px = window_px(out());
        return px * px == shape[1] && shape[1] == shape[2] && shape[0] / samples_ % windows == 0;
    }
    [[nodiscard]] bool rotates(const Pointwise& p) const {
        if (op_.inputs.size() != op_.outputs.size() || op_.parameters > 0 || p.constant <= 0) return false;
        for (std::size_t i = 0; i < op_.inputs.size(); ++i) {
            if (!is_matrix(in(i)) || in(i).shape != out(i).shape || in(i).shape[0] != in(0).shape[0] || in(i).shape[0] % samples_ != 0)
                return false;
            const RotaryHeads heads = rotary_heads(p, in(i).shape[1]);
            if (heads.rotated < 2 || heads.rotated % 2 != 0 || heads.width < heads.rotated || in(i).shape[1] % heads.width != 0)
                return false;
        }
        return true;
    }
    [[nodiscard]] bool copies(const Pointwise& p) const {
        if (p.head_dim > 0 || !makes(1)) return false;
        if (!p.order.empty())
            return takes(1) && op_.parameters == 0 && same(in(0), out()) && std::ssize(p.order) <= kernels::SourceOf::most_axes;
        if (takes(1)) {  // a token before the others of each sample, or some of the rows
            if (!is_matrix(in(0)) || !is_matrix(out()) || in(0).shape[1] != out().shape[1] || out().shape[0] % samples_ != 0) return false;
            return op_.parameters > 0 ? op_.parameters == real(out().shape[1]) && in(0).shape[0] + samples_ == out().shape[0]
                                      : in(0).shape[0] >= out().shape[0];
        }
        std::int64_t columns = 0;  // side by side
        for (const TensorId id : op_.inputs) {
            const Tensor& part = graph_.tensor(id);
            Shape widened = part.shape;
            if (widened.size() < 2 || widened.size() == 3) return false;
            columns += widened[1];
            widened[1] = out().shape.size() > 1 ? out().shape[1] : 0;
            if (widened != out().shape) return false;
        }
        return op_.parameters == 0 && columns == out().shape[1];
    }
    [[nodiscard]] bool roles_fit() const {
        const bool looks_up = std::holds_alternative<Embedding>(op_.kind), loss = std::holds_alternative<CrossEntropy>(op_.kind);
        for (std::size_t i = 0; i < op_.inputs.size(); ++i)
            if (looks_up || (loss && i == 1) ? in(i).role != TensorRole::index : !is_real(in(i))) return false;
        if (loss ? out().role != TensorRole::statistic : !is_real(out())) return false;
        const auto* p = std::get_if<Pointwise>(&op_.kind);
        const TensorRole beside = p != nullptr && p->kind == PointwiseKind::dropout ? TensorRole::mask : TensorRole::statistic;
        const bool parts = std::holds_alternative<Gemm>(op_.kind) || (p != nullptr && p->kind == PointwiseKind::rotary);
        for (std::size_t i = 1; i < op_.outputs.size(); ++i)
            if (parts ? !is_real(out(i)) : out(i).role != beside) return false;
        return true;
    }

    const OperatorGraph& graph_;
    const Operator& op_;
    std::int64_t samples_;
};

// Attention has gradients of queries, keys and values, or of none of them.
bool attends_to_data(const OperatorGraph& graph, bool reads_data) {
    std::vector<bool> wanted(graph.tensors().size());
    for (const TensorId id : graph.inputs()) wanted[id.value] = !reads_data;
    for (const Operator& op : graph.operators()) {
        const auto some = std::ranges::count_if(op.inputs, [&](TensorId id) { return wanted[id.value]; });
        if (std::holds_alternative<Attention>(op.kind) && some != 0 && some != std::ssize(op.inputs)) return true;
        for (const TensorId id : op.outputs) wanted[id.value] = op.is_trained() || some > 0;
    }
    return false;
}

// A matrix of the vocabulary belongs to the first block that has it, and the others have one of the same size.
bool shares_matrices(const Network& network) {
    for (const SharedMatrix matrix : all_shared_matrices) {
        const Operator* owner = nullptr;
        for (const int t : network.sequence)
            for (const Operator& op : network.templates[static_cast<std::size_t>(t)].graph.operators()) {
                if (op.shared != matrix) continue;
                const auto size = [](const Operator& of) {
                    const auto* table = std::get_if<Embedding>(&of.kind);
                    const auto* product = std::get_if<Gemm>(&of.kind);
                    return table != nullptr     ? std::pair(table->rows, table->width)
                           : product != nullptr ? std::pair(product->n, product->k)
                                                : std::pair<std::int64_t, std::int64_t>(0, 0);
                };
                if (op.tied != (owner != nullptr) || op.frozen || size(op).first == 0) return false;
                if (owner != nullptr && size(op) != size(*owner)) return false;
                if (op.parameters != real(size(op).first * size(op).second)) return false;
                owner = owner == nullptr ? &op : owner;
            }
    }
    return std::ranges::all_of(network.templates, [](const Block& block) {
        return std::ranges::all_of(block.graph.operators(), [](const Operator& op) { return !op.tied || op.shared; });
    });
}

// A vector or an image of each sample, or tokens; and labels of which there are as many as the data have.
bool reads_samples(const Network& network, std::int64_t samples) {
    const OperatorGraph& first = network.block(0).graph;
    const Tensor& data = first.tensor(first.inputs().front());
    const bool tokens = data.role == TensorRole::index;
    const bool rows = data.shape.size() == 2 && data.shape.front() % samples == 0;  // an image may lie as rows of patches
    if (tokens || is_image(data) ? data.shape.front() != samples : !rows) return false;
    if (tokens && data.shape.size() != 2) return false;
    for (std::size_t b = 0; b < network.sequence.size(); ++b) {
        const OperatorGraph& graph = network.block(b).graph;
        for (const TensorId id : graph.inputs()) {
            const Tensor& t = graph.tensor(id);
            if (t.role != TensorRole::index) {
                if (b == 0 && (tokens || id != first.inputs().front())) return false;
                if (!is_real(t)) return false;
            } else if (!is_label(graph, id)) {
                if (!tokens || t.elements() > data.elements() || std::fmod(t.elements(), real(samples)) != 0) return false;
            }
        }
        for (const Operator& op : graph.operators())
            if (const auto* loss = std::get_if<CrossEntropy>(&op.kind); loss != nullptr && !tokens && loss->rows != samples) {
                const Shape& made = graph.tensor(op.outputs.front()).shape;
                if (b + 1 < network.sequence.size() || made.size() != 4 || real(made[2] * made[3] * samples) != real(loss->rows))
                    return false;
            } else if (loss != nullptr && loss->rows % samples != 0) {
                return false;
            }
    }
    return true;
}

}  // namespace

std::vector<std::string> what_does_not_run(const Network& network, std::int64_t samples, bool training) {
    std::vector<std::string> why;
    for (std::size_t t = 0; t < network.templates.size(); ++t) {
        const Block& block = network.templates[t];
        const auto of_block = [&](const Operator& op) {
            return "\"" + op.name + "\" of block " + std::to_string(t) + " (" + block.name + ")";
        };
        for (const Operator& op : block.graph.operators())
            if (!Layout(block.graph, op, samples).fits())
                why.push_back(of_block(op) + " does not run: it is of a kind, or of tensors, that networks with a name do not have so");
        const bool is_first = network.sequence.front() == static_cast<int>(t);
        if (attends_to_data(block.graph, is_first) || (is_first && attends_to_data(block.graph, false)))
            why.push_back("block " + std::to_string(t) + " attends to what nobody learns from");
    }
    if (!why.empty()) return why;
    if (!shares_matrices(network)) why.emplace_back("the matrices of the vocabulary are not shared as a network with a name shares them");
    if (!reads_samples(network, samples))
        why.emplace_back("it reads other data than tokens, vectors or images, or has labels of which the data have not as many");
    const OperatorGraph& last = network.block(network.sequence.size() - 1).graph;
    if (training && !std::ranges::all_of(last.outputs(), [&](TensorId id) { return loss_behind(last, id) != nullptr; }))
        why.emplace_back("it has no loss that training could lower");
    return why;
}

}  // namespace sextant
