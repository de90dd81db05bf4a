// What a block exchanges with the ranks that hold the other parts of it.
#pragma once

#include "backend/exec/array.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace sextant {

// Every rank of a group makes the same calls in the same order. Arrays are of reals, of any precision. Ranks have their parts in order.
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

    // Rows of experts, whose numbers differ from rank to rank. `rows`: of each array, the ranks' parts one behind another, in rows.
    struct Rows {
        Array array;
        std::span<const std::int64_t> of_ranks;  // empty: this rank's alone
    };
    // One exchange of several arrays: all_to_all, all_gather (`from` alone here, `to` of all ranks), reduce_scatter (the other way).
    virtual void exchange_rows(ExchangeKind, ParallelGroup, std::span<const Rows> from, std::span<const Rows> to) = 0;
    // The numbers of all ranks, one rank's behind the other's. They go before the rows, as a part of the exchange that follows.
    virtual std::vector<std::int64_t> gather_counts(ParallelGroup, std::span<const std::int64_t> mine) = 0;
    // What the ranks counted together, in place. No exchange follows: its time shows in no span.
    virtual void sum_counts(ParallelGroup, std::span<std::int64_t> counts) = 0;
};

}  // namespace sextant
