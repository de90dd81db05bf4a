#include "model/cost/kernel_lists.hpp"

#include <algorithm>
#include <iterator>

namespace sextant {

Kernel matrix_product(const std::string& name, const ProductShape& shape, DataType type, Bytes bytes, bool backward) {
    const auto [batch, m, n, k] = shape;
    Kernel g;
    g.kind = KernelKind::gemm;
    g.batch = batch;
    g.m = m;
    g.n = n;
    g.k = k;
    g.type = type;
    g.flops = Flops::from_si(2 * static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k));
    g.bytes = bytes;
    g.backward = backward;
    g.name = name;
    return g;
}

void push_memory(std::vector<Kernel>& list, const std::string& name, Bytes bytes, bool backward, int launches) {
    Kernel k;
    k.kind = KernelKind::memory;
    k.bytes = bytes;
    k.launches = launches;
    k.backward = backward;
    k.name = name;
    list.push_back(std::move(k));
}

void push_weight_gradient(std::vector<Kernel>& list, const std::string& name, Bytes bytes, int launches) {
    push_memory(list, name, bytes, true, launches);
    list.back().weight_gradient = true;
}

void append(std::vector<Kernel>& kernels, std::vector<ExchangeCall>& exchanges, std::vector<Kernel>& to_kernels,
            std::vector<ExchangeCall>& to_exchanges) {
    for (ExchangeCall& call : exchanges) {
        call.after += to_kernels.size();
        to_exchanges.push_back(call);
    }
    std::ranges::move(kernels, std::back_inserter(to_kernels));
}

}  // namespace sextant
