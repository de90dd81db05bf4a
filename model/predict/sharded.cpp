// ZeRO-3 / FSDP: every rank holds a part of the weights, and gathers those of a block just before it needs them.
#include "model/predict/stage_play.hpp"

#include "model/plan/framework_defaults.hpp"

#include <algorithm>

namespace sextant {

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
DataParallelPrice StagePlay::play_sharded() const {
    const std::vector<Turn> list = turns();
    const std::size_t blocks = list.size() / (plan_.forward_only ? 1 : plan_.schedule == Schedule::zero_bubble ? 3 : 2);
    const bool every = plan_.reduce_every_micro_batch.value_or(true);  // a sharded gradient has no room to wait in
    const bool overlaps = overlaps_gathers(plan_, framework_);
    const std::size_t ahead = overlaps ? 1 + static_cast<std::size_t>(framework_.prefetch_blocks) : 0;
    std::vector<Seconds> arrive(std::max<std::size_t>(1, ahead));  // of the weights that are asked for, in turn
    std::size_t turn = 0, next = 0;                                // of these; of the blocks
    Seconds done;                                                  // the exchanges, when a micro-batch ended
    Overlap o(slowdown_);
    const auto go_round = [](std::size_t& i, std::size_t count) { i = i + 1 < count ? i + 1 : 0; };
    const auto ask = [&](Overlap& at) {
        const Seconds gather = list[next].gather;
        if (gather > Seconds{}) at.exchange(gather, {}, {});
        arrive[turn] = gather > Seconds{} ? at.done : Seconds{};
        go_round(turn, arrive.size());
        go_round(next, list.size());
    };
    std::array<Seconds, 3> passes{};  // of the micro-batch at hand: what forward, backward and the gradients of weights take
    const auto micro_batch = [&](Overlap& at, bool first, bool last) {
        for (Seconds& t : arrive) t += at.done - done;  // micro-batches that were not played
        passes = {};
        at.run({{}, each_, {}, {}, {}});
        if (overlaps && first)
            for (std::size_t a = 0; a < ahead; ++a) ask(at);
        std::size_t left = list.size();
        for (std::size_t pass = 0; left > 0; ++pass) {
            const Seconds before = at.now;
            Seconds work;
            for (std::size_t block = 0; block < blocks; ++block, --left) {
                const Turn& here = list[list.size() - left];
                if (!overlaps) ask(at);
                at.wait_until(arrive[turn]);
                at.run(here.work);
                work += here.work.device();
                if (every || last) at.exchange(here.scatter, {}, {});
                if (!overlaps)
                    at.wait_for_exchanges();
                else if (!last || left > ahead)
                    ask(at);
                else
                    go_round(turn, arrive.size());
            }
            passes[pass] = at.now - before - work;
        }
        done = at.done;
    };
    DataParallelPrice price = recurring(play(o, work_.ahead.device() + each_ + work_.back.device(), true, micro_batch, [](Overlap&) {}));
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
    price.early_ahead = std::clamp(price.steady_ahead, Seconds{}, price.early_ahead);
    price.early_back = std::clamp(price.steady - price.steady_ahead - price.steady_weights, Seconds{}, price.early_back);
    return price;
}

}  // namespace sextant
