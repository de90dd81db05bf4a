// Kernels of a scan by chunks, as state-spaces/mamba's Triton kernels divide it (ops/triton/ssd_combined.py).
#pragma once

#include "model/cost/kernel.hpp"

namespace sextant {

// Of `type` are the operands of its products; states and scores between its kernels are fp32.
void add_scan(const Operator&, const StateSpaceScan&, DataType type, const Precision&, BlockKernels& out);

}  // namespace sextant
