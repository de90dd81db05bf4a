// A GPU that computes: cuBLASLt for products, cuDNN for convolutions and for attention in 16 bits, kernels of backend/kernels for the rest.
// `tf32`: products and convolutions of fp32 may be of TF32.
#pragma once

#include "backend/exec/device.hpp"

#include <memory>
#include <string>

namespace sextant::cuda {

std::unique_ptr<ComputeDevice> make_device(int gpu, bool tf32);

// Of a device made here: which passes of attention cuDNN has run, "forward and backward". Empty: none.
std::string fused_attention(ComputeDevice&);

}  // namespace sextant::cuda
