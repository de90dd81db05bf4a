// Every rank holds all weights of its stage: DDP, ZeRO-1 and 2, parameter servers.
#include "model/predict/stage_play.hpp"

#include "model/plan/framework_defaults.hpp"
#include "model/predict/update.hpp"
#include "model/schedule/schedule.hpp"

#include <algorithm>

namespace sextant {

namespace {

using Calls = std::array<DataExchangePrice, 3>;

// `stretch`: how many times as long as alone the exchanges take on links.
void exchange(Overlap& o, const Calls& calls, double stretch) {
    for (const DataExchangePrice& e : calls)
        if (e.calls > 0) {
            o.exchange(e.fixed, stretch * e.rest, e.size, e.calls);
            if (e.served > Seconds{}) o.serve(e.served);
        }
}

}  // namespace

// Also to the host, where gradients go there after their reduction.
void StagePlay::reduce(Overlap& o, const Part& part, StepEnds at) const {
    exchange(o, part.calls, stretch_);
    if (gradients_go_down(plan_, framework_)) o.copy(gradient_copy_time(job_, part.owned, at, r_));
}

// A part is reduced as soon as backward has made it, or all of them when it has ended.
void StagePlay::backward_with_reduction(Overlap& o, const ChunkBlocks& chunk, const StageExchanges::Chunk& exchanges, StepEnds step) const {
    // The gradient of the input has already been passed on then.
    const bool apart = weights_pass();
    if (apart || !overlaps_gradients(plan_, framework_)) o.run(over<&StagePlay::backward>(chunk));
    if (!overlaps_gradients(plan_, framework_)) {
        if (apart) o.run(over<&StagePlay::weights>(chunk));
        return reduce_all(o, exchanges, step);
    }
    const int again = chunk.layers_again(stage_);
    const bool some_again = !apart && again > 0 && again < chunk.layers;
    const std::vector<Part>& parts = exchanges.reductions;
    for (std::size_t i = 0; i < parts.size();) {
        const Part& part = parts[i];
        std::size_t alike = static_cast<std::size_t>(part.alike);
        while (some_again && alike > 1 && !run_again_alike(chunk, part, parts[i + alike - 1])) alike /= 2;
        o.run_each(static_cast<int>(alike),
                   apart ? over<&StagePlay::weights>(chunk, part.first_block, part.count)
                         : over<&StagePlay::backward>(chunk, part.first_block, part.count),
                   [&](Overlap& at) { reduce(at, part, step); });
        i += alike;
    }
}

// `at_once`: no other micro-batches come between two chunks of one. Chunks that are alike soon all find the exchanges equally far behind.
void StagePlay::backward_over_chunks(Overlap& o, const StageExchanges& exchanges, bool at_once, StepEnds step) const {
    for (std::size_t c = chunks_.size(); c-- > 0;) {
        const OverlapTimes before = o;
        backward_with_reduction(o, chunks_[c], exchanges[c], step);
        if (c > 0 && !at_once) o.done -= between_chunks(over<&StagePlay::backward>(chunks_[c - 1]));
        const std::size_t alike = alike_before(chunks_, c, stage_);
        if (alike < 2 || !o.goes_on_like_this(before)) continue;
        o.repeat(static_cast<double>(alike - 1), before, {});
        c -= alike - 1;
    }
}

// Whether all blocks from one part to the other run again, or none of them. Those that do come first in a stage.
bool StagePlay::run_again_alike(const ChunkBlocks& chunk, const Part& a, const Part& b) const {
    const auto again = [&](int block) { return chunk.blocks[static_cast<std::size_t>(block)].runs_again(stage_); };
    const int last_of_a = a.first_block + a.count - 1, last_of_b = b.first_block + b.count - 1;
    return again(a.first_block) == again(last_of_a) && again(b.first_block) == again(last_of_b) && again(last_of_a) == again(last_of_b);
}

void StagePlay::reduce_all(Overlap& o, const StageExchanges::Chunk& exchanges, StepEnds step) const {
    for (const Part& part : exchanges.reductions) reduce(o, part, step);
    o.wait_for_exchanges();
}

// The first forward: each part waits for its weights.
void StagePlay::forward_behind_gathers(Overlap& o, const StageExchanges& exchanges) const {
    Seconds arrival, between;
    OwnWork done;
    for (std::size_t c = 0; c < chunks_.size(); ++c) {
        if (o.done <= o.now) return o.run(work_.forward + -1.0 * done);  // all are there
        OwnWork pass;
        for (const Part& part : exchanges[c].gathers) {
            const OwnWork blocks = over<&StagePlay::forward>(chunks_[c], part.first_block, part.count);
            for (const DataExchangePrice& e : part.calls) arrival += e.time(context_.slowdown);
            o.wait_until(arrival - between);
            o.run(blocks);
            pass += blocks;
        }
        between += between_chunks(pass);
        done += pass;
    }
    o.done -= between;
}

// Whether the stage does all its forwards before its first backward.
bool StagePlay::forwards_first() const {
    const std::int64_t chunks = plan_.vpp;
    return plan_.schedule == Schedule::gpipe || (plan_.schedule == Schedule::interleaved && chunks > 1 &&
                                                 interleaved_warm_up(plan_.pp, plan_.vpp, 0) >= job_.micro_batches * chunks);
}

// What a stage does between two passes of one micro-batch over neighbouring chunks: the same pass for other micro-batches.
Seconds StagePlay::between_chunks(const OwnWork& pass) const {
    const double others = std::min<double>(plan_.pp, static_cast<double>(job_.micro_batches)) - 1;
    return others * pass.device();
}

// What is left for when the last backward has ended.
void StagePlay::finish_step(Overlap& o, const StageExchanges& exchanges, bool reduced) const {
    if (plan_.forward_only) return;
    if (!reduced && !overlaps_gradients(plan_, framework_))
        for (std::size_t c = 0; c < chunks_.size(); ++c) reduce_all(o, exchanges[c], {});
    if (!plan_.has_servers() && (!plan_.shards_states() || overlaps_gathers(plan_, framework_))) return;
    o.wait_for_servers();
    exchange(o, exchanges.gather_all, 1);
}

// Found with the last micro-batch, with no exchanges before its own. `forward`: what it does before its backward.
template <class MicroBatch, class Finish>
void StagePlay::queue_up(DataParallelPrice& price, Seconds forward, const MicroBatch& micro_batch, const Finish& finish) const {
    Overlap last(slowdown_);
    micro_batch(last, false, true);
    const Seconds end = last.now, done = max(last.done, end);
    price.queue = done - forward + static_cast<double>(job_.micro_batches - 1) * last.exchanged;
    finish(last);
    last.wait_for_exchanges();
    price.queue += last.now - done;
    price.behind_last = last.now - end;
}

DataParallelPrice StagePlay::play_replicated(const StageExchanges& exchanges) const {
    const bool gathers = plan_.shards_states() && overlaps_gathers(plan_, framework_) && !plan_.forward_only;
    // With a single micro-batch they come at the end, as when gradients are added up, unless they delay what the stage sends.
    const bool holds_up = !alone() && !overlaps_gradients(plan_, framework_) && !overlaps_pipeline(plan_, framework_);
    const bool every = reduces_every_micro_batch(plan_, framework_) && (job_.micro_batches > 1 || holds_up);
    Overlap o(slowdown_, gradient_fusion(plan_, framework_), shared_with_servers(job_));
    // Weights that the step before updated arrive from the start of the step on.
    if (gathers) exchange(o, {exchanges.gathers}, context_.slowdown);
    o.now = context_.arrival;
    Seconds first_forward, late;
    const bool apart = forwards_first();
    const auto micro_batch = [&](Overlap& at, bool first, bool last) {
        const OverlapTimes before = at;
        if (first || !apart) at.run({{}, context_.overhead, {}, {}, {}});
        if (first && gathers && at.done > at.now)
            forward_behind_gathers(at, exchanges);
        else if (first || !apart)
            at.run(work_.forward);
        if (first) first_forward = at.waited + at.slowed;
        if (first && apart)
            at.run(static_cast<double>(job_.micro_batches - 1) * (work_.forward + OwnWork{{}, context_.overhead, {}, {}, {}}));
        if (plan_.forward_only) return false;
        if (!first) late = max(late, at.done - at.now);
        if (!every && !(last && overlaps_gradients(plan_, framework_)))
            at.run(work_.backward);
        else
            backward_over_chunks(at, exchanges, every, every ? StepEnds{first, last} : StepEnds{});
        return every && !first && !gradients_go_down(plan_, framework_) && at.goes_on_like_this(before);
    };
    const Seconds period = (apart ? Seconds{} : work_.forward.device() + context_.overhead) + work_.backward.device();
    const auto finish = [&](Overlap& at) { finish_step(at, exchanges, every); };
    DataParallelPrice price = play(o, period, alone() || gathers || every || apart, micro_batch, finish);
    if (gathers) price.first_forward = first_forward;
    if (!every) return price;
    price.at_end = {};
    price = recurring(price);
    const bool falls_behind = late > Seconds{} && price.behind > Seconds{};
    if (falls_behind && !alone() && !job_.played && !o.puts_off())
        queue_up(price, apart ? Seconds{} : work_.forward.device() + context_.overhead, micro_batch, finish);
    if (weights_pass())
        price.steady_weights = price.steady;
    else if (!overlaps_gradients(plan_, framework_))
        price.late = price.steady;
    return price;
}

}  // namespace sextant
