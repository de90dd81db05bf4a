// One rank of a stage, block by block, with data-parallel exchanges beside it. Internal to predict.
#pragma once

#include "model/predict/overlap.hpp"
#include "model/predict/state.hpp"

#include <functional>
#include <vector>

namespace sextant {

class StagePlay {
public:
    StagePlay(const Prepared::State&, std::size_t stage, std::span<const SegmentPrice>, Seconds each, const Resources&);

    [[nodiscard]] DataParallelPrice price(Seconds arrival);

private:
    [[nodiscard]] DataParallelPrice replicated(Seconds arrival) const;
    [[nodiscard]] DataParallelPrice sharded() const;
    using Block = ChunkBlocks::Block;
    using Pass = const OwnWork& (StagePlay::*)(const Block&) const;
    struct Passes {  // over a block
        OwnWork forward, backward, again_and_backward, weights;
    };
    struct Turn {  // of a block under ZeRO-3: its weights come, it works, its gradients go
        OwnWork work;
        Seconds gather, scatter;
    };

    [[nodiscard]] bool alone() const { return plan_.pp == 1; }
    [[nodiscard]] bool forwards_first() const;

    [[nodiscard]] OwnWork own(const PhasePrice&) const;
    [[nodiscard]] const OwnWork& forward(const Block& b) const { return passes_[static_cast<std::size_t>(b.block_template)].forward; }
    [[nodiscard]] const OwnWork& backward(const Block& b) const {
        const Passes& passes = passes_[static_cast<std::size_t>(b.block_template)];
        return b.runs_again(stage_) ? passes.again_and_backward : passes.backward;
    }
    [[nodiscard]] const OwnWork& weights(const Block& b) const { return passes_[static_cast<std::size_t>(b.block_template)].weights; }
    [[nodiscard]] OwnWork over(const ChunkBlocks&, int first, int count, Pass) const;
    [[nodiscard]] OwnWork over(const ChunkBlocks& chunk, Pass pass) const {
        return over(chunk, 0, static_cast<int>(chunk.blocks.size()), pass);
    }
    [[nodiscard]] OwnWork whole(Pass) const;

    void exchange(Overlap&, Collective, Bytes, int calls, const Group&, double stretch) const;
    [[nodiscard]] const CollectivePrice& price_of(Collective, Bytes, const Group&) const;
    void reduce(Overlap&, const Bucket&) const;
    void reduce_all(Overlap&, const ChunkBlocks&) const;
    void gather(Overlap&, double dense, double expert, double times) const;
    void backward_with_reduction(Overlap&, const ChunkBlocks&) const;
    [[nodiscard]] Seconds between_chunks(const ChunkBlocks&, Pass) const;
    void finish_step(Overlap&, bool reduced, Seconds through_servers) const;
    [[nodiscard]] std::vector<Seconds> gathers_of_step(Overlap&) const;
    void forward_behind_gathers(Overlap&, const ChunkBlocks&, std::vector<Seconds>::const_iterator& arrive, Seconds between) const;
    using MicroBatch = std::function<void(Overlap&, bool first, bool last)>;
    DataParallelPrice play(Overlap&, Seconds period, bool recurs, const MicroBatch&, const std::function<void(Overlap&)>& finish) const;
    [[nodiscard]] DataParallelPrice recurring(DataParallelPrice) const;
    [[nodiscard]] std::vector<Turn> turns() const;

    const Prepared::State& job_;
    const Plan& plan_;
    const Framework& framework_;
    const JobGroups& groups_;
    const StageBlocks& stage_;
    const std::vector<ChunkBlocks>& chunks_;
    Seconds each_;
    const Resources& r_;
    double slowdown_;
    std::vector<Passes> passes_;  // by template
    OwnWork ahead_, back_;        // of one micro-batch
    double beside_;               // how many times as long exchanges take beside those of other stages, all at once
    double stretch_ = 1;          // and those of every micro-batch, at any time
    // Most buckets are like the one before.
    struct Exchange {
        Collective what;
        Bytes size;
        const Group* group;
        CollectivePrice price;
    };
    mutable std::vector<Exchange> priced_;
};

}  // namespace sextant
