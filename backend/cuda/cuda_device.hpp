// A GPU that computes: cuBLASLt for products, cuDNN for convolutions and for attention in 16 bits, kernels of backend/kernels for the rest.
// `tf32`: products and convolutions of fp32 may be of TF32. `captures`: work that comes again and again is launched as CUDA graphs.
#pragma once

#include "backend/exec/device.hpp"
#include "backend/kernels/graph_cache.hpp"

#include <memory>
#include <optional>
#include <string>

namespace sextant::cuda {

std::unique_ptr<ComputeDevice> make_device(int gpu, bool tf32, bool captures);

// Of a device made here: which passes of attention cuDNN has run, "forward and backward". Empty: none.
std::string fused_attention(ComputeDevice&);
// Likewise: how its last step was launched. None: without graphs.
std::optional<kernels::GraphUse> graph_use(ComputeDevice&);

}  // namespace sextant::cuda
