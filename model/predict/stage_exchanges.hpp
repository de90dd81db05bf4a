// What the ranks of a stage exchange of their weights and gradients in one step, call by call. Internal to predict.
#pragma once

#include "model/predict/state.hpp"

#include <array>
#include <vector>

namespace sextant {

// ZeRO-3 / FSDP: the host time that the framework spends on the pieces of one call, a tensor for each rank of the group.
Seconds pieces_time(const Group&, const Prepared::State&);
// ZeRO-3 / FSDP: gathering the weights of one block once, and scattering its gradients once (summed over the replicas of the shard).
struct ShardedBlockPrice {
    Seconds gather, scatter;
};
ShardedBlockPrice price_sharded_block(const BlockParameters&, const Prepared::State&, const JobGroups&, const Resources&);

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
// Of some blocks, in each group that they are exchanged over.
using DataExchangePrices = std::array<DataExchangePrice, 3>;

struct StageExchanges {
    // Where every rank holds a shard of the weights: by block, in the order of forward.
    std::vector<ShardedBlockPrice> of_blocks;

    // Where every rank holds all of them: the exchanges for some blocks of a chunk.
    struct Part {
        int first_block = 0, count = 0;
        DataExchangePrices calls;
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
    DataExchangePrices gather_all;  // of all weights at once, or from parameter servers that have updated them
    DataExchangePrice gathers;      // the gathers of all chunks, one after another

    [[nodiscard]] Seconds time() const;  // of all weights and all gradients, each once
};
StageExchanges stage_exchanges(const Prepared::State&, std::size_t stage, const Resources&);

}  // namespace sextant
