#include "model/workload/transformer_writer.hpp"

namespace sextant {

// One product makes the gate, what the state takes in, and the time steps; x, B and C pass one convolution.
TensorId write_state_space(TransformerWriter& w, TensorId x, const StateSpace& s) {
    const std::int64_t heads = s.heads / w.shard.tensor, groups = s.groups / w.shard.tensor;
    const std::int64_t inner = heads * s.head_dim, shared = groups * s.state, channels = inner + 2 * shared;
    x = w.enter_tensor_parallel("ssm.enter", x);
    const std::int64_t tokens = w.cut.tokens();
    const auto also = [&](const char* name, std::int64_t width) { return w.graph.also(name, {tokens, width}, TensorRole::activation); };
    const Gemm in{.batch = 1, .m = tokens, .n = inner + channels + heads, .k = w.spec.hidden, .weight = true};
    const TensorId gate =
        w.write("ssm.in", in, {x}, {tokens, inner}, static_cast<double>(in.n) * static_cast<double>(in.k + (w.spec.bias ? 1 : 0)));
    x = also("ssm.x", inner);
    TensorId b = also("ssm.b", shared), c = also("ssm.c", shared);
    const TensorId dt = also("ssm.dt", heads);

    const SequenceConvolution convolution{.batch = w.cut.batch, .sequence = w.cut.sequence, .channels = channels, .kernel = s.kernel};
    const double filters = static_cast<double>(channels) * static_cast<double>(s.kernel + 1);
    x = w.write("ssm.conv", convolution, {x, b, c}, {tokens, inner}, filters);
    b = also("ssm.conv.b", shared);
    c = also("ssm.conv.c", shared);

    const StateSpaceScan scan{.batch = w.cut.batch,
                              .sequence = w.cut.sequence,
                              .heads = heads,
                              .head_dim = s.head_dim,
                              .groups = groups,
                              .state = s.state,
                              .chunk = s.chunk};
    x = w.write("ssm.scan", scan, {x, b, c, dt}, {tokens, inner}, 3 * static_cast<double>(heads));
    const Normalization norm{.kind = NormKind::rms, .rows = tokens, .width = inner, .parts = groups, .gated = true};
    x = w.write("ssm.gated_norm", norm, {x, gate}, {tokens, inner}, static_cast<double>(inner));
    x = w.linear("ssm.out", x, w.spec.hidden, w.spec.bias);
    return w.leave_tensor_parallel("ssm.leave", x);
}

}  // namespace sextant
