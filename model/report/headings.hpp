// Wording that several answers share: what is trained, on what, and whether it only just fits.
#pragma once

#include "model/plan/scenario.hpp"

#include <string>

namespace sextant {

std::string workload_line(const Workload&);  // "Llama 3 8B, adapters of rank 16"
std::string hardware_line(const Cluster&);   // "DGX A100: 8 x A100 SXM4 80GB a node"

// Whether it fits, but only because an allocator gave back all memory that lay unused.
inline bool nothing_to_spare(Bytes needed, Bytes there) { return needed <= there && needed >= 0.999 * there; }
// Whether it fits, and what is left is less than predictions of memory are off on average (docs/validation.md).
inline bool little_to_spare(Bytes needed, Bytes there) { return needed <= there && needed >= 0.97 * there; }

}  // namespace sextant
