// Carries out the exchanges inside a rank's blocks: hands each to the thread that communicates, and waits for it.
#pragma once

#include "backend/exec/communicator.hpp"
#include "backend/exec/exchange_loop.hpp"

#include <optional>

namespace sextant {

class BlockExchanges final : public RankCommunicator {
public:
    BlockExchanges(const TaskGraph& graph, GraphRank rank, ExchangeLoop& loop, ComputeDevice& device, Recorder& recorder)
        : graph_(graph), rank_(rank), loop_(loop), device_(device), recorder_(recorder) {}

    [[nodiscard]] int ranks(ParallelGroup) const override;
    void all_reduce(ParallelGroup group, const Array& sum) override { call(ExchangeKind::all_reduce, group, sum, sum); }
    void all_gather(ParallelGroup group, const Array& part, const Array& whole) override {
        call(ExchangeKind::all_gather, group, part, whole);
    }
    void reduce_scatter(ParallelGroup group, const Array& whole, const Array& part) override {
        call(ExchangeKind::reduce_scatter, group, whole, part);
    }
    void exchange_rows(ExchangeKind, ParallelGroup, std::span<const Rows> from, std::span<const Rows> to) override;
    std::vector<std::int64_t> gather_counts(ParallelGroup, std::span<const std::int64_t> mine) override;
    void sum_counts(ParallelGroup, std::span<std::int64_t> counts) override;

private:
    void call(ExchangeKind, ParallelGroup, const Array& from, const Array& to);
    void call(const std::vector<Call>&);
    [[nodiscard]] std::optional<CommunicatorIndex> communicator_of(ParallelGroup) const;

    const TaskGraph& graph_;
    GraphRank rank_;
    ExchangeLoop& loop_;
    ComputeDevice& device_;
    Recorder& recorder_;
    std::optional<Seconds> begun_;  // when the counts of the next exchange were sent ahead of it
};

}  // namespace sextant
