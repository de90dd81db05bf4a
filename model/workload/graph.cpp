// A network that is written out for one sample, for a micro-batch of them.
#include "model/base/overloaded.hpp"
#include "model/workload/builders.hpp"

#include <algorithm>
#include <cassert>

namespace sextant {
namespace {

// A copy that counts through the samples first, or first through its outputs and then through the samples.
void repeat_order(std::vector<CopyAxis>& order, std::size_t outputs, double elements, std::int64_t samples) {
    if (order.empty()) return;
    const CopyAxis of_samples{.extent = samples, .stride = static_cast<std::int64_t>(elements)};
    order.insert(order.begin() + (outputs > 1 ? 1 : 0), of_samples);
}

// What an operator of one sample is of so many.
void repeat(Operator& op, std::int64_t samples) {
    const auto many = static_cast<double>(samples);
    std::visit(Overloaded{[&](Gemm& g) { (g.weight ? g.m : g.batch) *= samples; },
                          [&](Convolution& c) { c.batch *= samples; },
                          [&](Attention& a) { a.batch *= samples; },
                          [&](SequenceConvolution& c) { c.batch *= samples; },
                          [&](StateSpaceScan& s) { s.batch *= samples; },
                          [&](DeltaRuleScan& s) { s.batch *= samples; },
                          [&](Normalization& n) { (n.kind == NormKind::batch ? n.width : n.rows) *= samples; },
                          [&](Softmax& s) { s.rows *= samples; },
                          [&](Pointwise& p) {
                              repeat_order(p.order, op.outputs.size(), p.elements, samples);
                              p.elements *= many;
                          },
                          [](Pooling&) {},
                          [&](Embedding& e) { e.tokens *= samples; },
                          [&](CrossEntropy& c) { c.rows *= samples; },
                          [&](TokenPermute& t) {
                              t.tokens *= samples;
                              t.capacity *= samples;
                          },
                          [&](Exchange& e) { e.elements *= many; }},
               op.kind);
}

bool is_statistic_of_batch(const Operator& op) {
    const auto* norm = std::get_if<Normalization>(&op.kind);
    return norm != nullptr && norm->kind == NormKind::batch;
}

// Is it there in training alone?
bool trains_only(const Operator& op) {
    const auto* pointwise = std::get_if<Pointwise>(&op.kind);
    return (pointwise != nullptr && pointwise->kind == PointwiseKind::dropout) || std::holds_alternative<CrossEntropy>(op.kind);
}

OperatorGraph graph_of(const OperatorGraph& one, const Shard& shard) {
    OperatorGraphBuilder graph;
    std::vector<TensorId> now(one.tensors().size());  // by the tensor of one sample
    const auto shape_of = [&](TensorId id, bool of_all = false) {
        std::vector<std::int64_t> shape = one.tensor(id).shape;
        if (shape.empty()) shape.push_back(1);
        if (!of_all) shape.front() *= shard.micro_batch;
        return shape;
    };
    for (const TensorId id : one.inputs()) now[id.value] = graph.input(one.tensor(id).name, shape_of(id), one.tensor(id).role);
    for (const Operator& op : one.operators()) {
        if (!shard.training && trains_only(op)) {
            now[op.outputs.front().value] = now[op.inputs.front().value];
            continue;
        }
        Operator here = op;
        repeat(here, shard.micro_batch);
        for (TensorId& id : here.inputs) id = now[id.value];
        const TensorId first = op.outputs.front();
        now[first.value] = graph.add(std::move(here), shape_of(first), one.tensor(first).role);
        for (const TensorId id : std::vector(op.outputs.begin() + 1, op.outputs.end()))
            now[id.value] = graph.also(one.tensor(id).name, shape_of(id, is_statistic_of_batch(op)), one.tensor(id).role);
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
    for (const Block& block : spec.network.templates)
        network.templates.push_back({block.name, block.role, graph_of(block.graph, shard)});
    return network;
}

}  // namespace sextant
