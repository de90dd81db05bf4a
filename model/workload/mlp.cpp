// A stack of dense layers, cut alternately by output and by input (Megatron-LM, arXiv 1909.08053 section 3).
#include "model/workload/builders.hpp"
#include "model/workload/images/layers.hpp"

namespace sextant {
namespace {

void check(Diagnostics& problems, const MlpSpec& spec, const Shard& shard) {
    check_shard(problems, shard);
    refuse_transformer_cuts(problems, shard, "a multilayer perceptron");
    if (spec.widths.size() < 2)
        problems.add({.file = {},
                      .pointer = "/workload/mlp/widths",
                      .what = "an input and an output width are needed: " + std::to_string(spec.widths.size()) + " given",
                      .hint = "[784, 4096, 4096, 10]"});
    for (std::size_t i = 0; i < spec.widths.size(); ++i)
        require_between(problems, "/workload/mlp/widths/" + std::to_string(i), "width", spec.widths[i], 1, largest_extent);
    require_activation(problems, "/workload/mlp/activation", spec.activation);
}

}  // namespace

Network build_mlp(const MlpSpec& spec, const Shard& shard) {
    Diagnostics problems;
    check(problems, spec, shard);
    problems.throw_if_any();

    NetworkBuilder network({.shard = shard, .size_pointer = "/workload/mlp"}, {.id = {}, .channels = spec.widths.front()});
    for (std::size_t i = 1; i + 1 < spec.widths.size(); ++i)
        network.block("dense " + std::to_string(spec.widths[i]), BlockRole::layer,
                      [&](Layers& l, Image x) { return l.activation(l.linear("dense", x, spec.widths[i]), spec.activation); });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) { return l.classifier(x, spec.widths.back()); });
    return std::move(network).build();
}

}  // namespace sextant
