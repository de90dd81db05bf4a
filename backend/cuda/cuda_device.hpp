// A GPU that computes: cuBLASLt for products, cuDNN for convolutions and for attention in 16 bits, kernels of backend/kernels for the rest.
// `tf32`: products and convolutions of fp32 may use TF32. `captures`: recurring work is launched as CUDA graphs.
#pragma once

#include "backend/exec/device.hpp"
#include "backend/kernels/graph_cache.hpp"

#include <memory>
#include <optional>
#include <string>

namespace sextant::cuda {

// `gpu`: its number among those that this process sees. Throws BackendError, here and in calls of the device, where the GPU or a library
// refuses.
std::unique_ptr<ComputeDevice> make_device(int gpu, bool tf32, bool captures);

// For a device made here: the passes of attention that cuDNN has run, "forward and backward"; empty where it has run none.
std::string fused_attention(ComputeDevice&);
// For a device made here: how its last step was launched; none where it uses no graphs.
std::optional<kernels::GraphUse> graph_use(ComputeDevice&);

}  // namespace sextant::cuda
