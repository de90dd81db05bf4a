// How fast a GPU's library convolves, against the product of the same shape (m pixels, n channels out, k channels in x window). Above 1
// where it multiplies less than is counted.
//
//   r(unit, window, pass) x  1/2 for the gradient of an image that was read in strides
//                         x  c / ceil(c, 16 bytes) on tensor units, whose loads take 16 bytes of a pixel's c channels
//                         x  0.65 on tensor units in TF32
//
// r are medians over the convolutions of DeepBench (eight NVIDIA GPUs from Maxwell to Turing), each against
// gemm_utilization of its shape: docs/model/compute.md.
#pragma once

#include "model/cost/kernel.hpp"
#include "model/hardware/device.hpp"

namespace sextant {

Window window_of(const Convolution&);

// Whether the kernel multiplies less than is counted: 3 x 3 windows on vector units.
bool in_winograd_domain(const Kernel& k, ComputeUnit);

double convolution_rate(const Kernel& k, ComputeUnit);

// On a CPU core: the fraction of registers that is filled. oneDNN puts channels of the result side by side into registers of 64 bytes, and
// the rest of the last one multiplies zeros (its developer guide, "Understanding Memory Formats").
double filled_registers(const Kernel& k);
// How many registers the output channels of a group take.
double registers_of(const Kernel& k);

}  // namespace sextant
