// The lists of kernels and exchanges of a block, as KernelWriter fills them.
#pragma once

#include "model/cost/kernel.hpp"

namespace sextant {

// `batch` products of [m, k] x [k, n] that read and write so many bytes.
Kernel matrix_product(const std::string& name, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, DataType, Bytes,
                      bool backward);

// Passes over operands: `bytes` are read and written by so many launches.
void push_memory(std::vector<Kernel>&, const std::string& name, Bytes bytes, bool backward, int launches = 1);
// The same, backward, for a weight alone.
void push_weight_gradient(std::vector<Kernel>&, const std::string& name, Bytes bytes, int launches = 1);

// What runs after what is there already.
void append(std::vector<Kernel>& kernels, std::vector<ExchangeCall>& exchanges, std::vector<Kernel>& to_kernels,
            std::vector<ExchangeCall>& to_exchanges);

}  // namespace sextant
