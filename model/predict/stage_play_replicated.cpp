// Every rank holds all weights of its stage: DDP, ZeRO-1 and 2, parameter servers.
#include "model/predict/stage_play.hpp"

#include "model/plan/framework_defaults.hpp"
#include "model/predict/parameter_servers.hpp"
#include "model/predict/update.hpp"
#include "model/schedule/schedule.hpp"

#include <algorithm>

namespace sextant {

namespace {

// `stretch`: how many times as long as alone the exchanges take on links.
void exchange(Overlap& o, const DataExchangePrices& calls, double stretch) {
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
    if (offloads_gradients(plan_, framework_)) o.copy(gradient_copy_time(job_, part.owned, at, r_));
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
    const int recomputed = chunk.recomputed_layers(stage_);
    const bool recomputes_some = !apart && recomputed > 0 && recomputed < chunk.layers;
    const std::vector<Part>& parts = exchanges.reductions;
    for (std::size_t i = 0; i < parts.size();) {
        const Part& part = parts[i];
        std::size_t alike = static_cast<std::size_t>(part.alike);
        while (recomputes_some && alike > 1 && !recompute_alike(chunk, part, parts[i + alike - 1])) alike /= 2;
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

// Whether all blocks from one part to the other are recomputed, or none of them. Those that are come first in a stage.
bool StagePlay::recompute_alike(const ChunkBlocks& chunk, const Part& a, const Part& b) const {
    const auto recomputed = [&](int block) { return chunk.blocks[static_cast<std::size_t>(block)].is_recomputed(stage_); };
    const int last_of_a = a.first_block + a.count - 1, last_of_b = b.first_block + b.count - 1;
    return recomputed(a.first_block) == recomputed(last_of_a) && recomputed(b.first_block) == recomputed(last_of_b) &&
           recomputed(last_of_a) == recomputed(last_of_b);
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
        if (o.done <= o.now) return o.run(work_.forward - done);  // all are there
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

// Plays the micro-batches of one step in order.
class StagePlay::PlayedMicroBatches {
public:
    PlayedMicroBatches(const StagePlay& stage, const StageExchanges& exchanges)
        : stage_(stage),
          exchanges_(exchanges),
          gathers_(stage.plan_.shards_states() && overlaps_gathers(stage.plan_, stage.framework_) && !stage.plan_.forward_only),
          overlaps_(overlaps_gradients(stage.plan_, stage.framework_)),
          forwards_first_(stage.forwards_first()) {
        // With a single micro-batch they come at the end, as when gradients are added up, unless they delay what the stage sends.
        const bool holds_up = !stage.alone() && !overlaps_ && !overlaps_pipeline(stage.plan_, stage.framework_);
        reduces_each_ = reduces_every_micro_batch(stage.plan_, stage.framework_) && (stage.job_.micro_batches > 1 || holds_up);
    }

    // Whether the first forward finds weights still on their way, which the step before updated.
    [[nodiscard]] bool gathers() const { return gathers_; }
    // Whether gradients are reduced after every micro-batch.
    [[nodiscard]] bool reduces_each() const { return reduces_each_; }
    [[nodiscard]] bool forwards_first() const { return forwards_first_; }
    // What the first forward takes longer for it.
    [[nodiscard]] Seconds first_forward() const { return first_forward_; }
    // How far exchanges are behind, at most, when a backward begins that is not the first.
    [[nodiscard]] Seconds late() const { return late_; }

    // Returns whether all that follow will be like it.
    bool play(Overlap& at, bool first, bool last) {
        const OverlapTimes before = at;
        forward(at, first);
        at.in_forward += at.kernels_slowed() - before.kernels_slowed();
        if (stage_.plan_.forward_only) return false;
        if (!first) late_ = max(late_, at.done - at.now);
        if (!reduces_each_ && !(last && overlaps_))
            at.run(stage_.work_.backward);
        else
            stage_.backward_over_chunks(at, exchanges_, reduces_each_, reduces_each_ ? StepEnds{first, last} : StepEnds{});
        return reduces_each_ && !first && !offloads_gradients(stage_.plan_, stage_.framework_) && at.goes_on_like_this(before);
    }
    void finish(Overlap& at) const { stage_.finish_step(at, exchanges_, reduces_each_); }

private:
    void forward(Overlap& at, bool first) {
        const OwnWork overhead{{}, stage_.context_.overhead, {}, {}, {}};
        if (first || !forwards_first_) at.run(overhead);
        if (first && gathers_ && at.done > at.now)
            stage_.forward_behind_gathers(at, exchanges_);
        else if (first || !forwards_first_)
            at.run(stage_.work_.forward);
        if (first) first_forward_ = at.waited + at.slowed;
        if (first && forwards_first_) at.run(static_cast<double>(stage_.job_.micro_batches - 1) * (stage_.work_.forward + overhead));
    }

    const StagePlay& stage_;
    const StageExchanges& exchanges_;
    bool gathers_, overlaps_, forwards_first_, reduces_each_;
    Seconds first_forward_, late_;
};

DataParallelPrice StagePlay::play_replicated(const StageExchanges& exchanges) const {
    PlayedMicroBatches played(*this, exchanges);
    Overlap o(slowdown_, gradient_fusion(plan_, framework_), shared_with_servers(job_));
    // Weights that the step before updated arrive from the start of the step on.
    if (played.gathers()) exchange(o, {exchanges.gathers}, context_.slowdown);
    o.now = context_.arrival;
    const auto micro_batch = [&](Overlap& at, bool first, bool last) { return played.play(at, first, last); };
    const auto finish = [&](Overlap& at) { played.finish(at); };
    const Seconds forward = played.forwards_first() ? Seconds{} : work_.forward.device() + context_.overhead;
    const bool exchanges_between = played.gathers() || played.reduces_each();
    // The first may differ from those between, or the host be ahead; what a background thread has put off grows and shifts from one to the
    // next.
    std::int64_t apart = exchanges_between || alone() || played.forwards_first() ? 3 : 1;
    if (exchanges_between && o.puts_off()) apart = job_.micro_batches;
    DataParallelPrice price = play(o, forward + work_.backward.device(), apart, micro_batch, finish);
    if (played.gathers()) price.first_forward = played.first_forward();
    if (!played.reduces_each()) return price;
    price.at_end = {};
    price = recurring(price);
    const bool falls_behind = played.late() > Seconds{} && price.behind > Seconds{};
    if (falls_behind && !alone() && !job_.played && !o.puts_off()) queue_up(price, forward, micro_batch, finish);
    if (weights_pass())
        price.steady_weights = price.steady;
    else if (!overlaps_gradients(plan_, framework_))
        price.late = price.steady;
    return price;
}

}  // namespace sextant
