// Networks that a file writes out operator by operator. Those that are built lay out their tensors as engines expect; a file may have them
// otherwise, and an engine would read behind their ends.
#pragma once

#include "model/workload/network.hpp"

#include <string>
#include <vector>

namespace sextant {

// Why this network, of micro-batches of so many samples, does not run; empty where it does. What runs: products with weights,
// convolutions, norms, poolings, functions of single elements, sums, biases, tables, dropout, rotary positions, attention,
// selected and joined rows, rearranged images, and cross entropy, each of tensors as the builders of model/workload lay them out.
std::vector<std::string> what_does_not_run(const Network&, std::int64_t samples, bool training);

}  // namespace sextant
