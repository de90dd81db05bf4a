// What sextant-exec-cuda launches where that is not what libraries and frameworks have:
// backend/kernels/{product,attention}.hpp. tests/backend/launch_counts_test.cpp counts both.
#include "model/base/ceil_divide.hpp"
#include "model/cost/kernel_lists.hpp"
#include "model/cost/kernel_writer.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {

// A product for each output, one behind the other, both ways. The gradients of what all of them read are summed in FP32, and rounded.
void KernelWriter::write_products(const Operator& op, const Gemm& g, DataType type, BlockKernels& out) const {
    const double read = static_cast<double>(g.batch * g.m * g.k);
    const Bytes wide = size_of(DataType::fp32), narrow = element_size(TensorRole::activation, plan_.precision);
    for (const TensorId id : op.outputs) {
        const auto n = static_cast<std::int64_t>(graph_.tensor(id).elements() / static_cast<double>(g.batch * g.m));
        out.forward.push_back(gemm(op.name, {g.batch, g.m, n, g.k}, type, false));
        if (wants_gradient(op)) {
            out.backward.push_back(gemm(op.name, {g.batch, g.m, g.k, n}, type, true));
            out.backward.back().bytes += read * ((id == op.outputs.front() ? 1.0 : 2.0) * wide - narrow);
        }
        if (!op.frozen) add_weight_gradient(op, g, n, type, bytes_of(id), out);
    }
    if (wants_gradient(op) && narrow < wide) push_memory(out.backward, op.name + ".round", read * (wide + narrow), true);
}

// The products of attention that is written out: a call for each sample and each of the heads that share a key-value head.
void KernelWriter::share_among_calls(const Operator& op, const Gemm& g, BlockKernels& out) const {
    const bool makes_scores = graph_.tensor(op.inputs[0]).shape.size() == 2;
    const std::int64_t kv_heads = std::max<std::int64_t>(1, graph_.tensor(op.inputs[1]).shape.back() / (makes_scores ? g.k : g.n));
    for (std::vector<Kernel>* list : {&out.forward, &out.backward})
        for (Kernel& k : *list)
            if (k.kind == KernelKind::gemm) k.launches = static_cast<int>(g.batch / kv_heads);
}

// Attention where no library has it as one kernel: products and a softmax over scores in FP32, of all heads of a sample and as many
// queries as some scores allow for. Keys that none of these queries sees are left out, those that some do not see are multiplied.
void KernelWriter::write_scores(const Operator& op, const Attention& a, BlockKernels& out) const {
    constexpr std::int64_t scores_at_once = std::int64_t{1} << 24, least_queries = 64;
    const std::int64_t at_once = std::min(a.query_len, std::max(least_queries, scores_at_once / (a.kv_heads * a.key_len)));
    const std::int64_t blocks = ceil_divide(a.query_len, at_once), calls = a.batch * (a.heads / a.kv_heads) * blocks;
    const double visible = attention_pairs(a), some_of_last = 0.5 * static_cast<double>(at_once) * static_cast<double>(a.query_len);
    const double made = std::min(static_cast<double>(a.query_len * a.key_len), a.causal ? visible + some_of_last : visible);
    const auto keys = static_cast<std::int64_t>(std::ceil(made / static_cast<double>(a.query_len)));
    const double heads = static_cast<double>(a.batch * a.heads);
    const Bytes all = heads * made * size_of(DataType::fp32), seen = heads * visible * size_of(DataType::fp32);
    const auto product = [&](std::int64_t m, std::int64_t n, std::int64_t k, bool backward) {
        Kernel p = gemm(op.name, {calls * a.kv_heads, m, n, k}, unnarrowed_type_, backward);
        p.launches = static_cast<int>(calls);
        p.in_flight = 0.5;  // a head's rows are short: what moves are the scores, and multiprocessors have few of them under way
        return p;
    };
    const auto pass = [&](std::vector<Kernel>& list, Bytes bytes, bool backward) {
        push_memory(list, op.name + ".softmax", bytes, backward, static_cast<int>(calls));
    };
    out.forward.push_back(product(at_once, keys, a.head_dim, false));
    pass(out.forward, seen + all, false);
    out.forward.back().in_flight = in_flight_of_row;
    out.forward.push_back(product(at_once, a.value_dim, keys, false));

    // The gradients of keys and values begin with zeros.
    push_memory(out.backward, op.name + ".clear", input_bytes(op) - bytes_of(op.inputs.front()), true, 2);
    out.backward.push_back(product(at_once, keys, a.head_dim, true));
    out.backward.push_back(product(at_once, keys, a.value_dim, true));
    pass(out.backward, 2.0 * (seen + all), true);
    out.backward.push_back(product(at_once, a.head_dim, keys, true));
    out.backward.push_back(product(keys, a.head_dim, at_once, true));
    out.backward.push_back(product(keys, a.value_dim, at_once, true));
}

}  // namespace sextant
