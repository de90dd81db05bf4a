#include "model/predict/stage_play.hpp"

#include <algorithm>

namespace sextant {

StagePlay::StagePlay(const Prepared::State& job, std::size_t stage, const StageWork& work, const StageContext& context, const Resources& r)
    : job_(job),
      plan_(job.scenario.plan),
      framework_(job.scenario.framework),
      groups_(job.groups[stage]),
      stage_(job.stages[stage]),
      chunks_(job.chunks[stage]),
      work_(work),
      context_(context),
      r_(r),
      slowdown_(job.overlap_slowdown(r)) {}

// Where there are too few micro-batches to tell how much longer each of them takes, each gets the mean.
DataParallelPrice StagePlay::recurring(DataParallelPrice price) const {
    if (job_.micro_batches > 2) return price;
    price.steady = price.passing / static_cast<double>(job_.micro_batches);
    price.passing = {};
    return price;
}

DataParallelPrice StagePlay::price(const StageExchanges& exchanges) {
    const auto play = [&] { return plan_.shards_parameters() ? play_sharded(exchanges) : play_replicated(exchanges); };
    const DataParallelPrice alone = play();
    if (!(context_.slowdown > 1) || alone.at_end > Seconds{}) return alone;
    // They meet those of other stages for the fraction of the time in which the others go on, except for one micro-batch that passes alone.
    const double m = static_cast<double>(job_.micro_batches);
    const Seconds period = work_.forward.device() + work_.backward.device() + context_.overhead + alone.steady;
    if (!(period > Seconds{})) return alone;
    stretch_ = 1 + (context_.slowdown - 1) * (m - 1) / m * std::min(1.0, (alone.exposed + alone.hidden) / (m * period));
    DataParallelPrice price = play();
    price.met = price.on_its_way() - alone.on_its_way();
    const Seconds longer = price.exposed + price.hidden - alone.exposed - alone.hidden;
    if (stretch_ > 1) price.on_links = context_.slowdown / m * longer / (stretch_ - 1);
    return price;
}

DataParallelPrice price_data_parallel(const Prepared::State& job, std::size_t stage, const StageWork& work, const StageExchanges& exchanges,
                                      const StageContext& context, const Resources& r) {
    return StagePlay(job, stage, work, context, r).price(exchanges);
}

}  // namespace sextant
