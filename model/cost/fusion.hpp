// Which operators share a kernel.
//
// A chain is a run of memory-bound operators, each reading what the one before wrote, that the framework joins: its inner tensors
// never reach memory unless backward needs them or somebody else reads them. Matrix products, attention, exchanges, embeddings and
// losses stand alone (a bias belongs to its GEMM already).
//   none       no chains
//   pointwise  chains of pointwise operators: bias + gelu, dropout + add
//   compiler   pointwise operators, normalizations and softmax
// Scale, mask and softmax are one kernel wherever the framework has that kernel.
#pragma once

#include "model/plan/framework.hpp"
#include "model/workload/operator_graph.hpp"

#include <cstddef>
#include <vector>

namespace sextant {

struct FusedChain {
    std::vector<std::size_t> operators;  // indices, in order
    std::vector<TensorId> inputs;        // read from memory
    std::vector<TensorId> outputs;       // written because somebody outside reads them
    std::vector<TensorId> saved;         // written because backward reads them; not among outputs
    std::vector<TensorId> kept;          // all that the chain's own backward reads, its inputs and outputs included
};

// The number of readers of each tensor, by tensor index; leaving the block counts as one more.
std::vector<int> count_readers(const OperatorGraph&);

// `compute`: the type that the network multiplies in.
std::vector<FusedChain> fuse(const OperatorGraph&, const Framework&, DataType compute, const std::vector<int>& readers);

}  // namespace sextant
