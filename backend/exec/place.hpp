// Where a rank's part of a tensor lies in the whole one, which the serial network has.
#pragma once

#include "model/workload/operator.hpp"

#include <cstdint>

namespace sextant {

// This rank in its tensor-parallel group.
struct TensorCut {
    int rank = 0, ranks = 1;
};

// Element i of the part is element `of(i)` of the whole.
struct Place {
    std::int64_t run = 1;         // so many elements lie together,
    std::int64_t stride = 1;      // and so far apart in the whole do two such runs begin;
    std::int64_t offset = 0;      // the first of them here
    std::int64_t per_sample = 1;  // elements of one sample in the whole

    [[nodiscard]] constexpr std::int64_t of(std::int64_t i) const { return i / run * stride + offset + i % run; }
};

// The part that begins where this rank's share does, when `whole` is cut into pieces of `part`. With fewer pieces than ranks, several
// ranks have the same one (key-value heads).
std::int64_t part_offset(std::int64_t part, std::int64_t whole, TensorCut);

// Which of the ways a tensor can be cut follows from the two shapes: by channels or features (second extent), by rows of the residual
// stream (first of two), by heads within a sample (first of three).
Place place_of(const Tensor& part, const Tensor& whole, TensorCut, std::int64_t samples);

}  // namespace sextant
