#include "model/workload/dependency_graph.hpp"

#include <boost/graph/topological_sort.hpp>

#include <algorithm>
#include <iterator>

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

std::optional<std::vector<std::size_t>> topological_order(const DependencyGraph& graph) {
    std::vector<std::size_t> order;
    order.reserve(boost::num_vertices(graph));
    try {
        boost::topological_sort(graph, std::back_inserter(order));
    } catch (const boost::not_a_dag&) {
        return std::nullopt;
    }
    std::reverse(order.begin(), order.end());  // Boost lists the last first
    return order;
}

}  // namespace sextant
