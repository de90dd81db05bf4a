// What every answer says first: what is trained, and on what.
#pragma once

#include "model/plan/scenario.hpp"

#include <string>

namespace sextant {

std::string workload_line(const Workload&);  // "Llama 3 8B, adapters of rank 16"
std::string hardware_line(const Cluster&);   // "DGX A100: 8 x A100 SXM4 80GB a node"

}  // namespace sextant
