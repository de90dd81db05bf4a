// One rank of a stage, block by block, with data-parallel exchanges beside it. Internal to predict.
#pragma once

#include "model/predict/stage_work.hpp"

#include <functional>
#include <vector>

namespace sextant {

class StagePlay {
public:
    StagePlay(const Prepared::State&, std::size_t stage, const StageWork&, Seconds each, const Resources&);

    // Every rank holds all weights of its stage: `arrival` is when the first micro-batch comes. Or its part of them.
    [[nodiscard]] DataParallelPrice replicated(const StageExchanges&, Seconds arrival);
    [[nodiscard]] DataParallelPrice sharded();

private:
    using Block = ChunkBlocks::Block;
    using Pass = const OwnWork& (StagePlay::*)(const Block&) const;
    using Part = StageExchanges::Part;
    struct Turn {  // of a block under ZeRO-3: its weights come, it works, its gradients go
        OwnWork work;
        Seconds gather, scatter;
    };

    [[nodiscard]] bool alone() const { return plan_.pp == 1; }
    [[nodiscard]] bool forwards_first() const;

    [[nodiscard]] const StageWork::Passes& passes(const Block& b) const { return work_.passes[static_cast<std::size_t>(b.block_template)]; }
    [[nodiscard]] const OwnWork& forward(const Block& b) const { return passes(b).forward; }
    [[nodiscard]] const OwnWork& backward(const Block& b) const {
        return b.runs_again(stage_) ? passes(b).again_and_backward : passes(b).backward;
    }
    [[nodiscard]] const OwnWork& weights(const Block& b) const { return passes(b).weights; }
    [[nodiscard]] OwnWork over(const ChunkBlocks&, int first, int count, Pass) const;
    [[nodiscard]] OwnWork over(const ChunkBlocks& chunk, Pass pass) const {
        return over(chunk, 0, static_cast<int>(chunk.blocks.size()), pass);
    }

    void reduce_all(Overlap&, const StageExchanges::Chunk&) const;
    void backward_with_reduction(Overlap&, const ChunkBlocks&, const StageExchanges::Chunk&) const;
    [[nodiscard]] Seconds between_chunks(const ChunkBlocks&, Pass) const;
    void finish_step(Overlap&, const StageExchanges&, bool reduced, Seconds through_servers) const;
    [[nodiscard]] std::vector<Seconds> gathers_of_step(Overlap&, const StageExchanges&) const;

    [[nodiscard]] DataParallelPrice play_replicated(const StageExchanges&, Seconds arrival) const;
    [[nodiscard]] DataParallelPrice play_sharded() const;
    [[nodiscard]] std::vector<Turn> turns() const;
    // Again, where exchanges of every micro-batch meet those of other stages.
    template <class Play>
    DataParallelPrice beside_other_stages(const Play&);

    using MicroBatch = std::function<void(Overlap&, bool first, bool last)>;
    DataParallelPrice play(Overlap&, Seconds period, bool recurs, const MicroBatch&, const std::function<void(Overlap&)>& finish) const;
    [[nodiscard]] DataParallelPrice recurring(DataParallelPrice) const;

    const Prepared::State& job_;
    const Plan& plan_;
    const Framework& framework_;
    const JobGroups& groups_;
    const StageBlocks& stage_;
    const std::vector<ChunkBlocks>& chunks_;
    const StageWork& work_;
    Seconds each_;
    const Resources& r_;
    double slowdown_;
    double beside_;       // how many times as long exchanges take beside those of other stages, all at once
    double stretch_ = 1;  // and those of every micro-batch, at any time
};

}  // namespace sextant
