// Rules that both the kernels of a block and the tensors that it keeps depend on. For KernelWriter and saved_tensors.cpp.
#pragma once

#include "model/cost/kernel.hpp"

namespace sextant {

bool is_16_bit_or_wider(DataType);

// The type that weights are multiplied in. Input and head blocks keep the activation type where the others narrow it.
DataType product_type(const Precision&, BlockRole);

// The type that everything else is multiplied in: at least as wide as stored activations.
DataType unnarrowed_type(const Precision&, BlockRole);

// Whether the operator is a product that narrow formats are for: one with a large weight. Attention's scores
// and adapters stay in the activation type.
bool is_narrowed(const Operator&);

// By tensor, whether it goes into or comes out of a gate that runs inside the products of its experts.
std::vector<bool> find_inside_products(const OperatorGraph&, const Framework&, DataType product_type);

// By tensor that narrowed products read, and by tensor whose gradient they read: the fraction of it that a rank narrows before it is
// gathered. 1 where every rank narrows all that it has, or nothing is narrowed.
std::vector<double> find_narrowed_parts(const OperatorGraph&, DataType product_type);

// Indices, masks and statistics have none.
bool has_gradient(TensorRole);

// Whether only products with weights read what the exchange makes. The gradient of a product's input does not need the input.
bool feeds_weights_alone(const OperatorGraph&, const Operator& exchange);

// By operator, the exchanges whose result its backward is the first to need again, since it is the last operator in forward to read it.
std::vector<std::vector<std::size_t>> find_gathered_again(const OperatorGraph&);

// By tensor, whether backward makes its gradient: whether it depends on a trained parameter or on an input whose gradient is needed.
std::vector<bool> find_wanted(const OperatorGraph&, bool reads_data);

// Fills in the parameters of the block and its FLOPs.
void count_work(const OperatorGraph&, DataType product_type, BlockKernels&);

// The weights of products that are trained.
std::vector<WeightMatrix> trained_matrices(const OperatorGraph&);

// By tensor, whether backward reads it only as an operand of products in FP8 or narrower: what is kept are the copies that forward made.
std::vector<bool> find_kept_narrow(const OperatorGraph&, DataType product_type);

// The bytes of a tensor that waits for backward.
Bytes kept_size(const Tensor&, bool narrow, const Precision&, DataType product_type);

// Fills in what the block keeps from forward to backward, makes again, works on and hands on.
void measure_saved(const OperatorGraph&, const Plan&, const Framework&, DataType product_type, bool reads_data, BlockKernels&);

// The most that backward holds beside what was kept, operator by operator, as our executor runs it: gradients of activations, and what it
// makes again. `dropped`: by tensor, whether that is so although backward reads it.
Bytes most_in_backward(const OperatorGraph&, const Plan&, const std::vector<bool>& dropped, bool reads_data);

}  // namespace sextant
