// The arithmetic, on a CPU core, of operators that are not matrix products: functions of single elements, and sums over rows.
//
// It is counted in multiples of the time of one exponential in a long row. These multiples were measured with this repository's kernels
// (backend/cpu: oneDNN where it has the function, else loops) on one core of a Xeon with AVX-512, less the passes over the operands
// (docs/model/compute.md). The time of one exponential belongs to the device (Device::exponential). Zero means that the passes alone
// decide. GPUs have arithmetic to spare beside their passes, so nothing of this is counted for them.
#pragma once

#include "model/workload/operator.hpp"

namespace sextant {

// The number of exponentials that the whole operator takes as long as.
double elementwise_work(const OperatorKind&, bool backward);

// An element of filters, beside moving it: laid out in blocks of channels, and a gradient so laid out that is added to one that is not.
// On two cores of an EPYC with AVX-512, filters of 3 x 3 and 2 x 2 x 256 to 1024 x 1024: 0.9 to 3.5, and 2.8 to 3.7.
constexpr double laid_out_filter = 1.6, laid_back_filter = 3.2;

// How many scores fused attention on a core computes for each score that counts: it takes blocks of 64 neighbouring queries, each with all
// keys that any of its queries sees. (n + 64) / (n + 1) for n causal queries, n a multiple of 64.
double computed_scores(const Attention&);

}  // namespace sextant
