// What can be decided about a block before it runs. BlockProgram uses it.
#pragma once

#include "backend/exec/array.hpp"
#include "backend/exec/parameters.hpp"
#include "backend/exec/routing.hpp"
#include "model/plan/plan.hpp"
#include "model/workload/retention.hpp"

#include <optional>
#include <vector>

namespace sextant {

struct BlockOptions {
    int block = 0;             // its number in the network
    std::int64_t samples = 1;  // of a micro-batch
    BlockCut cut{};
    bool input_gradients = true;      // whether the gradients of its inputs are needed: not in the first block
    bool recomputed = false;          // BlockInstance::recomputed: only the inputs are kept, or what selective recompute leaves
    Element element = Element::real;  // of activations and weights
};

// What the calls of one operator have in common.
struct PreparedOperator {
    Place place;  // of its first output
    std::int64_t first_row = 0, valid_rows = 0;
    bool adds_bias = true;
    bool merges_losses = false;   // over the ranks that hold the other classes
    bool passes_through = false;  // the gradient of each input is that of the output
    bool routed = false;          // it works on rows of experts
    bool to_experts = false;      // it does so before their first product
    RoutedTokens tokens{};        // of a permutation
    std::vector<std::size_t> parameters{};
    RandomKey key{0};  // before seed and step
};

// An output that is a loss.
struct PreparedLoss {
    double weight = 1;                       // of its mean in the loss that is minimized
    std::vector<std::int64_t> unlabelled{};  // rows that do not count
};

struct PreparedBlock {
    BlockOptions options;
    OperatorGraph graph;  // with the tensors that only execution needs
    std::vector<ParameterTensor> parameters;
    std::vector<PreparedOperator> operators;
    std::vector<std::optional<PreparedLoss>> losses;  // by output
    std::vector<bool> wants_gradient;                 // by tensor
    std::vector<bool> differentiated;                 // by operator: its backward is needed
    std::vector<std::size_t> makers;                  // see makers_of
    std::vector<RoutedRows> rows;                     // by tensor
    bool gathers_rows = false;                        // the tensor ranks of an expert have rows of their own
    Retention retention;
};

// Throws InputError with all that unsupported() finds.
PreparedBlock prepare(const OperatorGraph& mine, const OperatorGraph& serial, const Plan&, const BlockOptions&);

}  // namespace sextant
