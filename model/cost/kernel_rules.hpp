// What the kernels of a block and the tensors that it keeps both depend on. For KernelWriter and saved_tensors.cpp.
#pragma once

#include "model/cost/kernel.hpp"

namespace sextant {

bool is_16_bit_or_wider(DataType);

// What weights are multiplied in. Input and head blocks keep the activation type where the others narrow it.
DataType product_type(const Precision&, BlockRole);

// What everything else is multiplied in: at least as wide as activations are stored.
DataType unnarrowed_type(const Precision&, BlockRole);

// Is it a product that a narrow format is for? Of a large weight: attention's scores and adapters stay in the activation type.
bool is_narrowed(const Operator&);

// By tensor, whether it goes into or comes out of a gate that runs inside the products of its experts.
std::vector<char> find_inside_products(const OperatorGraph&, const Framework&, DataType product_type);

// By tensor, the part of it that a rank makes narrow before it is gathered: of what narrowed products read, and of the gradients of what
// they make. 1 where every rank narrows all that it has, or nothing is narrowed.
std::vector<double> find_narrowed_parts(const OperatorGraph&, DataType product_type);

// Do products with weights alone read what it makes? The gradient of a product's input does not need the input.
bool feeds_weights_alone(const OperatorGraph&, const Operator& exchange);

// By operator, the exchanges whose result its backward is the first to need again: it is the last that reads it for its backward.
std::vector<std::vector<std::size_t>> find_gathered_again(const OperatorGraph&);

// By tensor, whether backward makes its gradient: where a parameter or an input that wants one stands behind.
std::vector<char> find_wanted(const OperatorGraph&, bool reads_data);

// Fills what the block holds of parameters and computes.
void count_work(const OperatorGraph&, DataType product_type, BlockKernels&);

// Fills what the block keeps from forward to backward, drops, works on and hands on.
void measure_saved(const OperatorGraph&, const Plan&, const Framework&, DataType product_type, BlockKernels&);

}  // namespace sextant
