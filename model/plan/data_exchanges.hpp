// What data-parallel ranks exchange: gradients, and weights that are held or updated in shards. The closed form prices these lists, and
// lowering writes them down as work.
#pragma once

#include "model/plan/buckets.hpp"
#include "model/plan/gradient_fusion.hpp"
#include "model/workload/operator.hpp"

#include <array>

namespace sextant {

// `elements` of all ranks' buffer, in so many calls one after another; none: nothing is exchanged.
struct DataExchange {
    ExchangeKind kind = ExchangeKind::none;
    ParallelGroup group = ParallelGroup::data;
    double elements = 0;
    int calls = 1;
};

// Of dense parameters, of experts over the ranks that hold the same ones, and of a shard over its replicas.
std::array<DataExchange, 3> gradient_exchanges(const Plan&, const Framework&, const BucketRule&, const Bucket& gradients);
std::array<DataExchange, 2> weight_gathers(const Plan&, const Framework&, const Bucket& weights);

// Does each block's exchange stand alone, so that it can go its own way, or those of a bucket's blocks together?
bool reduces_by_block(const Plan&, const Framework&);
bool gathers_by_block(const Framework&);

}  // namespace sextant
