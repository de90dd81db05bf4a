#include "model/workload/operator.hpp"

#include "model/base/overloaded.hpp"

#include <algorithm>
#include <utility>

namespace sextant {
namespace {

double product(std::initializer_list<std::int64_t> factors) {
    double p = 1;
    for (const std::int64_t f : factors) p *= static_cast<double>(f);
    return p;
}

}  // namespace

std::string_view to_text(ParallelGroup g) {
    static constexpr std::string_view names[parallel_group_count] = {"tensor",      "context", "expert",   "expert tensor", "data",
                                                                     "expert data", "shard",   "replicas", "pipeline"};
    return names[static_cast<std::size_t>(g)];
}

double Tensor::elements() const {
    double n = 1;
    for (const std::int64_t extent : shape) n *= static_cast<double>(extent);
    return n;
}

Convolution underlying(const Convolution& c) {
    if (!c.transposed) return c;
    Convolution of = c;
    of.transposed = false;
    std::swap(of.in_channels, of.out_channels);
    std::swap(of.in_h, of.out_h);
    std::swap(of.in_w, of.out_w);
    return of;
}

bool is_product_of_pixels(const Convolution& c) {
    return c.kernel_h * c.kernel_w == 1 && c.stride == 1 && c.groups == 1 && c.padding_h + c.padding_w == 0 && !c.transposed;
}

double attention_pairs(const Attention& a) {
    const double queries = static_cast<double>(a.query_len);
    const double keys = static_cast<double>(a.key_len);
    const double window = a.window > 0 ? std::min(static_cast<double>(a.window), keys) : keys;
    if (!a.causal) return queries * window;
    // The first n queries of a sequence see 1, 2, ... keys, at most the window.
    const auto of_first = [window](double n) { return n <= window ? n * (n + 1) / 2 : window * (window + 1) / 2 + (n - window) * window; };
    if (a.balanced) return of_first(keys) * queries / keys;
    return of_first(keys) - of_first(std::max(keys - queries, 0.0));
}

Flops forward_flops(const OperatorKind& kind) {
    return Flops::from_si(std::visit(
        Overloaded{
            [](const Gemm& g) {
                return 2 * product({g.batch, g.m, g.n, g.k});
            },
            [](const Convolution& any) {
                const Convolution c = underlying(any);
                return 2 * product({c.batch, c.out_channels, c.out_h, c.out_w, c.in_channels / c.groups, c.kernel_h, c.kernel_w});
            },
            [](const Attention& a) {
                return 2 * product({a.batch, a.heads, a.head_dim + a.value_dim}) * attention_pairs(a);
            },
            [](const StateSpaceScan& s) {
                const std::int64_t chunk = std::min(s.chunk, s.sequence);
                return product({2, s.batch, s.sequence}) *
                       (product({s.groups, chunk, s.state}) + product({s.heads, s.head_dim, chunk + 2 * s.state}));
            },
            [](const DeltaRuleScan& d) {
                const std::int64_t chunk = std::min(d.chunk, d.sequence);
                return product({2, d.batch, d.sequence, d.heads}) *
                       (product({chunk, 3 * d.key_dim + 2 * d.value_dim}) + product({3, d.key_dim, d.value_dim}));
            },
            [](const auto&) { return 0.0; },
        },
        kind));
}

Flops backward_flops(const OperatorKind& kind) {
    if (const auto* d = std::get_if<DeltaRuleScan>(&kind)) {
        const std::int64_t chunk = std::min(d->chunk, d->sequence);
        return Flops::from_si(product({2, d->batch, d->sequence, d->heads}) *
                              (product({chunk, 10 * d->key_dim + 5 * d->value_dim + 2 * chunk}) + product({8, d->key_dim, d->value_dim})));
    }
    if (const auto* s = std::get_if<StateSpaceScan>(&kind)) {
        const std::int64_t chunk = std::min(s->chunk, s->sequence);
        const double again =
            product({2, s->batch, s->sequence, s->state}) * (product({s->groups, chunk}) + product({s->heads, s->head_dim}));
        return 2.0 * forward_flops(kind) + Flops::from_si(again);
    }
    const double ratio = std::holds_alternative<Attention>(kind) ? 2.5 : 2.0;
    return ratio * forward_flops(kind);
}

Flops forward_flops(const Operator& op) { return forward_flops(op.kind) / op.load; }
Flops backward_flops(const Operator& op) { return (op.frozen ? forward_flops(op.kind) : backward_flops(op.kind)) / op.load; }

}  // namespace sextant
