// Every rank holds all weights of its stage: DDP, ZeRO-1 and 2, parameter servers.
#include "model/predict/stage_play.hpp"

#include "model/plan/framework_defaults.hpp"

#include <algorithm>

namespace sextant {

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

void StagePlay::forward_behind_gathers(Overlap& o, const ChunkBlocks& chunk, std::vector<Seconds>::const_iterator& arrive,
                                       Seconds between) const {
    const auto one = [&](int first, int count) {
        o.wait_until(*arrive++ - between);
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

// What a pipeline does between two passes of one micro-batch over neighbouring chunks: this pass of other micro-batches.
Seconds StagePlay::between_chunks(const ChunkBlocks& chunk, Pass pass) const {
    const double others = std::min<double>(plan_.pp, static_cast<double>(job_.micro_batches)) - 1;
    return others * over(chunk, pass).device();
}

// What is left for when the last backward has ended.
void StagePlay::finish_step(Overlap& o, bool reduced, Seconds through_servers) const {
    if (plan_.forward_only) return;
    const bool overlaps = overlaps_gradients(plan_, framework_);
    if (plan_.has_servers()) return o.exchange((overlaps ? 0.5 : 1.0) * through_servers, {}, {});
    if (!reduced && !overlaps)
        for (const ChunkBlocks& chunk : chunks_) reduce_all(o, chunk);
    if (!plan_.shards_states() || overlaps_gathers(plan_, framework_)) return;
    o.wait_for_exchanges();
    BlockParameters all;
    for (const ChunkBlocks& chunk : chunks_)
        for (const Block& b : chunk.blocks) all.dense += b.parameters.dense, all.expert += b.parameters.expert;
    gather(o, all.dense, all.expert, 1);
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
            Seconds between;
            for (const ChunkBlocks& chunk : chunks_) {
                forward_behind_gathers(at, chunk, next, between);
                between += between_chunks(chunk, &StagePlay::forward);
            }
            at.done -= between;
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
            if (chunk != chunks_.rbegin() && !every) at.done -= between_chunks(*chunk, &StagePlay::backward);
            backward_with_reduction(at, *chunk);
        }
    };
    const Seconds period = (apart ? Seconds{} : ahead_.device() + each_) + back_.device();
    const auto finish = [&](Overlap& at) { finish_step(at, every, through_servers); };
    DataParallelPrice price = play(o, period, alone() || gathers || every || apart, std::ref(micro_batch), std::ref(finish));
    price.first_forward = first_forward;
    if (!every) return price;
    price.at_end = {};
    price = recurring(price);
    if (plan_.schedule == Schedule::zero_bubble)
        price.steady_weights = price.steady;
    else if (!overlaps_gradients(plan_, framework_))
        price.late = price.steady;
    return price;
}

}  // namespace sextant
