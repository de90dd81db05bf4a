// What the blocks of a stage take of each micro-batch: whatever the order in which stages work, and whoever shares weights and states.
// Internal to predict.
#pragma once

#include "model/predict/overlap.hpp"
#include "model/predict/state.hpp"

#include <vector>

namespace sextant {

// Of every block template by itself, for each of the stages' unlike groups in turn; and sends from one stage to the next.
struct BlockPrices {
    std::vector<SegmentPrice> segments;
    std::vector<std::vector<Seconds>> sends;  // by stage, by template that a chunk ends with; none where there is one stage
};
std::vector<KernelTimes> kernel_times(const Prepared::State&, const Resources&);  // by template
BlockPrices price_blocks(const Prepared::State&, std::span<const KernelTimes>, const Resources&);

struct StageWork {
    // One block, as a stretch of work beside exchanges, and how long it takes alone.
    struct Passes {
        OwnWork forward, backward, again_and_backward, weights;
        Seconds ahead, back, again, weights_alone;
    };
    std::vector<Passes> passes;  // by template
    SegmentPrice all;            // the blocks of the stage together
    OwnWork ahead, back;         // the same as a stretch of work
    // ZeRO-3 and nothing else: what it adds, where it has been worked out.
    mutable std::optional<DataParallelPrice> sharded;
};
// `segments`: by template, for the groups of the stage.
StageWork stage_work(const Prepared::State&, std::size_t stage, std::span<const SegmentPrice> segments);

// Data-parallel exchanges of a stage whose ranks hold all of its weights.
struct DataExchange {
    Seconds fixed, rest;  // of one call; `rest` on links
    Bytes size;
    int calls = 0;
    friend bool operator==(const DataExchange&, const DataExchange&) = default;
};
struct StageExchanges {
    // Exchanges for these blocks of a chunk.
    struct Part {
        int first_block = 0, count = 0;
        std::array<DataExchange, 3> calls;
        int alike = 1;  // parts from this one on that have the same blocks and calls
    };
    struct Chunk {
        std::vector<Part> reductions;  // of gradients, in the order of backward
        std::vector<Part> gathers;     // of weights that were updated in shards, in the order of forward
    };
    std::vector<Chunk> chunks;
    std::array<DataExchange, 3> gather_all;  // of all weights at once
};
StageExchanges stage_exchanges(const Prepared::State&, std::size_t stage, const Resources&);

}  // namespace sextant
