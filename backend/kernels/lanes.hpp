// What an accelerator computes, element by element and row by row, as functions that a host compiler understands too: so the arithmetic
// is tested where there is no accelerator.
//
// A function of a row is worked on by several lanes at once: threads of a block there, one lane or some simulated ones here. Lane l of n
// takes the elements l, l + n, l + 2 n ...; sum() and max() give all lanes the same result, and all must come to them.
#pragma once

#ifdef __CUDACC__
#define SEXTANT_KERNEL __host__ __device__
#else
#define SEXTANT_KERNEL
#endif

#include <cmath>
#include <cstdint>

namespace sextant::kernels {

constexpr float lowest = -3.4028234e38F;  // of all floats: where the search for the largest begins

struct OneLane {
    [[nodiscard]] static SEXTANT_KERNEL std::int64_t first() { return 0; }
    [[nodiscard]] static SEXTANT_KERNEL std::int64_t step() { return 1; }
    template <class Value>
    SEXTANT_KERNEL Value sum(Value mine) const {
        return mine;
    }
    template <class Value>
    SEXTANT_KERNEL Value max(Value mine) const {
        return mine;
    }
};

// What a device offers to the code beside this file, as `Machine`:
//   elements(count, f)               f(i) for each i below count
//   matrix(rows, columns, f)         f(row, column) for each
//   rows(count, width, f)            f(lanes, row) for each row below count; a row has about `width` elements
//   multiply(product)                see product.hpp
//   clear(to, count)                 zeros
//   copy(from, to, count)
//   scratch(count, element)          an Array, until it is released; of fp32 where no element is said
// all in the order in which they are called for. Functions are values that can be copied to the device.

}  // namespace sextant::kernels
