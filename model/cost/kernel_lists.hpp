// The lists of kernels and exchanges of a block, as KernelWriter fills them.
#pragma once

#include "model/cost/kernel.hpp"

namespace sextant {

// `batch` products of [m, k] x [k, n].
struct ProductShape {
    std::int64_t batch = 1, m = 1, n = 1, k = 1;
};
// `bytes`: read and written.
Kernel matrix_product(const std::string& name, const ProductShape&, DataType, Bytes bytes, bool backward);

// Passes over operands: `launches` kernels that together read and write `bytes`.
void push_memory(std::vector<Kernel>&, const std::string& name, Bytes bytes, bool backward, int launches = 1);
// The same in backward, for the gradient of a weight alone.
void push_weight_gradient(std::vector<Kernel>&, const std::string& name, Bytes bytes, int launches = 1);

// Appends kernels and exchanges that run after those that are there already.
void append(std::vector<Kernel>& kernels, std::vector<ExchangeCall>& exchanges, std::vector<Kernel>& to_kernels,
            std::vector<ExchangeCall>& to_exchanges);

}  // namespace sextant
