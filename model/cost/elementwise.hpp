// Arithmetic of the operators that are no matrix products, on a core: functions of single elements, and sums over rows.
//
// Counted in times of one exponential of an element of a long row. How many of these a function takes was measured with this repository's
// kernels (backend/cpu: oneDNN where it has the function, loops of its own elsewhere) on one core of a Xeon with AVX-512, the passes over
// the operands taken off (docs/model/compute.md); how long one is, is the device's (Device::exponential). Zero: its passes say how long it
// takes. GPUs have arithmetic to spare beside their passes: nothing of this is counted for them.
#pragma once

#include "model/workload/operator.hpp"

namespace sextant {

// Of the whole operator.
double elementwise_work(const OperatorKind&, bool backward);

// Fused attention on a core goes by blocks of 64 neighbouring queries, each with all keys that any of its queries sees: how many scores are
// computed for each that counts. (n + 64) / (n + 1) for n queries that see those before them, n a multiple of 64.
double computed_scores(const Attention&);

}  // namespace sextant
