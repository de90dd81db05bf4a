#include "model/predict/state.hpp"

#include "model/plan/framework_defaults.hpp"

#include <algorithm>
#include <array>
#include <deque>

namespace sextant {
namespace {

// What one rank of a stage does block by block, with exchanges beside it.
class StagePlay {
public:
    StagePlay(const Prepared::State& job, std::size_t stage, const std::vector<SegmentPrice>& segments, Seconds each, const Resources& r)
        : job_(job),
          plan_(job.scenario.plan),
          framework_(job.scenario.framework),
          groups_(job.groups[stage]),
          chunks_(job.chunks[stage]),
          segments_(segments),
          each_(each),
          r_(r),
          slowdown_(1 + (framework_.overlap_slowdown.value - 1) / r.overlap),
          shared_(shared()),
          ahead_(whole(&StagePlay::forward)),
          back_(plan_.forward_only ? OwnWork{} : whole(&StagePlay::backward)),
          beside_(job.groups.mates.empty() ? 1 : job.groups.mates[stage].data) {}

    [[nodiscard]] DataParallelPrice price(Seconds arrival);

private:
    [[nodiscard]] DataParallelPrice replicated(Seconds arrival) const;
    [[nodiscard]] DataParallelPrice sharded() const;
    using Block = ChunkBlocks::Block;
    using Pass = OwnWork (StagePlay::*)(const Block&) const;
    struct Turn {  // of a block under ZeRO-3: its weights come, it works, its gradients go
        OwnWork work;
        Seconds gather, scatter;
    };

    [[nodiscard]] bool alone() const { return plan_.pp == 1; }
    [[nodiscard]] bool forwards_first() const;

    [[nodiscard]] OwnWork own(const PhasePrice&) const;
    [[nodiscard]] std::array<Slowed, 3> shared() const;
    [[nodiscard]] OwnWork forward(const Block& b) const { return own(segments_[static_cast<std::size_t>(b.block_template)].forward); }
    [[nodiscard]] OwnWork backward(const Block&) const;
    [[nodiscard]] OwnWork weights(const Block&) const;
    [[nodiscard]] OwnWork over(const ChunkBlocks&, int first, int count, Pass) const;
    [[nodiscard]] OwnWork over(const ChunkBlocks& chunk, Pass pass) const {
        return over(chunk, 0, static_cast<int>(chunk.blocks.size()), pass);
    }
    [[nodiscard]] OwnWork whole(Pass) const;

    void exchange(Overlap&, Collective, Bytes, int calls, const Group&, double stretch) const;
    void reduce(Overlap&, const Bucket&) const;
    void reduce_all(Overlap&, const ChunkBlocks&) const;
    void gather(Overlap&, double dense, double expert, double times) const;
    void backward_with_reduction(Overlap&, const ChunkBlocks&) const;
    void between_chunks(Overlap&, const ChunkBlocks& next) const;
    [[nodiscard]] std::vector<Seconds> gathers_of_step(Overlap&) const;
    void forward_behind_gathers(Overlap&, const ChunkBlocks&, std::vector<Seconds>::const_iterator& arrive) const;
    template <class MicroBatch, class Finish>
    DataParallelPrice play(Overlap&, Seconds period, bool recurs, MicroBatch, Finish) const;
    [[nodiscard]] DataParallelPrice recurring(DataParallelPrice) const;
    [[nodiscard]] std::vector<Turn> turns() const;

    const Prepared::State& job_;
    const Plan& plan_;
    const Framework& framework_;
    const JobGroups& groups_;
    const std::vector<ChunkBlocks>& chunks_;
    const std::vector<SegmentPrice>& segments_;
    Seconds each_;
    const Resources& r_;
    double slowdown_;
    std::array<Slowed, 3> shared_;  // exchanges of tensor, context and expert groups beside those of data parallelism
    OwnWork ahead_, back_;          // of one micro-batch
    double beside_;                 // how many times as long exchanges take beside those of other stages, all at once
    double stretch_ = 1;            // and those of every micro-batch, at any time
};

// Of all exchanges of the stage together, how they share links with those of data parallelism.
std::array<Slowed, 3> StagePlay::shared() const {
    std::array<Slowed, 3> slowed;
    PhasePrice all;
    for (const SegmentPrice& s : segments_) {
        all += s.forward;
        all += s.backward;
    }
    for (std::size_t i = 0; i < slowed.size(); ++i)
        if (all.links(i) > Seconds{}) slowed[i] = side_by_side(groups_.beside_data[i], all.wire[i] / all.links(i), 1);
    return slowed;
}

OwnWork StagePlay::own(const PhasePrice& p) const {
    OwnWork work{p.device, p.exchanges(), alone() ? p.host : Seconds{}, {}, {}};
    for (std::size_t i = 0; i < shared_.size(); ++i) {
        work.longer += (shared_[i].one - 1) * p.flowing[i];
        work.holds_up += shared_[i].one * (1 - 1 / shared_[i].other) * p.links(i);
    }
    return work;
}

OwnWork StagePlay::backward(const Block& b) const {
    const SegmentPrice& s = segments_[static_cast<std::size_t>(b.block_template)];
    return b.recomputed ? own(s.backward) + own(s.recompute) : own(s.backward);
}

OwnWork StagePlay::weights(const Block& b) const { return own(segments_[static_cast<std::size_t>(b.block_template)].weights); }

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
    const CollectivePrice price = group_price(what, size, group, job_, r_);
    const Seconds rest = stretch * (time_alone(price, group) - price.fixed);
    o.exchange(price.fixed, rest, size, calls);
}

void StagePlay::reduce(Overlap& o, const Bucket& bucket) const {
    const auto over = [&](Collective what, double elements, const Group& group) {
        exchange(o, what, gradient_bytes(job_, elements), job_.bucket_rule.calls(elements, bucket.tensors), group, stretch_);
    };
    const bool shards = plan_.shards_states();
    over(shards ? Collective::reduce_scatter : Collective::all_reduce, bucket.dense, shards ? groups_.shard : groups_.data);
    over(shards ? Collective::reduce_scatter : Collective::all_reduce, bucket.expert, groups_.expert_data);
    if (shards) over(Collective::all_reduce, bucket.dense / plan_.shard_ranks(), groups_.replicas);
}

void StagePlay::gather(Overlap& o, double dense, double expert, double times) const {
    exchange(o, Collective::all_gather, weight_bytes(job_, dense), 1, groups_.shard, times);
    exchange(o, Collective::all_gather, weight_bytes(job_, expert), 1, groups_.expert_data, times);
}

// A bucket is reduced as soon as backward has made it, or all of them when it has ended.
void StagePlay::backward_with_reduction(Overlap& o, const ChunkBlocks& chunk) const {
    if (!overlaps_gradients(plan_, framework_)) {
        o.run(over(chunk, &StagePlay::backward));
        return reduce_all(o, chunk);
    }
    // A zero-bubble schedule has passed the gradient of the stage's input on before.
    const bool apart = plan_.schedule == Schedule::zero_bubble;
    if (apart) o.run(over(chunk, &StagePlay::backward) + -1.0 * over(chunk, &StagePlay::weights));
    const auto one = [&](const Bucket& bucket) {
        o.run(over(chunk, bucket.first_block, bucket.count, apart ? &StagePlay::weights : &StagePlay::backward));
        reduce(o, bucket);
    };
    if (!framework_.reduction_cycle) {
        std::ranges::for_each(chunk.buckets, one);
        return;
    }
    // What shares an exchange is decided while the step runs.
    for (int i = static_cast<int>(chunk.blocks.size()); i-- > 0;) {
        const BlockParameters& p = chunk.blocks[static_cast<std::size_t>(i)].parameters;
        one({i, 1, p.dense, p.expert, p.tensors});
    }
}

void StagePlay::reduce_all(Overlap& o, const ChunkBlocks& chunk) const {
    for (const Bucket& bucket : chunk.buckets) reduce(o, bucket);
    o.wait_for_exchanges();
}

// Weights that the step before updated arrive, from its start on, bucket by bucket or block by block, behind the first forward.
std::vector<Seconds> StagePlay::gathers_of_step(Overlap& o) const {
    std::vector<Seconds> arrive;
    for (const ChunkBlocks& chunk : chunks_) {
        const auto one = [&](double dense, double expert) {
            gather(o, dense, expert, beside_);
            arrive.push_back(o.done);
        };
        if (framework_.bucket)
            for (auto b = chunk.buckets.rbegin(); b != chunk.buckets.rend(); ++b) one(b->dense, b->expert);
        else
            for (const Block& b : chunk.blocks) one(b.parameters.dense, b.parameters.expert);
    }
    return arrive;
}

void StagePlay::forward_behind_gathers(Overlap& o, const ChunkBlocks& chunk, std::vector<Seconds>::const_iterator& arrive) const {
    const auto one = [&](int first, int count) {
        o.wait_until(*arrive++);
        o.run(over(chunk, first, count, &StagePlay::forward));
    };
    if (framework_.bucket)
        for (auto b = chunk.buckets.rbegin(); b != chunk.buckets.rend(); ++b) one(b->first_block, b->count);
    else
        for (int i = 0; i < static_cast<int>(chunk.blocks.size()); ++i) one(i, 1);
}

// Does the stage do all its forwards before its first backward?
bool StagePlay::forwards_first() const {
    const std::int64_t p = plan_.pp, v = plan_.vpp, warm_up = 2 * (p - 1) + (v - 1) * p;
    return plan_.schedule == Schedule::gpipe || (plan_.schedule == Schedule::interleaved && v > 1 && warm_up >= job_.micro_batches * v);
}

// `period`: what a micro-batch takes with nothing beside it. `recurs`: whether the first may differ from those between, or the host be
// ahead. Micro-batches one after another: the first, the last, and those between, which soon all take the same.
template <class MicroBatch, class Finish>
DataParallelPrice StagePlay::play(Overlap& o, Seconds period, bool recurs, MicroBatch micro_batch, Finish finish) const {
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

// What the steady pipeline does between the last backward of one chunk and that of the next: other micro-batches of the latter.
void StagePlay::between_chunks(Overlap& o, const ChunkBlocks& next) const {
    const double others = std::min<double>(plan_.pp, static_cast<double>(job_.micro_batches)) - 1;
    const Seconds time = others * over(next, &StagePlay::backward).device();
    o.done -= time;
}

DataParallelPrice StagePlay::replicated(Seconds arrival) const {
    const bool gathers = plan_.shards_states() && overlaps_gathers(plan_, framework_) && !plan_.forward_only;
    const bool every = reduces_every_micro_batch(plan_, framework_);
    const bool served = plan_.has_servers();
    std::optional<Overlap::Fusion> fusion;
    if (overlaps_gradients(plan_, framework_) && framework_.reduction_cycle && framework_.bucket)
        fusion = {framework_.reduction_cycle->value / r_.host, framework_.bucket->value};
    Seconds through_servers;
    if (served) {
        double parameters = 0;
        for (const ChunkBlocks& chunk : chunks_)
            for (const Block& b : chunk.blocks) parameters += b.parameters.dense + b.parameters.expert;
        through_servers = parameter_server_time(job_, gradient_bytes(job_, parameters), r_);
    }
    Overlap o(slowdown_, fusion);
    std::vector<Seconds> arrive;
    if (gathers) arrive = gathers_of_step(o);
    o.now = arrival;
    auto next = arrive.cbegin();
    Seconds first_forward;
    const bool apart = forwards_first();
    const auto micro_batch = [&](Overlap& at, bool first, bool last) {
        if (first && gathers) {
            at.run({{}, each_, {}, {}, {}});
            for (const ChunkBlocks& chunk : chunks_) forward_behind_gathers(at, chunk, next);
            first_forward = at.waited + at.slowed;
        } else if (first || !apart) {
            at.run({{}, each_, {}, {}, {}});
            at.run(ahead_);
        }
        if (first && apart) at.run(static_cast<double>(job_.micro_batches - 1) * (ahead_ + OwnWork{{}, each_, {}, {}, {}}));
        if (plan_.forward_only) return;
        // Pushing gradients to the servers may hide behind the backward that makes them.
        if (served && overlaps_gradients(plan_, framework_) && (every || last)) at.exchange(0.5 * through_servers, {}, {});
        if (served || (!every && !(last && overlaps_gradients(plan_, framework_)))) return at.run(back_);
        for (auto chunk = chunks_.rbegin(); chunk != chunks_.rend(); ++chunk) {
            if (chunk != chunks_.rbegin() && !every) between_chunks(at, *chunk);
            backward_with_reduction(at, *chunk);
        }
    };
    const Seconds period = (apart ? Seconds{} : ahead_.device() + each_) + back_.device();
    DataParallelPrice price = play(o, period, alone() || gathers || every || apart, micro_batch, [&](Overlap& at) {
        if (plan_.forward_only) return;
        if (served) return at.exchange((overlaps_gradients(plan_, framework_) ? 0.5 : 1.0) * through_servers, {}, {});
        if (!every && !overlaps_gradients(plan_, framework_))
            for (const ChunkBlocks& chunk : chunks_) reduce_all(at, chunk);
        if (!plan_.shards_states() || overlaps_gathers(plan_, framework_)) return;
        at.wait_for_exchanges();
        BlockParameters all;
        for (const ChunkBlocks& chunk : chunks_)
            for (const Block& b : chunk.blocks) all.dense += b.parameters.dense, all.expert += b.parameters.expert;
        gather(at, all.dense, all.expert, 1);
    });
    price.first_forward = first_forward;
    if (!every) return price;
    price.at_end = {};
    price = recurring(price);
    if (plan_.schedule == Schedule::zero_bubble) price.steady_weights = price.steady;
    return price;
}

// Of one micro-batch, in order. Neighbours are mostly alike.
std::vector<StagePlay::Turn> StagePlay::turns() const {
    std::vector<Turn> list;
    const Block* before = nullptr;
    for (const ChunkBlocks& chunk : chunks_)
        for (const Block& b : chunk.blocks) {
            const bool alike = before && before->block_template == b.block_template && before->parameters.dense == b.parameters.dense;
            Turn turn{forward(b), {}, {}};
            if (alike) {
                turn.gather = list.back().gather;
                turn.scatter = list.back().scatter;
            } else {
                const ShardedBlockPrice price = price_sharded_block(b.parameters, job_, groups_, r_);
                turn.gather = stretch_ * price.gather;
                turn.scatter = stretch_ * price.scatter;
            }
            list.push_back(turn);
            before = &b;
        }
    const std::size_t blocks = list.size();
    const bool apart = plan_.schedule == Schedule::zero_bubble;
    const auto go_back = [&](Pass pass, bool makes_gradients) {
        std::size_t ahead = blocks;
        for (auto chunk = chunks_.rbegin(); chunk != chunks_.rend(); ++chunk)
            for (auto b = chunk->blocks.rbegin(); b != chunk->blocks.rend(); ++b) {
                Turn back = list[--ahead];
                back.work = (this->*pass)(*b);
                if (apart && !makes_gradients) back.work += -1.0 * weights(*b);
                if (!framework_.reshards_after_forward) back.gather = {};
                if (!makes_gradients) back.scatter = {};
                list.push_back(back);
            }
    };
    if (!plan_.forward_only) go_back(&StagePlay::backward, !apart);
    if (apart) go_back(&StagePlay::weights, true);
    for (std::size_t i = 0; i < blocks; ++i) list[i].scatter = {};
    return list;
}

// ZeRO-3 / FSDP: weights are gathered `prefetch_blocks` blocks ahead of their use. When a block is done, its gradients are scattered, and
// then the next weights gathered that have room.
DataParallelPrice StagePlay::sharded() const {
    const std::vector<Turn> list = turns();
    const std::size_t blocks = list.size() / (plan_.forward_only ? 1 : plan_.schedule == Schedule::zero_bubble ? 3 : 2);
    const bool every = plan_.reduce_every_micro_batch.value_or(true);  // a sharded gradient has no room to wait in
    const bool overlaps = overlaps_gathers(plan_, framework_);
    const std::size_t ahead = overlaps ? 1 + static_cast<std::size_t>(framework_.prefetch_blocks) : 0;
    std::deque<Seconds> arrive;  // the weights that are asked for
    Seconds done;                // the exchanges, when a micro-batch ended
    Overlap o(slowdown_);
    const auto ask = [&](Overlap& at, const Turn& t) {
        if (t.gather > Seconds{}) at.exchange(t.gather, {}, {});
        arrive.push_back(t.gather > Seconds{} ? at.done : Seconds{});
    };
    std::array<Seconds, 3> passes{};  // of the micro-batch at hand: what forward, backward and the gradients of weights take
    const auto micro_batch = [&](Overlap& at, bool first, bool last) {
        for (Seconds& t : arrive) t += at.done - done;  // micro-batches that were not played
        passes = {};
        at.run({{}, each_, {}, {}, {}});
        for (std::size_t i = 0; i < list.size(); ++i) {
            const Seconds before = at.now;
            if (!overlaps || (first && i == 0))
                for (std::size_t a = 0; a < std::max<std::size_t>(1, ahead); ++a) ask(at, list[(i + a) % list.size()]);
            at.wait_until(arrive.front());
            arrive.pop_front();
            at.run(list[i].work);
            if (every || last) at.exchange(list[i].scatter, {}, {});
            if (!overlaps)
                at.wait_for_exchanges();
            else if (!last || i + ahead < list.size())
                ask(at, list[(i + ahead) % list.size()]);
            passes[i / blocks] += at.now - before - list[i].work.device();
        }
        done = at.done;
    };
    DataParallelPrice price = recurring(play(o, ahead_.device() + each_ + back_.device(), true, micro_batch, [](Overlap&) {}));
    price.at_end = {};
    const Seconds all = passes[0] + passes[1] + passes[2];
    if (all > Seconds{}) {
        price.steady_ahead = passes[0] / all * price.steady;
        price.steady_weights = passes[2] / all * price.steady;
    }
    for (std::size_t i = 0; i < std::min(blocks, std::max<std::size_t>(1, ahead)); ++i) {
        price.early_ahead += list[i].gather;
        if (!plan_.forward_only) price.early_back += list[blocks + i].gather;
    }
    price.early_ahead = std::min(price.early_ahead, 0.5 * price.steady);
    price.early_back = std::min(price.early_back, 0.5 * price.steady);
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

}  // namespace

DataParallelPrice price_data_parallel(const Prepared::State& job, std::size_t stage, const std::vector<SegmentPrice>& segments,
                                      Seconds arrival, Seconds each, const Resources& r) {
    const Plan& plan = job.scenario.plan;
    DataParallelPrice price = StagePlay(job, stage, segments, each, r).price(arrival);
    if (plan.offload != Offload::none && !plan.forward_only) price.offload = offloaded_update_time(job, stage, r);
    return price;
}

}  // namespace sextant
