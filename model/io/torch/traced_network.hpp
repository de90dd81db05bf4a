// What a program does to one sample, operator by operator, before it is cut into blocks. Internal to model/io/torch.
#pragma once

#include "model/workload/network.hpp"

#include <string>
#include <vector>

namespace sextant {

struct TracedNetwork {
    std::vector<Tensor> tensors;       // by id; what an operator makes is called as the operator, with this behind
    std::vector<Operator> operators;   // in order
    std::vector<std::string> modules;  // of each operator: the path of the module that called it, "blocks.0.attn"
    std::vector<TensorId> inputs;      // what a sample is
    TensorId output;                   // that training begins to go back from
};

// Cut where a single tensor is handed on, beside those that go on past several blocks, and another module begins. Blocks that are alike
// are one template.
Network blocks_of(const TracedNetwork&);

}  // namespace sextant
