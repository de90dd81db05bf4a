// Time of one kernel on one device.
//
//   matrix kernels   o + max( F / (P u), bytes / (W s) )        P peak of the data path, u what tiles and waves leave of it
//                    plus bytes / (W s) for a sum at the end of its tiles
//   attention        o + max( F / (P a w), bytes / (W s) )      a fraction of the fused kernel, w wave quantization
//   memory kernels   o per launch + bytes / (W s)               W memory bandwidth, s its streaming fraction; less where multiprocessors
//                                                               have too few loads under way (streaming_bandwidth)
//   on a CPU whose caches were measured:
//   matrix kernels   o + F / P + bytes / W(bytes)               one core packs its operands before it multiplies them
//                    in backward less what its own cache holds, which is loaded beside the arithmetic
//                    in forward, plus one more pass over the weights, from where the update left them
//   others           o + max( bytes / W(bytes), bytes / W(0) + e E )
//                    e exponentials, or what takes as long (elementwise.hpp), E for each; bytes from afar are fetched ahead
//   W(bytes): what lies in a core's own cache is as fast as that, what lies in the one that cores share as fast as that; of bytes that a
//             cache cannot hold, a pass finds the less the more they are.
//
// o is the device's own overhead between dependent kernels (measured as the intercept of time over size, te42kyfo/gpu-benches
// gpu-small-kernels). Tiles: see gemm_utilization. Neglected: cache reuse between kernels, clock changes within a step.
#pragma once

#include "model/base/enum_array.hpp"
#include "model/base/quantity.hpp"
#include "model/cost/kernel.hpp"
#include "model/hardware/device.hpp"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace sextant {

// A data path for matrix products: the rate that large products sustain, the maker's peak, and which units do it.
struct MatrixRate {
    FlopRate sustained;
    FlopRate peak;
    ComputeUnit unit = ComputeUnit::vector;
};

// What the cost functions need of a device, resolved once: no names, no options.
struct DeviceRates {
    EnumArray<DataType, MatrixRate, data_type_count> matrix;
    MatrixRate fp32_on_vector;  // whatever tensor units do; a rate of zero: there is no such path
    FlopRate vector;            // fp32 on vector units
    Bandwidth memory;           // streaming
    Bandwidth loads;            // that the loads under way on multiprocessors allow; zero: no limit
    Bandwidth cached;           // what lies in `cache`; zero: not known
    Bytes cache;
    Bandwidth shared;  // what lies in `shared_cache`; zero: not known, or there is none
    Bytes shared_cache;
    Bytes kept;           // weights, gradients and states, which each step goes over; zero: not known, more than any cache holds
    Seconds exponential;  // of one element; zero: not known, or no limit
    Seconds kernel_overhead;
    Seconds wait;  // for memory
    double multiprocessors = 1;
    Frequency outputs;               // one a clock, of all multiprocessors together; zero: not known
    double attention_forward = 0.5;  // fraction of the peak
    double attention_backward = 0.4;
    double attention_products = 2048;  // operations of attention's products that a multiprocessor does in a clock; an A100's where unknown
    // The fraction of the TF32 rate that is left where one operand of a product, or both, lie across their depth.
    double tf32_across_one = 1, tf32_across_both = 1;
    double native_build = 1;                                 // speed of the framework's kernels against a build for this very device
    double convolution = 1;                                  // the framework's choice of algorithm against the best
    std::shared_ptr<const std::vector<GemmCurve>> measured;  // products whose times were measured on such a device; null: none
    bool tiles = true;                                       // false: CPUs, whose libraries cut work finely
};

// `works_alone`: no other device of its node is at work.
DeviceRates device_rates(const Device&, const Framework&, const Plan&, bool works_alone = false);

// Multipliers of a what-if.
struct ComputeScale {
    double compute = 1, memory = 1, overhead = 1;
};

// How many elements of a row the widest load of tensor units takes: 16 bytes. The scales of block-scaled
// types, though part of their size, lie apart.
std::int64_t elements_of_a_load(DataType);

// Fraction of the sustained rate that a batch of m x n x k products reaches: the best over the tile shapes that libraries carry.
//   tiles  T = batch ceil(m/tm) ceil(n/tn) S, waves ceil(T / multiprocessors), each wave costs a full tile of depth k/S + k0;
//   a tile of tm x tn reaches 1/(1 + c (1/tm + 1/tn)) of the unit, relative to the largest tile: operands per multiply-add
//   grow as tiles shrink. S splits k when there are too few tiles. (Model after NVIDIA, "Matrix Multiplication Background
//   User's Guide", sections on tile and wave quantization; k0 and c, by unit, docs/model/compute.md.)
double gemm_utilization(double batch, double m, double n, double k, const DeviceRates&, ComputeUnit);

// The measured time of a product [m x k] x [k x n], interpolated between measured m (linearly in log m, log t). None where this n, k and
// type were not measured, or m lies outside what was. A measurement takes precedence over the formula.
std::optional<Seconds> measured_gemm_time(const Kernel&, std::span<const GemmCurve>);

// For bytes that lie in no cache: 1/B^2 = 1/memory^2 + 1/loads^2 (docs/model/compute.md, "Bytes in flight"). `width`: how many times as
// many bytes are under way as for activations.
Bandwidth streaming_bandwidth(const DeviceRates&, const ComputeScale& = {}, double width = 1);

// The time of reading or writing this many bytes once.
Seconds streaming_time(Bytes, const DeviceRates&, const ComputeScale& = {}, double width = 1);

// Of passes over so much that each time they come to a byte they were at `touched` others since.
Seconds passing_time(Bytes moved, Bytes touched, const DeviceRates&, const ComputeScale& = {}, double width = 1);

Seconds kernel_time(const Kernel&, const DeviceRates&, const ComputeScale& = {});

}  // namespace sextant
