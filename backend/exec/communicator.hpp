// The exchanges of a block with the ranks that hold its other parts.
#pragma once

#include "backend/exec/array.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace sextant {

// Every rank of a group makes the same calls in the same order. Arrays hold real numbers of any precision. Rank r of a group has the r-th
// part.
class RankCommunicator {
public:
    RankCommunicator() = default;
    RankCommunicator(const RankCommunicator&) = delete;
    RankCommunicator& operator=(const RankCommunicator&) = delete;
    virtual ~RankCommunicator() = default;

    [[nodiscard]] virtual int ranks(ParallelGroup) const = 0;
    virtual void all_reduce(ParallelGroup, const Array& sum) = 0;  // in place
    virtual void all_gather(ParallelGroup, const Array& part, const Array& whole) = 0;
    virtual void reduce_scatter(ParallelGroup, const Array& whole, const Array& part) = 0;

    // Rows of experts. The number of rows differs from rank to rank; the parts of the ranks lie one behind another.
    struct Rows {
        Array array;
        std::span<const std::int64_t> of_ranks;  // rows of each rank's part; empty: the array is this rank's part alone
    };
    // Exchanges several arrays at once: all_to_all, all_gather (`from` is this rank's part, `to` the whole) or reduce_scatter (the other
    // way round).
    virtual void exchange_rows(ExchangeKind, ParallelGroup, std::span<const Rows> from, std::span<const Rows> to) = 0;
    // Gathers the counts of all ranks, in the order of ranks. A trace shows it as a part of the exchange of rows that follows.
    virtual std::vector<std::int64_t> gather_counts(ParallelGroup, std::span<const std::int64_t> mine) = 0;
    // Sums the counts over the ranks, in place. No trace shows it.
    virtual void sum_counts(ParallelGroup, std::span<std::int64_t> counts) = 0;
};

}  // namespace sextant
