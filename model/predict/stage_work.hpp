// What the blocks of a stage take for each micro-batch, whatever the order in which stages work and whoever shares weights and states.
// Internal to predict.
#pragma once

#include "model/predict/block_price.hpp"
#include "model/predict/data_parallel_price.hpp"
#include "model/predict/overlap.hpp"

#include <vector>

namespace sextant {

// By template: each block by itself, in a stage with these groups.
std::vector<KernelTimes> kernel_times(const Prepared::State&, const Resources&);
std::vector<SegmentPrice> price_blocks(const Prepared::State&, std::span<const KernelTimes>, const JobGroups&, const Resources&);

// The time of a send from each stage to the next, by the block that the chunk ends with; and to the stage before, where chunks go back.
class SendTimes {
public:
    SendTimes() = default;  // of a single stage
    SendTimes(const Prepared::State&, const Resources&);
    [[nodiscard]] Seconds behind(std::size_t stage, bool to_previous, int block_template) const {
        return (to_previous ? to_previous_ : to_next_)[stage * templates_ + static_cast<std::size_t>(block_template)];
    }

private:
    std::size_t templates_ = 0;
    std::vector<Seconds> to_next_, to_previous_;  // by stage, by template
};

struct StageWork {
    // One block. Where all passes run gradients of weights apart, backward does not include them.
    struct Passes {
        OwnWork forward, checkpointed, backward, recompute_and_backward,
            weights;  // checkpointed: the first forward of a block that runs again
    };
    std::vector<Passes> passes;  // by template
    SegmentPrice all;            // the blocks of the stage together
    OwnWork forward, backward;   // the same as stretches of work
    OwnWork weights;             // the part of backward that may be run apart
    Seconds launch;              // of both passes, where hosts issue nothing ahead of what stages send each other
};
// `segments`: by template, priced for the groups of the stage.
StageWork stage_work(const Prepared::State&, std::size_t stage, std::span<const SegmentPrice> segments);

// A data-parallel exchange of a stage.
struct DataExchangePrice {
    Seconds fixed, rest;  // of one call: before it uses links, and on links
    Bytes size;
    int calls = 0;
    Seconds served{};  // what parameter servers then do with it
    friend bool operator==(const DataExchangePrice&, const DataExchangePrice&) = default;
    // `stretch`: how many times as long it takes on links.
    [[nodiscard]] Seconds time(double stretch) const { return calls * (fixed + stretch * rest); }
    // Merges another exchange into this one, as a single call.
    void add(const DataExchangePrice& e) {
        fixed += e.calls * e.fixed;
        rest += e.calls * e.rest;
        size += e.calls * e.size;
        calls = 1;
    }
};
struct StageExchanges {
    // Where every rank holds a shard of the weights: by block, in the order of forward.
    std::vector<ShardedBlockPrice> of_blocks;

    // Where every rank holds all of them: the exchanges for some blocks of a chunk.
    struct Part {
        int first_block = 0, count = 0;
        std::array<DataExchangePrice, 3> calls;
        double owned = 0;  // gradients that a rank owns
        int alike = 1;     // how many parts from this one on have the same blocks and calls
    };
    struct Chunk {
        std::vector<Part> reductions;  // of gradients, in the order of backward
        std::vector<Part> gathers;     // of weights that were updated in shards, in the order of forward
    };
    std::vector<Chunk> kinds;          // consecutive chunks that exchange the same are of one kind
    std::vector<std::size_t> kind_of;  // by chunk
    [[nodiscard]] const Chunk& operator[](std::size_t chunk) const { return kinds[kind_of[chunk]]; }
    std::array<DataExchangePrice, 3> gather_all;  // of all weights at once, or from parameter servers that have updated them
    DataExchangePrice gathers;                    // the gathers of all chunks, one after another

    [[nodiscard]] Seconds time() const;  // of all weights and all gradients, each once
};
StageExchanges stage_exchanges(const Prepared::State&, std::size_t stage, const Resources&);

}  // namespace sextant
