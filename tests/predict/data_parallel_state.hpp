// Ten layers whose weights four ranks have, and what data parallelism adds to a step of them.
#pragma once

#include "model/predict/data_parallel_price.hpp"
#include "model/predict/stage_price.hpp"
#include "model/predict/update.hpp"
#include "tests/predict/hand_made_state.hpp"

namespace sextant {

inline Group four_ranks() {
    Group g;
    g.ranks = 4;
    g.ring = g.all_to_all = 100 * units::GB / units::s;
    return g;
}

// 1e9 parameters in BF16 over four ranks of one node: 2 GB of gradients, 2 GB of weights.
inline Prepared::State replicated(DataParallel how = DataParallel::all_reduce) {
    Prepared::State job = ten_layers();
    job.scenario.plan.dp = 4;
    job.scenario.plan.data_parallel = how;
    JobGroups& groups = job.groups.kinds.front();
    groups[ParallelGroup::data] = groups[ParallelGroup::shard] = four_ranks();
    return job;
}

struct PriceMs {
    double exposed, hidden, slowdown, offload;
};
// Beside ten blocks that take so long together.
inline PriceMs price_ms(Prepared::State job, Seconds forward, Seconds backward) {
    deal_out_blocks(job);
    SegmentPrice block;
    block.forward.device = forward / 10;
    block.backward.device = backward / 10;
    const StageWork work = stage_work(job, 0, std::vector{block});
    const StageExchanges exchanges = stage_exchanges(job, 0, {});
    const DataParallelPrice p = price_data_parallel(job, 0, work, exchanges, {}, {});
    return {p.exposed / units::ms, p.hidden / units::ms, p.slowdown / units::ms, update_time(job, 0, {}).host / units::ms};
}

}  // namespace sextant
