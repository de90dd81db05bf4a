// What data-parallel ranks exchange: gradients, and weights that are held or updated in shards. The closed form prices these lists, and
// lowering writes them down as work.
#pragma once

#include "model/plan/buckets.hpp"
#include "model/plan/gradient_fusion.hpp"
#include "model/workload/operator.hpp"

#include <array>

namespace sextant {

// `elements` of the whole buffer, in `calls` calls one after another. Kind none: nothing is exchanged.
struct DataExchange {
    ExchangeKind kind = ExchangeKind::none;
    ParallelGroup group = ParallelGroup::data;
    double elements = 0;
    int calls = 1;
};

// For dense parameters, for experts over the ranks that hold the same ones, and for a shard over its replicas.
std::array<DataExchange, 3> gradient_exchanges(const Plan&, const Framework&, const BucketRule&, const Bucket& gradients);
std::array<DataExchange, 2> weight_gathers(const Plan&, const Framework&, const Bucket& weights);

// Whether each block's exchange is its own, rather than one for all blocks of a bucket.
bool reduces_by_block(const Plan&, const Framework&);
bool gathers_by_block(const Framework&);

}  // namespace sextant
