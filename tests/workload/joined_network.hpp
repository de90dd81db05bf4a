// All blocks of a network as one operator graph: what a cut must not change is compared with it.
#pragma once

#include "model/workload/network.hpp"

#include <map>
#include <utility>
#include <vector>

namespace sextant {

inline OperatorGraph joined(const Network& network) {
    OperatorGraphBuilder whole;
    std::vector<TensorId> boundary;  // what the last block left
    for (std::size_t position = 0; position < network.sequence.size(); ++position) {
        const OperatorGraph& block = network.templates[static_cast<std::size_t>(network.sequence[position])].graph;
        std::map<TensorId, TensorId> in_whole;
        for (std::size_t i = 0; i < block.inputs().size(); ++i) {
            const Tensor& t = block.tensor(block.inputs()[i]);
            in_whole[block.inputs()[i]] = position == 0 ? whole.input(t.name, t.shape, t.role) : boundary.at(i);
        }
        for (Operator op : block.operators()) {
            const std::vector<TensorId> outputs = std::exchange(op.outputs, {});
            for (TensorId& id : op.inputs) id = in_whole.at(id);
            for (std::size_t i = 0; i < outputs.size(); ++i) {
                const Tensor& t = block.tensor(outputs[i]);
                in_whole[outputs[i]] = i == 0 ? whole.add(op, t.shape, t.role) : whole.also(t.name, t.shape, t.role);
            }
        }
        boundary.clear();
        for (const TensorId id : block.outputs()) boundary.push_back(in_whole.at(id));
    }
    for (const TensorId id : boundary) whole.output(id);
    return std::move(whole).build();
}

}  // namespace sextant
