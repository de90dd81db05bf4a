// What a micro-batch and a step cost on each pipeline stage. Internal to predict.
#pragma once

#include "model/predict/pipeline.hpp"
#include "model/predict/pipeline_play.hpp"
#include "model/predict/state.hpp"

#include <vector>

namespace sextant {

// One micro-batch on one stage, and what the stage adds once a step.
struct StagePrice {
    SegmentPrice blocks;            // all of them
    Seconds overhead, offload;      // per micro-batch
    Seconds send_ahead, send_back;  // to the neighbours, per micro-batch
    bool sends_block = false;
    Seconds beside_sends;  // what kernels take longer beside transfers, per micro-batch
    DataParallelPrice data;
    Seconds optimizer;
    std::vector<ChunkTimes> chunks;  // where the schedule is played

    [[nodiscard]] Seconds ahead() const { return blocks.forward.time(); }
    [[nodiscard]] Seconds back() const { return blocks.backward.time() + blocks.recompute.time(); }
    [[nodiscard]] Seconds sends() const { return sends_block ? send_ahead + send_back : Seconds{}; }
    [[nodiscard]] Seconds micro_batch() const { return ahead() + back() + overhead + offload + sends() + beside_sends + data.steady; }
    // `passes`: two, or one forward alone.
    [[nodiscard]] StageTimes times(double passes) const;
};

// Of every block template by itself, for each of the stages' unlike groups in turn.
std::vector<SegmentPrice> price_segments(const Prepared::State&, const Resources&);

// Most stages of a deep pipeline are like the one before, and cost the same.
struct StagePrices {
    std::vector<StagePrice> unlike;
    std::vector<std::size_t> which;  // of these, by stage

    [[nodiscard]] std::size_t size() const { return which.size(); }
    [[nodiscard]] const StagePrice& operator[](std::size_t stage) const { return unlike[which[stage]]; }
};
StagePrices price_stages(const Prepared::State&, std::span<const SegmentPrice>, const Resources&);

// Does a stage go on computing while it sends?
bool hides_sends(const Prepared::State&);

}  // namespace sextant
