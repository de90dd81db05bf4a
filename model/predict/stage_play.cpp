#include "model/predict/stage_play.hpp"

#include <algorithm>

namespace sextant {

StagePlay::StagePlay(const Prepared::State& job, std::size_t stage, std::span<const SegmentPrice> segments, Seconds each,
                     const Resources& r)
    : job_(job),
      plan_(job.scenario.plan),
      framework_(job.scenario.framework),
      groups_(job.groups[stage]),
      stage_(job.stages[stage]),
      chunks_(job.chunks[stage]),
      each_(each),
      r_(r),
      slowdown_(1 + (framework_.overlap_slowdown.value - 1) / r.overlap),
      beside_(job.groups.mates[stage].data) {
    passes_.reserve(segments.size());
    for (std::size_t t = 0; t < segments.size(); ++t) {
        const SegmentPrice& s = segments[t];
        Passes& passes = passes_.emplace_back();
        if (job.stages[stage].count[t] == 0) continue;
        passes = {own(s.forward), own(s.backward), own(s.backward) + own(s.recompute), own(s.weights)};
    }
    ahead_ = whole(&StagePlay::forward);
    if (!plan_.forward_only) back_ = whole(&StagePlay::backward);
}

OwnWork StagePlay::own(const PhasePrice& p) const {
    OwnWork work{p.device, p.exchanges(), alone() ? p.host : Seconds{}, {}, {}};
    for (std::size_t i = 0; i < groups_.beside_data.size(); ++i) {
        const Slowed& slowed = groups_.beside_data[i];
        work.longer += (slowed.one - 1) * p.flowing[i];
        work.holds_up += slowed.one * (1 - 1 / slowed.other) * p.links(i);
    }
    return work;
}

OwnWork StagePlay::over(const ChunkBlocks& chunk, int first, int count, Pass pass) const {
    OwnWork sum;
    for (int i = first; i < first + count; ++i) sum += (this->*pass)(chunk.blocks[static_cast<std::size_t>(i)]);
    return sum;
}

OwnWork StagePlay::whole(Pass pass) const {
    OwnWork sum;
    for (const ChunkBlocks& c : chunks_) sum += over(c, pass);
    return sum;
}

void StagePlay::exchange(Overlap& o, Collective what, Bytes bytes, int calls, const Group& group, double stretch) const {
    if (group.ranks < 2 || !(bytes > Bytes{})) return;
    const Bytes size = bytes / calls;
    const CollectivePrice& price = price_of(what, size, group);
    const Seconds rest = stretch * (time_alone(price, group) - price.fixed);
    o.exchange(price.fixed, rest, size, calls);
}

const CollectivePrice& StagePlay::price_of(Collective what, Bytes size, const Group& group) const {
    for (const Exchange& e : priced_)
        if (e.what == what && e.size == size && e.group == &group) return e.price;
    return priced_.emplace_back(what, size, &group, group_price(what, size, group, job_, r_)).price;
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
    o.repeat(static_cast<double>(m - 1 - between), before, max(Seconds{}, back_.device() - back_.host));
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
    price.passing = last - start - m_ * (ahead_.device() + back_.device() + each_ + price.steady) - o.launch;
    return price;
}

// Where there are too few micro-batches to tell what each of them takes longer, it is their mean.
DataParallelPrice StagePlay::recurring(DataParallelPrice price) const {
    if (job_.micro_batches > 2) return price;
    price.steady = price.passing / static_cast<double>(job_.micro_batches);
    price.passing = {};
    return price;
}

DataParallelPrice StagePlay::price(Seconds arrival) {
    const auto play = [&] { return plan_.shards_parameters() ? sharded() : replicated(arrival); };
    const DataParallelPrice alone = play();
    if (!(beside_ > 1) || alone.at_end > Seconds{}) return alone;
    // Exchanges of every micro-batch meet those of other stages as often as these go on.
    const double m = static_cast<double>(job_.micro_batches);
    const Seconds period = ahead_.device() + back_.device() + each_ + alone.steady;
    if (!(period > Seconds{})) return alone;
    stretch_ = 1 + (beside_ - 1) * (m - 1) / m * std::min(1.0, (alone.exposed + alone.hidden) / (m * period));
    return play();
}

DataParallelPrice price_data_parallel(const Prepared::State& job, std::size_t stage, std::span<const SegmentPrice> segments,
                                      Seconds arrival, Seconds each, const Resources& r) {
    const Plan& plan = job.scenario.plan;
    DataParallelPrice price = StagePlay(job, stage, segments, each, r).price(arrival);
    if (plan.offload != Offload::none && !plan.forward_only) price.offload = offloaded_update_time(job, stage, r);
    return price;
}

}  // namespace sextant
