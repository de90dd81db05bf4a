#include "model/predict/stage_play.hpp"

#include <algorithm>

namespace sextant {

StagePlay::StagePlay(const Prepared::State& job, std::size_t stage, const StageWork& work, Seconds each, const Resources& r)
    : job_(job),
      plan_(job.scenario.plan),
      framework_(job.scenario.framework),
      groups_(job.groups[stage]),
      stage_(job.stages[stage]),
      chunks_(job.chunks[stage]),
      work_(work),
      each_(each),
      r_(r),
      slowdown_(1 + (framework_.overlap_slowdown.value - 1) / r.overlap),
      beside_(job.groups.mates[stage].data) {}

OwnWork StagePlay::over(const ChunkBlocks& chunk, int first, int count, Pass pass) const {
    OwnWork sum;
    for (int i = first; i < first + count; ++i) sum += (this->*pass)(chunk.blocks[static_cast<std::size_t>(i)]);
    return sum;
}

// `period`: what a micro-batch takes with nothing beside it. `recurs`: whether the first may differ from those between, or the host be
// ahead. Micro-batches one after another: the first, the last, and those between, which soon all take the same.
DataParallelPrice StagePlay::play(Overlap& o, Seconds period, bool recurs, const MicroBatch& micro_batch,
                                  const std::function<void(Overlap&)>& finish) const {
    // What a background thread has put off grows and shifts from one to the next.
    const std::int64_t m = job_.micro_batches, between = o.puts_off() ? m - 1 : std::min<std::int64_t>(m - 1, recurs ? 3 : 1);
    const Seconds start = o.now;
    Overlap before = o;
    for (std::int64_t i = 0; i < between; ++i) {
        before = o;
        micro_batch(o, i == 0, false);
    }
    DataParallelPrice price;
    if (between > 1) price.steady = o.now - before.now - period;
    o.repeat(static_cast<double>(m - 1 - between), before, max(Seconds{}, work_.back.device() - work_.back.host));
    const Seconds exchanged = o.exchanged;
    micro_batch(o, m == 1, true);
    const Seconds last = o.now;
    finish(o);
    o.wait_for_exchanges();
    price.behind = o.now - last;
    price.at_end = o.exchanged - exchanged;
    price.exposed = o.waited;
    price.slowdown = o.slowed;
    price.launch = o.launch;
    price.hidden = max(Seconds{}, o.exchanged - (o.waited - o.idle));
    const double m_ = static_cast<double>(m);
    price.passing = last - start - m_ * (work_.ahead.device() + work_.back.device() + each_ + price.steady) - o.launch;
    return price;
}

// Where there are too few micro-batches to tell what each of them takes longer, it is their mean.
DataParallelPrice StagePlay::recurring(DataParallelPrice price) const {
    if (job_.micro_batches > 2) return price;
    price.steady = price.passing / static_cast<double>(job_.micro_batches);
    price.passing = {};
    return price;
}

template <class Play>
DataParallelPrice StagePlay::beside_other_stages(const Play& play) {
    const DataParallelPrice alone = play();
    if (!(beside_ > 1) || alone.at_end > Seconds{}) return alone;
    // They meet as often as the others go on.
    const double m = static_cast<double>(job_.micro_batches);
    const Seconds period = work_.ahead.device() + work_.back.device() + each_ + alone.steady;
    if (!(period > Seconds{})) return alone;
    stretch_ = 1 + (beside_ - 1) * (m - 1) / m * std::min(1.0, (alone.exposed + alone.hidden) / (m * period));
    return play();
}

DataParallelPrice StagePlay::replicated(const StageExchanges& exchanges, Seconds arrival) {
    return beside_other_stages([&] { return play_replicated(exchanges, arrival); });
}

DataParallelPrice StagePlay::sharded() {
    return beside_other_stages([&] { return play_sharded(); });
}

}  // namespace sextant
