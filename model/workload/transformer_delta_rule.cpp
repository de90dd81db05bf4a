#include "model/workload/transformer_writer.hpp"

namespace sextant {
namespace {

// The heads of keys once for each head of values that they serve, as the kernels take them.
TensorId spread_heads(TransformerWriter& w, std::string name, TensorId x, std::int64_t width) {
    const std::int64_t tokens = w.rows_of(x);
    if (w.width_of(x) == width) return x;
    const double elements = static_cast<double>(tokens) * static_cast<double>(width);
    return w.write(std::move(name), Pointwise{PointwiseKind::copy, elements}, {x}, {tokens, width});
}

}  // namespace

// One product makes the gate, queries, keys, values, and two numbers of each head; queries, keys and values pass one convolution.
TensorId write_delta_rule(TransformerWriter& w, TensorId x, const DeltaRule& d) {
    const std::int64_t heads = d.value_heads / w.shard.tensor, key_heads = d.key_heads / w.shard.tensor;
    const std::int64_t inner = heads * d.value_dim, key_width = key_heads * d.key_dim, channels = inner + 2 * key_width;
    x = w.enter_tensor_parallel("delta.enter", x);
    const std::int64_t tokens = w.cut.tokens();
    const auto also = [&](const char* name, std::int64_t width) { return w.graph.also(name, {tokens, width}, TensorRole::activation); };
    const Gemm in{.batch = 1, .m = tokens, .n = inner + channels + 2 * heads, .k = w.spec.hidden, .weight = true};
    const double biases = w.spec.bias ? static_cast<double>(in.n) : 0;
    const TensorId gate = w.write("delta.in", in, {x}, {tokens, inner}, static_cast<double>(in.n) * static_cast<double>(in.k) + biases);
    TensorId q = also("delta.q", key_width), k = also("delta.k", key_width), v = also("delta.v", inner);
    const TensorId writing = also("delta.b", heads), decay = also("delta.g", heads);

    const SequenceConvolution convolution{.batch = w.cut.batch, .sequence = w.cut.sequence, .channels = channels, .kernel = d.kernel};
    q = w.write("delta.conv", convolution, {q, k, v}, {tokens, key_width}, static_cast<double>(channels * d.kernel));
    k = also("delta.conv.k", key_width);
    v = also("delta.conv.v", inner);
    q = spread_heads(w, "delta.spread_q", q, heads * d.key_dim);
    k = spread_heads(w, "delta.spread_k", k, heads * d.key_dim);

    const DeltaRuleScan scan{
        .batch = w.cut.batch, .sequence = w.cut.sequence, .heads = heads, .key_dim = d.key_dim, .value_dim = d.value_dim, .chunk = d.chunk};
    x = w.write("delta.scan", scan, {q, k, v, writing, decay}, {tokens, inner}, 2 * static_cast<double>(heads));
    also("delta.inverse", heads * d.chunk);
    const Normalization norm{.kind = NormKind::rms, .rows = tokens * heads, .width = d.value_dim, .gated = true, .of_heads = true};
    x = w.write("delta.gated_norm", norm, {x, gate}, {tokens, inner}, static_cast<double>(d.value_dim));
    x = w.linear("delta.out", x, w.spec.hidden, w.spec.bias);
    return w.leave_tensor_parallel("delta.leave", x);
}

}  // namespace sextant
