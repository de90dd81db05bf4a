// What a micro-batch and a step cost on each pipeline stage. Internal to predict.
#pragma once

#include "model/predict/data_parallel_price.hpp"
#include "model/predict/pipeline.hpp"
#include "model/predict/pipeline_play.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace sextant {

// One micro-batch on one stage, and what the stage adds once a step except for the update.
struct StagePrice {
    const StageWork* work = nullptr;
    Seconds overhead;                     // of the framework, per micro-batch
    Seconds send_forward, send_backward;  // to the neighbours, per micro-batch
    bool sends_block = false;
    Seconds beside_sends;  // how much longer kernels take beside transfers, per micro-batch
    DataParallelPrice data;

    [[nodiscard]] const SegmentPrice& blocks() const { return work->all; }
    [[nodiscard]] Seconds forward() const { return work->forward.device(); }
    [[nodiscard]] Seconds backward() const { return work->backward.device(); }
    [[nodiscard]] Seconds sends() const { return sends_block ? send_forward + send_backward : Seconds{}; }
    [[nodiscard]] Seconds micro_batch() const { return forward() + backward() + overhead + sends() + beside_sends + data.steady; }
    [[nodiscard]] StageTimes times() const;
};

// Most stages of a deep pipeline are like the one before and cost the same. A price refers to the work of
// its stage, which the StageParts keep.
struct StagePrices {
    std::vector<StagePrice> kinds;
    std::vector<std::size_t> kind_of;  // by stage
    std::vector<StageTimes> times;     // by kind
    // Where the schedule is played: the kinds of chunks, and the kind of each chunk, by kind of stage and chunk.
    std::vector<ChunkTimes> chunk_kinds;
    std::vector<std::size_t> kind_of_chunk;

    [[nodiscard]] std::size_t size() const { return kind_of.size(); }
    [[nodiscard]] bool is_as_before(std::size_t stage) const { return stage > 0 && kind_of[stage] == kind_of[stage - 1]; }
    [[nodiscard]] const StagePrice& operator[](std::size_t stage) const { return kinds[kind_of[stage]]; }
    [[nodiscard]] PlayedPipeline played(std::span<Seconds> ends) const {
        return {chunk_kinds, kind_of_chunk, kind_of, kinds.front().sends_block, ends};
    }
    void clear();
};

// What stages are priced from. Those who price many plans keep the parts that several of them share.
struct StageParts {
    const SendTimes& sends;
    const std::vector<bool>& as_before;  // stages_as_before()
    std::function<const StageWork&(std::size_t stage)> work;
    std::function<const StageExchanges&(std::size_t stage)> exchanges;
    // Where what ZeRO-3 adds to a stage is kept once it is known, by the slowdown of StageContext. Without it nothing is kept.
    std::function<std::optional<DataParallelPrice>&(std::size_t stage, double slowdown)> sharded{};
};
// `into`: prices that are no longer needed, whose memory is reused.
void price_stages(const Prepared::State&, const StageParts&, const Resources&, StagePrices& into);
// Prices with parts of their own, for this plan alone.
struct OwnStagePrices : StagePrices {
    std::vector<std::optional<StageWork>> works;
};
OwnStagePrices price_stages(const Prepared::State&, const Resources&);

// By stage, whether it holds, exchanges and sends the same as the one before it. The ends of a pipeline are unlike the others, since
// they have only one neighbour.
std::vector<bool> stages_as_before(const Prepared::State&);

// Whether a stage goes on computing while it sends.
bool hides_sends(const Prepared::State&);

}  // namespace sextant
