// ZeRO-3 / FSDP: every rank holds a part of the weights, and gathers those of a block just before it needs them.
#include "model/predict/stage_play.hpp"

#include "model/plan/framework_defaults.hpp"
#include "model/predict/update.hpp"

#include <algorithm>

namespace sextant {
namespace {

// Weights that were asked for and not used yet, each with its arrival.
class OnTheWay {
public:
    explicit OnTheWay(std::size_t most) : all_(most) {}

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
    // How far ahead of the kernels all of them are, and whether that is as it was, or they are there long before.
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

}  // namespace

// Of one micro-batch, in order. Neighbours are mostly alike.
std::vector<StagePlay::Turn> StagePlay::turns(const StageExchanges& exchanges, std::size_t ahead) const {
    std::vector<Turn> list;
    list.reserve(3 * exchanges.of_blocks.size());
    const auto held = [&](const ParameterCount& p) { return held_parameters(p, plan_, true); };
    const Block* before = nullptr;
    for (const ChunkBlocks& chunk : chunks_)
        for (const Block& b : chunk.blocks) {
            const auto& [gather, scatter] = exchanges.of_blocks[list.size()];
            Turn turn{&forward(b), stretch_ * gather, stretch_ * scatter};
            if (plan_.offload == Offload::optimizer_and_parameters)
                turn.fetch = host_copy_time(job_, weight_bytes(job_, held(b.parameters.trained + b.parameters.frozen)), {}, r_);
            if (gradients_go_down(plan_, framework_)) turn.gradients = held(b.parameters.trained);
            turn.is_as_before = before && before->is_like(b) && before->runs_again(stage_) == b.runs_again(stage_);
            list.push_back(turn);
            before = &b;
        }
    const std::size_t blocks = list.size();
    const bool apart = weights_pass();
    const auto go_back = [&](Pass pass, bool makes_gradients) {
        std::size_t turn = blocks;
        for (auto chunk = chunks_.rbegin(); chunk != chunks_.rend(); ++chunk)
            for (auto b = chunk->blocks.rbegin(); b != chunk->blocks.rend(); ++b) {
                Turn back = list[--turn];
                back.is_as_before = turn + 1 < blocks && list[turn + 1].is_as_before;
                back.work = &(this->*pass)(*b);
                if (!framework_.reshards_after_forward) back.gather = back.fetch = {};
                if (!makes_gradients) back.scatter = {}, back.gradients = 0;
                list.push_back(back);
            }
    };
    if (!plan_.forward_only) go_back(&StagePlay::backward, !apart);
    if (apart) go_back(&StagePlay::weights, true);
    for (std::size_t i = 0; i < blocks; ++i) list[i].scatter = {}, list[i].gradients = 0;
    // Those that are like it and ask for weights that are alike.
    for (std::size_t i = list.size() - 1; i-- > 0;) {
        const bool both_there = i + 1 + ahead < list.size();
        if (both_there && list[i + 1].is_as_before && list[i + 1 + ahead].is_as_before) list[i].alike = list[i + 1].alike + 1;
    }
    return list;
}

// ZeRO-3 / FSDP: weights are gathered `prefetch_blocks` blocks ahead of their use. When a block is done, its gradients are scattered, and
// then the next weights gathered that have room.
DataParallelPrice StagePlay::play_sharded(const StageExchanges& exchanges) const {
    const bool overlaps = overlaps_gathers(plan_, framework_), scatters_apart = overlaps_scatters(plan_, framework_);
    const std::size_t ahead = overlaps ? 1 + static_cast<std::size_t>(framework_.prefetch_blocks) : 0;
    const std::vector<Turn> list = turns(exchanges, ahead);
    const std::size_t blocks = list.size() / (plan_.forward_only ? 1 : weights_pass() ? 3 : 2);
    const bool every = reduces_every_micro_batch(plan_, framework_);
    OnTheWay weights(std::max<std::size_t>(1, ahead));
    std::size_t next = 0;  // block to ask for
    Seconds done;          // the exchanges, when a micro-batch ended
    Overlap o(slowdown_);
    const auto ask = [&](Overlap& at) {
        weights.ask(at, list[next].fetch, list[next].gather);
        next = next + 1 < list.size() ? next + 1 : 0;
    };
    std::array<Seconds, 3> passes{};  // of the micro-batch at hand: what forward, backward and the gradients of weights take
    const auto micro_batch = [&](Overlap& at, bool first, bool last) {
        weights.shift(at.done - done);  // micro-batches that were not played
        passes = {};
        at.run({{}, each_, {}, {}, {}});
        if (overlaps && first)
            for (std::size_t a = 0; a < ahead; ++a) ask(at);
        for (std::size_t i = 0; i < list.size();) {
            const Turn& here = list[i];
            const OverlapTimes before = at;
            if (here.alike > 1) weights.remember(at.now);
            if (!overlaps) ask(at);
            at.wait_until(weights.arrival());
            at.run(*here.work);
            if ((every || last) && (here.scatter > Seconds{} || here.gradients > 0)) {
                at.exchange(here.scatter, {}, {});
                if (here.gradients > 0) at.copy(gradient_copy_time(job_, here.gradients, every ? StepEnds{first, last} : StepEnds{}, r_));
                if (!scatters_apart) at.wait_for_exchanges();
            }
            if (overlaps && (!last || i + ahead < list.size()))
                ask(at);
            else if (overlaps)
                weights.use();
            std::size_t turns = 1;
            if (here.alike > 1 && at.goes_on_like_this(before) && weights.go_on_like_this(at.now)) {
                const std::size_t more = here.alike - 1;
                turns += more;
                weights.shift(static_cast<double>(more) * (at.now - before.now));
                at.repeat(static_cast<double>(more), before, {});
                next = (next + more) % list.size();
            }
            passes[i / blocks] += at.now - before.now - static_cast<double>(turns) * here.work->device();
            i += turns;
        }
        done = at.done;
        return false;
    };
    DataParallelPrice price =
        recurring(play(o, work_.forward.device() + each_ + work_.backward.device(), true, micro_batch, [](Overlap&) {}));
    price.at_end = {};
    const Seconds all = passes[0] + passes[1] + passes[2];
    if (all > Seconds{}) {
        price.steady_forward = passes[0] / all * price.steady;
        price.steady_weights = passes[2] / all * price.steady;
    }
    for (std::size_t i = 0; i < std::min(blocks, std::max<std::size_t>(1, ahead)); ++i) {
        price.early_forward += list[i].fetch + list[i].gather;
        if (!plan_.forward_only) price.early_backward += list[blocks + i].fetch + list[blocks + i].gather;
    }
    price.early_forward = std::clamp(price.steady_forward, Seconds{}, price.early_forward);
    price.early_backward = std::clamp(price.steady - price.steady_forward - price.steady_weights, Seconds{}, price.early_backward);
    return price;
}

}  // namespace sextant
