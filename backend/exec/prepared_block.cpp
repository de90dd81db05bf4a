#include "backend/exec/prepared_block.hpp"

#include "backend/exec/executable_graph.hpp"
#include "model/plan/recompute.hpp"

#include <algorithm>

namespace sextant {
namespace {

OperatorGraph checked(const OperatorGraph& graph) {
    Diagnostics problems;
    for (const Diagnostic& problem : unsupported(graph)) problems.add(problem);
    problems.throw_if_any();
    return executable(graph);
}

// What being one of several ranks means for an operator.
void place(PreparedOperator& out, const Operator& op, const Operator& serial, const BlockOptions& options) {
    const BlockCut& of_block = options.cut;
    const TensorCut cut = op.expert_parameters ? of_block.experts.inside : of_block.tensor;
    if (const auto* e = std::get_if<Embedding>(&op.kind)) {
        const std::int64_t rows = std::get<Embedding>(serial.kind).rows;
        out.first_row = part_offset(e->rows, rows, cut);
        out.valid_rows = std::min(e->rows, rows - out.first_row);
    } else if (const auto* c = std::get_if<CrossEntropy>(&op.kind)) {
        const std::int64_t classes = std::get<CrossEntropy>(serial.kind).classes;
        out.first_row = part_offset(c->classes, classes, cut);
        out.valid_rows = std::min(c->classes, classes - out.first_row);
        out.merges_losses = c->classes < classes;
    } else if (const auto* g = std::get_if<Gemm>(&op.kind)) {
        out.adds_bias = cut.rank == 0 || g->k == std::get<Gemm>(serial.kind).k;
    } else if (const auto* p = std::get_if<TokenPermute>(&op.kind)) {
        const std::int64_t of_group = std::get<TokenPermute>(serial.kind).tokens / of_block.context.ranks;
        out.tokens.sequences = options.samples;
        out.tokens.of_sequence = of_group / options.samples;
        out.tokens.cut = p->tokens < of_group;
        if (out.tokens.cut) out.tokens.first = cut.rank * p->tokens;
    }
}

std::vector<PreparedOperator> prepare_operators(const OperatorGraph& graph, const OperatorGraph& serial, const BlockOptions& options) {
    std::vector<PreparedOperator> list;
    const auto in_serial = counterparts(graph, serial);
    for (std::size_t i = 0; i < in_serial.size(); ++i) {
        const Operator& op = graph.operators()[i];
        PreparedOperator& p = list.emplace_back();
        p.passes_through = hands_gradient_through(graph, op);
        if (!in_serial[i]) continue;
        const Operator& other = serial.operators()[*in_serial[i]];
        p.place = place_of(graph.tensor(op.outputs.front()), serial.tensor(other.outputs.front()), options.cut, options.samples);
        p.key = RandomKey(1).with(static_cast<std::uint64_t>(options.block)).with(*in_serial[i]);
        place(p, op, other, options);
    }
    return list;
}

std::optional<PreparedLoss> prepare_loss(const OperatorGraph& graph, TensorId output, const BlockOptions& options) {
    const CrossEntropy* loss = loss_behind(graph, output);
    if (loss == nullptr) return {};
    PreparedLoss prepared{.weight = loss->weight};
    if (loss->ahead == 0) return prepared;
    const std::int64_t here = loss->rows / options.samples, all = here * options.cut.context.ranks;
    for (std::int64_t row = 0; row < loss->rows; ++row)
        if (options.cut.context.position(row % here, here) + loss->ahead >= all) prepared.unlabelled.push_back(row);
    return prepared;
}

// Where the rows of what an operator makes stand, which reads rows that stand at `from`.
RoutedRows rows_behind(const Operator& op, bool to_experts, RoutedRows from) {
    if (std::holds_alternative<TokenPermute>(op.kind)) return to_experts ? RoutedRows::sent : RoutedRows::none;
    const auto* e = std::get_if<Exchange>(&op.kind);
    if (e == nullptr) return from;
    switch (e->forward) {
        case ExchangeKind::all_to_all: return to_experts ? RoutedRows::arrived : RoutedRows::sent;
        case ExchangeKind::all_gather: return RoutedRows::worked;
        case ExchangeKind::reduce_scatter: return RoutedRows::arrived;
        case ExchangeKind::all_reduce:
        case ExchangeKind::none: break;
    }
    return from;
}

void find_routed_rows(PreparedBlock& b) {
    b.rows.assign(b.graph.tensors().size(), RoutedRows::none);
    bool worked = false;
    for (std::size_t i = 0; i < b.operators.size(); ++i) {
        const Operator& op = b.graph.operators()[i];
        const RoutedRows from = op.inputs.empty() ? RoutedRows::none : b.rows[op.inputs.front().value];
        PreparedOperator& p = b.operators[i];
        p.routed = from != RoutedRows::none || std::holds_alternative<TokenPermute>(op.kind);
        if (!p.routed) continue;
        worked |= std::holds_alternative<Gemm>(op.kind);
        p.to_experts = !worked;
        for (const TensorId id : op.outputs) b.rows[id.value] = rows_behind(op, p.to_experts, from);
        b.gathers_rows |= b.rows[op.outputs.front().value] == RoutedRows::worked;
    }
}

// A gradient flows where a parameter or a wanted input stands behind.
void find_gradients(PreparedBlock& b) {
    b.wants_gradient.assign(b.graph.tensors().size(), false);
    for (const TensorId id : b.graph.inputs())
        b.wants_gradient[id.value] = b.options.input_gradients && b.graph.tensor(id).role == TensorRole::activation;
    for (const Operator& op : b.graph.operators()) {
        const bool flows = op.is_trained() || std::ranges::any_of(op.inputs, [&](TensorId id) { return b.wants_gradient[id.value]; });
        b.differentiated.push_back(flows);
        const bool has_statistics = std::holds_alternative<Normalization>(op.kind) || std::holds_alternative<CrossEntropy>(op.kind) ||
                                    std::holds_alternative<Attention>(op.kind);
        for (std::size_t i = 0; i < op.outputs.size(); ++i) {
            const bool beside = i > 0 && (has_statistics || b.graph.tensor(op.outputs[i]).role == TensorRole::mask);
            b.wants_gradient[op.outputs[i].value] = flows && !beside;
        }
    }
}

}  // namespace

PreparedBlock prepare(const OperatorGraph& mine, const OperatorGraph& serial, const Plan& plan, const BlockOptions& options) {
    PreparedBlock b{.options = options,
                    .graph = checked(mine),
                    .parameters = {},
                    .operators = {},
                    .losses = {},
                    .wants_gradient = {},
                    .differentiated = {},
                    .makers = {},
                    .rows = {},
                    .gathers_rows = false,
                    .retention = {}};
    const OperatorGraph whole = executable(serial);
    b.parameters = parameters_of(b.graph, whole, options.cut, options.block);
    b.operators = prepare_operators(b.graph, whole, options);
    for (const TensorId id : b.graph.outputs()) b.losses.push_back(prepare_loss(b.graph, id, options));
    find_routed_rows(b);
    for (std::size_t i = 0; i < b.parameters.size(); ++i) b.operators[b.parameters[i].operator_index].parameters.push_back(i);
    find_gradients(b);
    b.makers = makers_of(b.graph);
    const bool as_a_whole = options.recomputed && plan.recompute != Recompute::selective;
    const std::vector<bool> dropped = as_a_whole ? std::vector<bool>(b.graph.tensors().size(), true) : dropped_tensors(b.graph, plan);
    b.retention = plan_retention(b.graph, dropped, b.differentiated);
    return b;
}

}  // namespace sextant
