// What a block exchanges with the ranks that hold the other parts of it.
#pragma once

#include "backend/exec/array.hpp"

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
};

// Alone in every group. A block of a network that nothing cuts has no exchange, so there is nothing to do.
class SingleRank final : public RankCommunicator {
public:
    [[nodiscard]] int ranks(ParallelGroup) const override { return 1; }
    void all_reduce(ParallelGroup, const Array&) override {}
    void all_gather(ParallelGroup, const Array&, const Array&) override {}
    void reduce_scatter(ParallelGroup, const Array&, const Array&) override {}
};

}  // namespace sextant
