// An operator graph as Boost.Graph sees it: for algorithms that walk it. OperatorGraph itself stays a flat list.
#pragma once

#include "model/workload/operator_graph.hpp"

#include <boost/graph/adjacency_list.hpp>

namespace sextant {

struct CarriedTensor {
    TensorId tensor;
};

// Vertex i is operator i; an edge for each tensor that one operator writes and another reads, parallel ones where it reads several.
using DependencyGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, boost::no_property, CarriedTensor>;

DependencyGraph dependency_graph(const OperatorGraph&);

}  // namespace sextant
