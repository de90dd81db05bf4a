// What the kernels of a block and the tensors that it keeps both depend on. For kernel.cpp and saved_tensors.cpp.
#pragma once

#include "model/cost/kernel.hpp"

namespace sextant {

bool is_16_bit_or_wider(DataType);

// GPT-OSS's gate where no kernel has it whole. Elements written and read for each of the result, forward: a bias for each expert, times
// the router's weight, added and put together again 12, two limits 4, x sigmoid(1.702 x) 7, + 1, the product, times the router's weight
// in FP32 and back 11. Backward: the last of these 11, the product 6, the sigmoid 14, limits with their masks 12, halves put together
// 8, the bias and its sum 12.
void write_gate_in_passes(const std::string& name, Bytes result, BlockKernels&);

// Of a framework that widens on cores: whether the operator has no form for 16 bits there. Products have one on `unit` tensor.
bool goes_over_copies(const Operator&, const Precision&, ComputeUnit unit);
// The kernels from there on go over operands in FP32, which are made of what is stored, or rounded to it.
void go_over_copies(const Operator&, const Precision&, std::vector<Kernel>&, std::ptrdiff_t from);

// What weights are multiplied in. Input and head blocks keep the activation type where the others narrow it.
DataType product_type(const Precision&, BlockRole);

// By operator, the exchanges whose result its backward is the first to need again: it is the last that reads it.
std::vector<std::vector<std::size_t>> find_gathered_again(const OperatorGraph&);

// By tensor, whether backward makes its gradient: where a parameter or an input that wants one stands behind.
std::vector<char> find_wanted(const OperatorGraph&, bool reads_data);

// Fills what the block keeps from forward to backward, drops, works on and hands on.
void measure_saved(const OperatorGraph&, const Plan&, const Framework&, DataType product_type, BlockKernels&);

}  // namespace sextant
