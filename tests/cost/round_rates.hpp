// What the round machine's device reaches, and a product that it makes.
#pragma once

#include "model/cost/compute.hpp"
#include "tests/cost/round_machine.hpp"

namespace sextant::round_machine {

inline DeviceRates rates() { return device_rates(device(), framework(), Plan{}); }

inline Kernel product(std::int64_t m, std::int64_t n, std::int64_t k) {
    Kernel g;
    g.kind = KernelKind::gemm;
    g.m = m, g.n = n, g.k = k;
    g.type = DataType::bf16;
    g.flops = 2.0 * static_cast<double>(m * n * k) * units::FLOP;
    return g;
}

}  // namespace sextant::round_machine
