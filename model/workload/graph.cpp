// A network that is written out for one sample, for a micro-batch of them.
#include "model/base/overloaded.hpp"
#include "model/workload/builders.hpp"

#include <algorithm>
#include <span>

namespace sextant {
namespace {

// A copy counts through the samples first, or through its outputs and then through the samples. Axes that lie behind one another are one,
// so that an order has as few as that of a network that was built for so many.
void repeat_order(std::vector<CopyAxis>& order, bool several_outputs, double read, std::int64_t samples) {
    if (order.empty()) return;
    const CopyAxis of_samples{.extent = samples, .stride = static_cast<std::int64_t>(read)};
    order.insert(order.begin() + (several_outputs ? 1 : 0), of_samples);
    std::vector<CopyAxis> joined;
    for (const CopyAxis& axis : order) {
        if (axis.extent == 1) continue;
        if (!joined.empty() && joined.back().start + axis.start == 0 && joined.back().stride == axis.extent * axis.stride)
            joined.back() = {joined.back().extent * axis.extent, axis.stride, 0};
        else
            joined.push_back(axis);
    }
    order = std::move(joined);
}

// What an operator of one sample is of so many. `read`: elements of what it reads (first) of one.
void repeat(Operator& op, double read, std::int64_t samples) {
    const auto many = static_cast<double>(samples);
    std::visit(Overloaded{[&](Gemm& g) { (g.weight ? g.m : g.batch) *= samples; }, [&](Convolution& c) { c.batch *= samples; },
                          [&](Attention& a) { a.batch *= samples; }, [&](SequenceConvolution& c) { c.batch *= samples; },
                          [&](StateSpaceScan& s) { s.batch *= samples; }, [&](DeltaRuleScan& s) { s.batch *= samples; },
                          [&](Normalization& n) { (n.kind == NormKind::batch ? n.width : n.rows) *= samples; },
                          [&](Softmax& s) { s.rows *= samples; },
                          [&](Pointwise& p) {
                              repeat_order(p.order, op.outputs.size() > 1, read, samples);
                              p.elements *= many;
                          },
                          [](Pooling&) {}, [&](Embedding& e) { e.tokens *= samples; }, [&](CrossEntropy& c) { c.rows *= samples; },
                          [&](TokenPermute& t) {
                              t.tokens *= samples;
                              t.capacity *= samples;
                          },
                          [&](Exchange& e) { e.elements *= many; }},
               op.kind);
}

// The shape of what an operator of one sample makes: its first extent counts samples, but what norms have for each row is listed row behind
// row, and batch norms have it once for all samples.
std::vector<std::int64_t> repeated_shape(const OperatorGraph& one, const Operator* maker, TensorId id, std::int64_t samples) {
    std::vector<std::int64_t> shape = one.tensor(id).shape;
    const auto* norm = maker == nullptr ? nullptr : std::get_if<Normalization>(&maker->kind);
    if (norm == nullptr || id == maker->outputs.front())
        shape.front() *= samples;
    else if (norm->kind != NormKind::batch)
        shape.back() *= samples;
    return shape;
}

// Is it there in training alone? Then what it reads takes the place of what it makes.
bool trains_only(const Operator& op) {
    const auto* pointwise = std::get_if<Pointwise>(&op.kind);
    return (pointwise != nullptr && pointwise->kind == PointwiseKind::dropout) || std::holds_alternative<CrossEntropy>(op.kind);
}

// The tensors that somebody needs. Outside training that is not so of labels, and of what makes a loss beside the main one. Who reads a
// whole table is not always said.
std::vector<bool> needed_tensors(const OperatorGraph& one, bool training) {
    std::vector<bool> needed(one.tensors().size(), training);
    if (training) return needed;
    for (const TensorId id : one.outputs()) needed[id.value] = true;
    for (const Operator& op : one.operators())
        if (op.inputs.empty()) needed[op.outputs.front().value] = true;
    for (auto op = one.operators().rbegin(); op != one.operators().rend(); ++op) {
        if (std::ranges::none_of(op->outputs, [&](TensorId id) { return needed[id.value]; })) continue;
        const std::size_t read = trains_only(*op) ? 1 : op->inputs.size();
        for (const TensorId id : std::span(op->inputs).first(read)) needed[id.value] = true;
    }
    for (const TensorId id : one.inputs())
        if (one.tensor(id).role != TensorRole::index) needed[id.value] = true;
    return needed;
}

OperatorGraph graph_of(const OperatorGraph& one, const Shard& shard) {
    OperatorGraphBuilder graph;
    std::vector<TensorId> now(one.tensors().size());     // by the tensor of one sample
    std::vector<bool> of_samples(one.tensors().size());  // likewise: not what is made of tables alone, which all samples share
    const std::vector<bool> needed = needed_tensors(one, shard.training);
    for (const TensorId id : one.inputs()) {
        if (!needed[id.value]) continue;
        now[id.value] = graph.input(one.tensor(id).name, repeated_shape(one, nullptr, id, shard.micro_batch), one.tensor(id).role);
        of_samples[id.value] = true;
    }
    for (const Operator& op : one.operators()) {
        if (std::ranges::none_of(op.outputs, [&](TensorId id) { return needed[id.value]; })) continue;
        const TensorId first = op.outputs.front();
        const bool of_each = std::ranges::any_of(op.inputs, [&](TensorId id) { return of_samples[id.value]; });
        for (const TensorId id : op.outputs) of_samples[id.value] = of_each;
        if (!shard.training && trains_only(op)) {
            now[first.value] = now[op.inputs.front().value];
            continue;
        }
        const std::int64_t samples = of_each ? shard.micro_batch : 1;
        const auto shape_of = [&](TensorId id) { return repeated_shape(one, &op, id, samples); };
        Operator here = op;
        if (samples > 1) repeat(here, one.tensor(op.inputs.front()).elements(), samples);
        for (TensorId& id : here.inputs) id = now[id.value];
        now[first.value] = graph.add(std::move(here), shape_of(first), one.tensor(first).role);
        for (const TensorId id : std::span(op.outputs).subspan(1))
            now[id.value] = graph.also(one.tensor(id).name, shape_of(id), one.tensor(id).role);
    }
    for (const TensorId id : one.outputs()) graph.output(now[id.value]);
    for (const TensorId id : one.kept_for_writer()) graph.keep_for_writer(now[id.value]);
    return std::move(graph).build();
}

}  // namespace

Network build_graph(const GraphSpec& spec, const Shard& shard) {
    Diagnostics problems;
    check_shard(problems, shard);
    refuse_transformer_cuts(problems, shard, "a network written out operator by operator");
    if (shard.tensor != 1)
        problems.add({.file = {},
                      .pointer = "/plan/tp",
                      .what = "how the operators of a network that is written out are cut is not known",
                      .hint = "data and pipeline parallelism, ZeRO and recompute divide it; a network that has a name can be cut"});
    problems.throw_if_any();

    Network network{{}, spec.network.sequence};
    for (const Block& block : spec.network.templates) network.templates.push_back({block.name, block.role, graph_of(block.graph, shard)});
    return network;
}

}  // namespace sextant
