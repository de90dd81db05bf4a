// One rank of a stage, block by block, with data-parallel exchanges beside it. Internal to predict.
#pragma once

#include "model/predict/overlap.hpp"
#include "model/predict/state.hpp"

#include <array>
#include <functional>
#include <vector>

namespace sextant {

class StagePlay {
public:
    StagePlay(const Prepared::State& job, std::size_t stage, const std::vector<SegmentPrice>& segments, Seconds each, const Resources& r)
        : job_(job),
          plan_(job.scenario.plan),
          framework_(job.scenario.framework),
          groups_(job.groups[stage]),
          chunks_(job.chunks[stage]),
          segments_(segments),
          each_(each),
          r_(r),
          slowdown_(1 + (framework_.overlap_slowdown.value - 1) / r.overlap),
          shared_(shared()),
          ahead_(whole(&StagePlay::forward)),
          back_(plan_.forward_only ? OwnWork{} : whole(&StagePlay::backward)),
          beside_(job.groups.mates[stage].data) {}

    [[nodiscard]] DataParallelPrice price(Seconds arrival);

private:
    [[nodiscard]] DataParallelPrice replicated(Seconds arrival) const;
    [[nodiscard]] DataParallelPrice sharded() const;
    using Block = ChunkBlocks::Block;
    using Pass = OwnWork (StagePlay::*)(const Block&) const;
    struct Turn {  // of a block under ZeRO-3: its weights come, it works, its gradients go
        OwnWork work;
        Seconds gather, scatter;
    };

    [[nodiscard]] bool alone() const { return plan_.pp == 1; }
    [[nodiscard]] bool forwards_first() const;

    [[nodiscard]] OwnWork own(const PhasePrice&) const;
    [[nodiscard]] std::array<Slowed, 3> shared() const;
    [[nodiscard]] OwnWork forward(const Block& b) const { return own(segments_[static_cast<std::size_t>(b.block_template)].forward); }
    [[nodiscard]] OwnWork backward(const Block&) const;
    [[nodiscard]] OwnWork weights(const Block&) const;
    [[nodiscard]] OwnWork over(const ChunkBlocks&, int first, int count, Pass) const;
    [[nodiscard]] OwnWork over(const ChunkBlocks& chunk, Pass pass) const {
        return over(chunk, 0, static_cast<int>(chunk.blocks.size()), pass);
    }
    [[nodiscard]] OwnWork whole(Pass) const;

    void exchange(Overlap&, Collective, Bytes, int calls, const Group&, double stretch) const;
    void reduce(Overlap&, const Bucket&) const;
    void reduce_all(Overlap&, const ChunkBlocks&) const;
    void gather(Overlap&, double dense, double expert, double times) const;
    void backward_with_reduction(Overlap&, const ChunkBlocks&) const;
    void between_chunks(Overlap&, const ChunkBlocks& next) const;
    [[nodiscard]] std::vector<Seconds> gathers_of_step(Overlap&) const;
    void forward_behind_gathers(Overlap&, const ChunkBlocks&, std::vector<Seconds>::const_iterator& arrive) const;
    using MicroBatch = std::function<void(Overlap&, bool first, bool last)>;
    DataParallelPrice play(Overlap&, Seconds period, bool recurs, const MicroBatch&, const std::function<void(Overlap&)>& finish) const;
    [[nodiscard]] DataParallelPrice recurring(DataParallelPrice) const;
    [[nodiscard]] std::vector<Turn> turns() const;

    const Prepared::State& job_;
    const Plan& plan_;
    const Framework& framework_;
    const JobGroups& groups_;
    const std::vector<ChunkBlocks>& chunks_;
    const std::vector<SegmentPrice>& segments_;
    Seconds each_;
    const Resources& r_;
    double slowdown_;
    std::array<Slowed, 3> shared_;  // exchanges of tensor, context and expert groups beside those of data parallelism
    OwnWork ahead_, back_;          // of one micro-batch
    double beside_;                 // how many times as long exchanges take beside those of other stages, all at once
    double stretch_ = 1;            // and those of every micro-batch, at any time
};

}  // namespace sextant
