// What the blocks of a stage take of each micro-batch: whatever the order in which stages work, and whoever shares weights and states.
// Internal to predict.
#pragma once

#include "model/predict/block_price.hpp"
#include "model/predict/data_parallel_price.hpp"
#include "model/predict/overlap.hpp"

#include <vector>

namespace sextant {

// By template: each block by itself, in a stage that has these groups.
std::vector<KernelTimes> kernel_times(const Prepared::State&, const Resources&);
std::vector<SegmentPrice> price_blocks(const Prepared::State&, std::span<const KernelTimes>, const JobGroups&, const Resources&);

// From each stage to the next one, behind the block that a chunk ends with; and to the one before, where chunks go back.
class SendTimes {
public:
    SendTimes() = default;  // where there is one stage
    SendTimes(const Prepared::State&, const Resources&);
    [[nodiscard]] Seconds behind(std::size_t stage, bool to_previous, int block_template) const {
        return (to_previous ? to_previous_ : to_next_)[stage * templates_ + static_cast<std::size_t>(block_template)];
    }

private:
    std::size_t templates_ = 0;
    std::vector<Seconds> to_next_, to_previous_;  // by stage, by template
};

struct StageWork {
    // One block. Where gradients of weights come apart in all passes, they are not in backward.
    struct Passes {
        OwnWork forward, checkpointed, backward, recompute_and_backward, weights;  // checkpointed: forward of what runs again
    };
    std::vector<Passes> passes;  // by template
    SegmentPrice all;            // the blocks of the stage together
    OwnWork forward, backward;   // all of it, as stretches of work
    OwnWork weights;             // of backward, what may come apart
    Seconds launch;              // of both, where hosts issue nothing ahead of what stages send each other
};
// `segments`: by template, for the groups of the stage.
StageWork stage_work(const Prepared::State&, std::size_t stage, std::span<const SegmentPrice> segments);

// A data-parallel exchange of a stage.
struct DataExchangePrice {
    Seconds fixed, rest;  // of one call; `rest` on links
    Bytes size;
    int calls = 0;
    Seconds served{};  // what parameter servers then do with it
    friend bool operator==(const DataExchangePrice&, const DataExchangePrice&) = default;
    [[nodiscard]] Seconds time(double stretch) const { return calls * (fixed + stretch * rest); }  // that many times as long on links
    // These too, as one call.
    void add(const DataExchangePrice& e) {
        fixed += e.calls * e.fixed;
        rest += e.calls * e.rest;
        size += e.calls * e.size;
        calls = 1;
    }
};
struct StageExchanges {
    // Where every rank holds a part of the weights: by block, in the order of forward.
    std::vector<ShardedBlockPrice> of_blocks;

    // Where it holds all of them: exchanges for these blocks of a chunk.
    struct Part {
        int first_block = 0, count = 0;
        std::array<DataExchangePrice, 3> calls;
        double owned = 0;  // of gradients, by a rank
        int alike = 1;     // parts from this one on that have the same blocks and calls
    };
    struct Chunk {
        std::vector<Part> reductions;  // of gradients, in the order of backward
        std::vector<Part> gathers;     // of weights that were updated in shards, in the order of forward
    };
    std::vector<Chunk> unlike;       // a chunk like the one before it exchanges the same
    std::vector<std::size_t> which;  // of these, by chunk
    [[nodiscard]] const Chunk& operator[](std::size_t chunk) const { return unlike[which[chunk]]; }
    std::array<DataExchangePrice, 3> gather_all;  // of all weights at once, or from parameter servers that have updated them
    DataExchangePrice gathers;                    // those of all chunks, one after another

    [[nodiscard]] Seconds time() const;  // of weights and gradients, each once
};
StageExchanges stage_exchanges(const Prepared::State&, std::size_t stage, const Resources&);

}  // namespace sextant
