// A GPU that computes: cuBLASLt for products, cuDNN for convolutions, kernels of backend/kernels for the rest. All in fp32; products and
// convolutions may be of TF32.
#pragma once

#include "backend/exec/device.hpp"

#include <memory>

namespace sextant::cuda {

std::unique_ptr<ComputeDevice> make_device(int gpu, bool tf32);

}  // namespace sextant::cuda
