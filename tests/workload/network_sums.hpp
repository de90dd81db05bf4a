// Networks of the catalogue, and sums over networks that tests of builders compare with numbers worked out by hand.
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/workload/builders.hpp"
#include "model/workload/network.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sextant {

inline const Shard inference{.micro_batch = 1, .training = false};

inline TransformerSpec spec_of(const char* name) { return std::get<TransformerSpec>(find_workload(name)->spec); }
inline double parameters_of(const TransformerSpec& spec) { return build_transformer(spec, {}).parameters(); }

inline const OperatorGraph& graph_at(const Network& network, std::size_t position) {
    return network.templates.at(static_cast<std::size_t>(network.sequence.at(position))).graph;
}

// Two tensor ranks cannot share it: RegNets have stages of 25, 37 or one group, attention may have one head or three, layers over
// patches an odd number of them, and the smallest GENet has a stem of 13.
inline bool has_odd_cut(const std::string& name, std::int64_t image_px) {
    try {
        build_convolutional({.name = name, .image_px = image_px}, {.tensor = 2});
    } catch (const InputError&) {
        return true;
    }
    return false;
}

// A block begins with a pass that would be joined to the one before the block: with a norm by a compiler (`norms_join`), with an
// activation, a factor or a copy by any fusion.
inline bool begins_blocks_with_passes(const std::string& name, std::int64_t image_px, bool norms_join) {
    const Network network = build_convolutional({.name = name, .image_px = image_px}, {});
    for (std::size_t i = 1; i < network.sequence.size(); ++i) {
        const OperatorKind &before = graph_at(network, i - 1).operators().back().kind,
                           &first = graph_at(network, i).operators().front().kind;
        if (!std::holds_alternative<Pointwise>(before)) continue;
        if (std::holds_alternative<Pointwise>(first) || (norms_join && std::holds_alternative<Normalization>(first))) return true;
    }
    return false;
}

inline Flops sum_forward_flops(const Network& network) {
    Flops sum;
    for (std::size_t i = 0; i < network.sequence.size(); ++i)
        for (const Operator& op : graph_at(network, i).operators()) sum += forward_flops(op.kind);
    return sum;
}

inline double saved_elements(const OperatorGraph& graph, TensorRole role = TensorRole::activation) {
    double sum = 0;
    for (const TensorId id : saved_for_backward(graph))
        if (graph.tensor(id).role == role) sum += graph.tensor(id).elements();
    return sum;
}

inline double sum_saved_elements(const Network& network) {
    double sum = 0;
    for (std::size_t i = 0; i < network.sequence.size(); ++i) sum += saved_elements(graph_at(network, i));
    return sum;
}

template <class Kind>
std::vector<Kind> operators_of(const OperatorGraph& graph) {
    std::vector<Kind> found;
    for (const Operator& op : graph.operators())
        if (const Kind* kind = std::get_if<Kind>(&op.kind)) found.push_back(*kind);
    return found;
}

}  // namespace sextant
