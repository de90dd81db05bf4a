// The exchanges inside a rank's blocks: handed to the thread that communicates, and waited for.
#pragma once

#include "backend/exec/communicator.hpp"
#include "backend/exec/exchange_loop.hpp"

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

private:
    void call(ExchangeKind, ParallelGroup, const Array& from, const Array& to);

    const TaskGraph& graph_;
    GraphRank rank_;
    ExchangeLoop& loop_;
    ComputeDevice& device_;
    Recorder& recorder_;
};

}  // namespace sextant
