#include "model/workload/transformer_writer.hpp"

#include <span>

namespace sextant {

TokenCut cut_tokens(std::int64_t full_sequence, const Shard& shard) {
    TokenCut cut;
    cut.batch = shard.micro_batch;
    cut.full_sequence = full_sequence;
    cut.sequence = full_sequence / shard.context;
    cut.rows = cut.tokens() / (shard.sequence_parallel ? shard.tensor : 1);
    return cut;
}

TensorId TransformerWriter::write(std::string name, OperatorKind kind, std::vector<TensorId> inputs, Shape shape, double parameters,
                                  TensorRole role) {
    Operator op;
    op.name = std::move(name);
    op.kind = kind;
    op.inputs = std::move(inputs);
    op.parameters = parameters;
    op.attention_core = attention_core;
    op.expert_parameters = expert_parameters;
    op.load = load;
    op.shared = shared;
    op.tied = tied;
    op.adapter = adapter;
    op.frozen = parameters > 0 && (frozen || (spec.adapters && adapter == AdapterPart::none));
    op.label = label;
    return graph.add(std::move(op), std::move(shape), role);
}

TensorId TransformerWriter::pointwise(std::string name, Pointwise function, std::vector<TensorId> inputs, double parameters) {
    const Tensor& like = graph.tensor(inputs.front());
    function.elements = like.elements();
    const TensorRole role = like.role;
    Shape shape = like.shape;
    return write(std::move(name), function, std::move(inputs), std::move(shape), parameters, role);
}

TensorId TransformerWriter::norm(std::string name, TensorId x) {
    const std::int64_t rows = rows_of(x), width = width_of(x);
    const bool shifted = spec.norm == NormKind::layer && spec.norm_bias.value_or(spec.bias);
    return write(std::move(name), Normalization{spec.norm, rows, width}, {x}, {rows, width},
                 static_cast<double>(width) * (shifted ? 2 : 1));
}

TensorId TransformerWriter::linear(std::string name, TensorId x, std::int64_t n, bool bias, TensorRole role) {
    const std::int64_t rows = rows_of(x), k = width_of(x);
    const double parameters = static_cast<double>(n) * static_cast<double>(bias ? k + 1 : k);
    return write(std::move(name), Gemm{.batch = 1, .m = rows, .n = n, .k = k, .weight = true}, {x}, {rows, n}, parameters, role);
}

void TransformerWriter::adapt(const std::string& product, bool LowRankAdapters::*where, TensorId x, const std::vector<TensorId*>& outputs) {
    if (!spec.adapters || !(*spec.adapters.*where)) return;
    const std::int64_t rank = spec.adapters->rank, alpha = spec.adapters->alpha > 0 ? spec.adapters->alpha : rank;
    adapter = AdapterPart::down;
    x = linear(product + ".lora_a", x, rank, false);
    adapter = AdapterPart::up;
    const std::int64_t rows = rows_of(x);
    std::int64_t columns = 0;
    for (const TensorId* out : outputs) columns += width_of(*out);
    const Gemm up{.batch = 1, .m = rows, .n = columns, .k = rank, .weight = true};
    const double weights = static_cast<double>(columns) * static_cast<double>(rank);
    std::vector<TensorId> parts{write(product + ".lora_b", up, {x}, {rows, width_of(*outputs.front())}, weights)};
    for (const TensorId* out : std::span(outputs).subspan(1))
        parts.push_back(graph.also(product + ".lora_b", {rows, width_of(*out)}, TensorRole::activation));
    adapter = AdapterPart::none;
    const Pointwise scale{.kind = PointwiseKind::scale, .constant = static_cast<double>(alpha) / static_cast<double>(rank)};
    auto part = parts.begin();
    for (TensorId* out : outputs) {
        const TensorId scaled = pointwise(product + ".lora_scale", scale, {*part++});
        *out = pointwise(product + ".lora_add", PointwiseKind::add, {*out, scaled});
    }
}

TensorId TransformerWriter::adapted_linear(const std::string& name, bool LowRankAdapters::*where, TensorId x, std::int64_t n, bool bias) {
    TensorId out = linear(name, x, n, bias);
    adapt(name, where, x, {&out});
    return out;
}

TensorId TransformerWriter::dropout(std::string name, TensorId x) {
    if (!spec.dropout || !shard.training) return x;
    Shape shape = graph.tensor(x).shape;
    constexpr double dropped = 0.1;  // of BERT and GPT-2 alike (arXiv 1810.04805, appendix A.2)
    const TensorId out = pointwise(name, Pointwise{.kind = PointwiseKind::dropout, .constant = dropped}, {x});
    graph.also(std::move(name), std::move(shape), TensorRole::mask);
    return out;
}

TensorId TransformerWriter::residual(std::string name, TensorId x, TensorId branch) {
    return pointwise(std::move(name), PointwiseKind::add, {x, branch});
}

TensorId TransformerWriter::enter_tensor_parallel(std::string name, TensorId x) {
    if (joined) return x;
    return enter(std::move(name), x, ParallelGroup::tensor, shard.tensor, shard.sequence_parallel);
}

TensorId TransformerWriter::leave_tensor_parallel(std::string name, TensorId partial) {
    if (joined) return partial;
    return leave(std::move(name), partial, ParallelGroup::tensor, shard.tensor, shard.sequence_parallel);
}

TensorId TransformerWriter::enter(std::string name, TensorId x, ParallelGroup group, std::int64_t degree, bool cut_rows) {
    if (degree == 1) return x;
    const std::int64_t width = width_of(x), rows = rows_of(x) * (cut_rows ? degree : 1);
    const Exchange exchange{.forward = cut_rows ? ExchangeKind::all_gather : ExchangeKind::none,
                            .backward = cut_rows ? ExchangeKind::reduce_scatter : ExchangeKind::all_reduce,
                            .group = group,
                            .elements = static_cast<double>(rows) * static_cast<double>(width),
                            .regathered = cut_rows && group == ParallelGroup::tensor};
    return write(std::move(name), exchange, {x}, {rows, width});
}

TensorId TransformerWriter::leave(std::string name, TensorId partial, ParallelGroup group, std::int64_t degree, bool cut_rows) {
    if (degree == 1) return partial;
    const std::int64_t rows = rows_of(partial), width = width_of(partial);
    const Exchange exchange{.forward = cut_rows ? ExchangeKind::reduce_scatter : ExchangeKind::all_reduce,
                            .backward = cut_rows ? ExchangeKind::all_gather : ExchangeKind::none,
                            .group = group,
                            .elements = static_cast<double>(rows) * static_cast<double>(width)};
    return write(std::move(name), exchange, {partial}, {cut_rows ? rows / degree : rows, width});
}

}  // namespace sextant
