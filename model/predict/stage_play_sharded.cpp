// ZeRO-3 / FSDP: every rank holds a shard of the weights, and gathers those of a block just before it needs them.
#include "model/predict/stage_play.hpp"

#include "model/plan/framework_defaults.hpp"
#include "model/predict/update.hpp"

#include <algorithm>

namespace sextant {

// Weights that were asked for and have not been used, each with its time of arrival.
class StagePlay::PrefetchedWeights {
public:
    explicit PrefetchedWeights(std::size_t most) : all_(most) {}

    void ask(Overlap& at, Seconds fetch, Seconds gather) {
        if (fetch > Seconds{}) at.copy(fetch);
        if (gather > Seconds{}) at.exchange(gather, {}, {});
        all_[turn_].arrives = fetch + gather > Seconds{} ? at.done : Seconds{};
        use();
    }
    void use() { turn_ = after(turn_); }
    [[nodiscard]] Seconds arrival() const { return all_[turn_].arrives; }
    void shift(Seconds later) {
        for (Weights& w : all_) w.arrives += later;
    }
    // Whether they are as far ahead of the kernels as they were before, or arrive so early that it does not matter.
    void remember(Seconds now) {
        for (std::size_t i = 0, at = turn_; i < all_.size(); ++i, at = after(at)) all_[i].was_ahead = all_[at].arrives - now;
    }
    [[nodiscard]] bool go_on_like_this(Seconds now) const {
        constexpr double rounding = 1e-12;
        for (std::size_t i = 0, at = turn_; i < all_.size(); ++i, at = after(at)) {
            const Seconds ahead = all_[at].arrives - now, was = all_[i].was_ahead;
            if (ahead > was + rounding * now || (ahead > Seconds{} && ahead < was - rounding * now)) return false;
        }
        return true;
    }

private:
    [[nodiscard]] std::size_t after(std::size_t i) const { return i + 1 < all_.size() ? i + 1 : 0; }

    struct Weights {
        Seconds arrives, was_ahead;  // the latter by turns from the one that is next
    };
    std::vector<Weights> all_;
    std::size_t turn_ = 0;
};

// Those of forward, with the exchanges of all passes.
std::vector<StagePlay::Turn> StagePlay::forward_turns(const StageExchanges& exchanges) const {
    std::vector<Turn> turns;
    turns.reserve(3 * exchanges.of_blocks.size());  // for the passes that are added
    const auto held = [&](const ParameterCount& p) { return held_parameters(p, plan_, true); };
    const Block* before = nullptr;
    for (const ChunkBlocks& chunk : chunks_)
        for (const Block& b : chunk.blocks) {
            const auto& [gather, scatter] = exchanges.of_blocks[turns.size()];
            Turn turn{&forward(b), stretch_ * gather, stretch_ * scatter};
            if (plan_.offloads_parameters())
                turn.fetch = host_copy_time(job_, weight_bytes(job_, held(b.parameters.trained + b.parameters.frozen)), {}, r_);
            if (offloads_gradients(plan_, framework_)) turn.gradients = held(b.parameters.trained);
            turn.is_as_before = before && before->is_like(b) && before->is_recomputed(stage_) == b.is_recomputed(stage_);
            turns.push_back(turn);
            before = &b;
        }
    return turns;
}

// Adds a pass back over the blocks, whose turns of forward are the first of the list.
void StagePlay::add_turns_back(std::vector<Turn>& turns, std::size_t blocks, Pass pass, bool makes_gradients) const {
    std::size_t turn = blocks;
    for (auto chunk = chunks_.rbegin(); chunk != chunks_.rend(); ++chunk)
        for (auto b = chunk->blocks.rbegin(); b != chunk->blocks.rend(); ++b) {
            Turn back = turns[--turn];
            back.is_as_before = turn + 1 < blocks && turns[turn + 1].is_as_before;
            back.work = &(this->*pass)(*b);
            if (!framework_.reshards_after_forward) back.gather = back.fetch = {};
            if (!makes_gradients) back.make_no_gradients();
            turns.push_back(back);
        }
}

// The turns of one micro-batch, in order. Neighbours are mostly alike.
std::vector<StagePlay::Turn> StagePlay::turns(const StageExchanges& exchanges, std::size_t ahead) const {
    std::vector<Turn> turns = forward_turns(exchanges);
    const std::size_t blocks = turns.size();
    const bool apart = weights_pass();
    if (!plan_.forward_only) add_turns_back(turns, blocks, &StagePlay::backward, !apart);
    if (apart) add_turns_back(turns, blocks, &StagePlay::weights, true);
    for (std::size_t i = 0; i < blocks; ++i) turns[i].make_no_gradients();
    // How many turns are like it and ask for equal weights.
    for (std::size_t i = turns.size() - 1; i-- > 0;) {
        const bool both_there = i + 1 + ahead < turns.size();
        if (both_there && turns[i + 1].is_as_before && turns[i + 1 + ahead].is_as_before) turns[i].alike = turns[i + 1].alike + 1;
    }
    return turns;
}

// Plays the turns of one micro-batch after another. Weights are gathered `ahead` turns before their use; 0 where nothing overlaps.
class StagePlay::PlayedTurns {
public:
    PlayedTurns(const StagePlay& stage, std::vector<Turn> list, std::size_t ahead)
        : stage_(stage),
          list_(std::move(list)),
          ahead_(ahead),
          blocks_(list_.size() / passes(stage)),
          reduces_each_(reduces_every_micro_batch(stage.plan_, stage.framework_)),
          scatters_apart_(overlaps_scatters(stage.plan_, stage.framework_)),
          weights_(std::max<std::size_t>(1, ahead)) {}

    void play(Overlap& at, bool first, bool last) {
        weights_.shift(at.done - done_);  // micro-batches that were not played
        longer_ = {};
        at.run({{}, stage_.context_.overhead, {}, {}, {}});
        for (std::size_t a = 0; first && a < ahead_; ++a) ask(at);
        for (std::size_t i = 0; i < list_.size();) {
            const Seconds begins = at.now, slowed = at.kernels_slowed();
            const std::size_t turns = play_alike(at, i, first, last);
            if (i < blocks_) at.in_forward += at.kernels_slowed() - slowed;
            longer_[i / blocks_] += at.now - begins - static_cast<double>(turns) * list_[i].work->device();
            i += turns;
        }
        done_ = at.done;
    }

    // How `price` divides over the passes, from the micro-batch that was played last.
    void share_out(DataParallelPrice& price) const {
        const Seconds all = longer_[0] + longer_[1] + longer_[2];
        if (all > Seconds{}) {
            price.steady_forward = longer_[0] / all * price.steady;
            price.steady_weights = longer_[2] / all * price.steady;
        }
        for (std::size_t i = 0; i < std::min(blocks_, std::max<std::size_t>(1, ahead_)); ++i) {
            price.early_forward += list_[i].fetch + list_[i].gather;
            if (!stage_.plan_.forward_only) price.early_backward += list_[blocks_ + i].fetch + list_[blocks_ + i].gather;
        }
        price.early_forward = std::clamp(price.steady_forward, Seconds{}, price.early_forward);
        price.early_backward = std::clamp(price.steady - price.steady_forward - price.steady_weights, Seconds{}, price.early_backward);
    }

private:
    static std::size_t passes(const StagePlay& stage) {
        if (stage.plan_.forward_only) return 1;
        return stage.weights_pass() ? 3 : 2;
    }

    void ask(Overlap& at) {
        weights_.ask(at, list_[next_].fetch, list_[next_].gather);
        next_ = next_ + 1 < list_.size() ? next_ + 1 : 0;
    }

    // Plays turn i and those right after it that take as long, and returns how many. When a block is done, its gradients are scattered, and
    // then the next weights are gathered that there is room for.
    std::size_t play_alike(Overlap& at, std::size_t i, bool first, bool last) {
        const Turn& here = list_[i];
        const OverlapTimes before = at;
        if (here.alike > 1) weights_.remember(at.now);
        if (ahead_ == 0) ask(at);
        at.wait_until(weights_.arrival());
        at.run(*here.work);
        if (reduces_each_ || last) scatter(at, here, reduces_each_ ? StepEnds{first, last} : StepEnds{});
        if (ahead_ > 0 && (!last || i + ahead_ < list_.size()))
            ask(at);
        else if (ahead_ > 0)
            weights_.use();
        if (here.alike == 1 || !at.goes_on_like_this(before) || !weights_.go_on_like_this(at.now)) return 1;
        const std::size_t more = here.alike - 1;
        weights_.shift(static_cast<double>(more) * (at.now - before.now));
        at.repeat(static_cast<double>(more), before, {});
        next_ = (next_ + more) % list_.size();
        return here.alike;
    }

    void scatter(Overlap& at, const Turn& turn, StepEnds step) const {
        if (!(turn.scatter > Seconds{}) && !(turn.gradients > 0)) return;
        at.exchange(turn.scatter, {}, {});
        if (turn.gradients > 0) at.copy(gradient_copy_time(stage_.job_, turn.gradients, step, stage_.r_));
        if (!scatters_apart_) at.wait_for_exchanges();
    }

    const StagePlay& stage_;
    std::vector<Turn> list_;
    std::size_t ahead_, blocks_;
    bool reduces_each_, scatters_apart_;
    PrefetchedWeights weights_;
    std::size_t next_ = 0;             // to ask for
    Seconds done_;                     // the exchanges, when a micro-batch ended
    std::array<Seconds, 3> longer_{};  // than their work: forward, backward and the gradients of weights, of the micro-batch at hand
};

// ZeRO-3 / FSDP: weights are gathered `prefetch_blocks` blocks ahead of their use.
DataParallelPrice StagePlay::play_sharded(const StageExchanges& exchanges) const {
    const std::size_t ahead = overlaps_gathers(plan_, framework_) ? 1 + static_cast<std::size_t>(framework_.prefetch_blocks) : 0;
    PlayedTurns turns_of_blocks(*this, turns(exchanges, ahead), ahead);
    const auto micro_batch = [&](Overlap& at, bool first, bool last) { return turns_of_blocks.play(at, first, last), false; };
    Overlap o(slowdown_);
    const Seconds period = work_.forward.device() + context_.overhead + work_.backward.device();
    DataParallelPrice price = recurring(play(o, period, 3, micro_batch, [](Overlap&) {}));
    price.at_end = {};
    turns_of_blocks.share_out(price);
    return price;
}

}  // namespace sextant
