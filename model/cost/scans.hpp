// Kernels of scans by chunks: of a state space as state-spaces/mamba's Triton kernels divide it (ops/triton/ssd_combined.py), of a gated
// delta rule as those of flash-linear-attention do (fla/ops/gated_delta_rule/chunk.py).
#pragma once

#include "model/cost/kernel.hpp"

#include <concepts>

namespace sextant {

template <class Kind>
concept Scan = std::same_as<Kind, StateSpaceScan> || std::same_as<Kind, DeltaRuleScan>;

// `type`: of the operands of their products, and of the states between the kernels of a delta rule. States
// and scores of a state space are fp32.
void add_scan(const Operator&, const StateSpaceScan&, DataType type, const Precision&, BlockKernels& out);
void add_scan(const Operator&, const DeltaRuleScan&, DataType type, const Precision&, BlockKernels& out);

}  // namespace sextant
