// A rank without others, for tests of blocks that nothing cuts.
#pragma once

#include "backend/exec/communicator.hpp"

namespace sextant {

// Alone in every group. A block of a network that nothing cuts has no exchange, so there is nothing to do.
class SingleRank final : public RankCommunicator {
public:
    [[nodiscard]] int ranks(ParallelGroup) const override { return 1; }
    void all_reduce(ParallelGroup, const Array&) override {}
    void all_gather(ParallelGroup, const Array&, const Array&) override {}
    void reduce_scatter(ParallelGroup, const Array&, const Array&) override {}
    void exchange_rows(ExchangeKind, ParallelGroup, std::span<const Rows>, std::span<const Rows>) override {}
    std::vector<std::int64_t> gather_counts(ParallelGroup, std::span<const std::int64_t> mine) override {
        return {mine.begin(), mine.end()};
    }
    void sum_counts(ParallelGroup, std::span<std::int64_t>) override {}
};

}  // namespace sextant
