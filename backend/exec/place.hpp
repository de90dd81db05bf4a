// Where a rank's part of a tensor lies in the whole tensor, which the serial network has.
#pragma once

#include "model/workload/operator.hpp"

#include <cstdint>

namespace sextant {

// This rank in its tensor-parallel group.
struct TensorCut {
    int rank = 0, ranks = 1;
};

// This rank in its context-parallel group. Each rank has one slice of every sequence. Where attention is causal, the sequence is cut into
// 2 x ranks slices, and rank r has the r-th from the front and the r-th from the back, so that all ranks see as many keys.
struct ContextCut {
    int rank = 0, ranks = 1;
    bool balanced = false;

    [[nodiscard]] constexpr int slices() const { return balanced && ranks > 1 ? 2 : 1; }  // here
    // The number in the whole sequence of the slice with this number on this rank.
    [[nodiscard]] constexpr int slice(int number) const { return number == 0 ? rank : 2 * ranks - 1 - rank; }
    // Where position i of the `here` positions on this rank stands in the whole sequence.
    [[nodiscard]] constexpr std::int64_t position(std::int64_t i, std::int64_t here) const {
        const std::int64_t length = here / slices();
        return slice(static_cast<int>(i / length)) * length + i % length;
    }
};

// `among`: this rank in the group over which the experts are divided; rank r has the r-th part. `inside`: in the tensor group of its
// experts.
struct ExpertCut {
    TensorCut among{}, inside{};
};

// Which part of a block this rank has.
struct BlockCut {
    TensorCut tensor{};
    ContextCut context{};
    ExpertCut experts{};
};

// Element i of the part is element of(i) of the whole.
struct Place {
    // In the tensor that the ranks of this one's tensor group have together:
    std::int64_t run = 1;         // so many elements lie together,
    std::int64_t stride = 1;      // and so far apart do two such runs begin;
    std::int64_t offset = 0;      // the first of them here
    std::int64_t per_sample = 1;  // elements of one sample in the whole
    ContextCut context{};         // which part of every sequence that tensor is,
    std::int64_t sequence = 1;    // of so many elements

    [[nodiscard]] constexpr std::int64_t of(std::int64_t i) const {
        const std::int64_t e = in_group(i);
        return context.ranks == 1 ? e : e / sequence * sequence * context.ranks + context.position(e % sequence, sequence);
    }
    // How many elements, from i on, lie together in the whole.
    [[nodiscard]] constexpr std::int64_t together(std::int64_t i) const {
        const std::int64_t of_run = run - i % run;
        if (context.ranks == 1) return of_run;
        const std::int64_t slice = sequence / context.slices(), of_slice = slice - in_group(i) % slice;
        return of_run < of_slice ? of_run : of_slice;
    }

private:
    [[nodiscard]] constexpr std::int64_t in_group(std::int64_t i) const { return i / run * stride + offset + i % run; }
};

// Where this rank's piece begins when `whole` is cut into pieces of `part`. With fewer pieces than ranks, several ranks have the same one
// (key-value heads).
std::int64_t part_offset(std::int64_t part, std::int64_t whole, TensorCut);

// The two shapes tell how a tensor is cut over the tensor group: by channels or features (second extent), by rows of the residual stream
// (first of two extents), or by heads within a sample (first of three). A context group cuts the first of two extents, or the second of
// three, which are the queries.
Place place_of(const Tensor& part, const Tensor& whole, const BlockCut&, std::int64_t samples);

}  // namespace sextant
