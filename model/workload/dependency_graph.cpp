#include "model/workload/dependency_graph.hpp"

#include <optional>
#include <vector>

namespace sextant {

DependencyGraph dependency_graph(const OperatorGraph& graph) {
    const auto operators = graph.operators();
    std::vector<std::optional<std::size_t>> writer(graph.tensors().size());  // none: the tensor arrives from outside
    for (std::size_t i = 0; i < operators.size(); ++i)
        for (const TensorId id : operators[i].outputs) writer[id.value] = i;

    DependencyGraph dependencies(operators.size());
    for (std::size_t i = 0; i < operators.size(); ++i)
        for (const TensorId id : operators[i].inputs)
            if (writer[id.value]) boost::add_edge(*writer[id.value], i, CarriedTensor{id}, dependencies);
    return dependencies;
}

}  // namespace sextant
