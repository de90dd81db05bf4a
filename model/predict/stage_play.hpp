// One rank of a stage, block by block, with data-parallel exchanges beside it. Internal to predict.
#pragma once

#include "model/predict/data_parallel_price.hpp"

#include <algorithm>
#include <vector>

namespace sextant {

class StagePlay {
public:
    StagePlay(const Prepared::State&, std::size_t stage, const StageWork&, const StageContext&, const Resources&);

    [[nodiscard]] DataParallelPrice price(const StageExchanges&);

private:
    using Block = ChunkBlocks::Block;
    using Pass = const OwnWork& (StagePlay::*)(const Block&) const;
    using Part = StageExchanges::Part;
    struct Turn {  // of a block under ZeRO-3: its weights come, it works, its gradients go
        const OwnWork* work = nullptr;
        Seconds gather, scatter, fetch{};  // the latter from host memory, before it gathers
        double gradients = 0;              // that go there behind its scatter
        std::size_t alike = 1;             // turns of its pass, from this one on
        bool is_as_before = false;         // work and weights

        void make_no_gradients() {
            scatter = {};
            gradients = 0;
        }
    };

    class PrefetchedWeights;
    class PlayedTurns;
    class PlayedMicroBatches;

    [[nodiscard]] bool alone() const { return plan_.pp == 1; }
    [[nodiscard]] bool forwards_first() const;
    // Whether every micro-batch has a pass of its own for gradients of weights.
    [[nodiscard]] bool weights_pass() const { return weights_apart(plan_.schedule) == WeightsApart::in_all; }

    [[nodiscard]] const StageWork::Passes& passes(const Block& b) const { return work_.passes[static_cast<std::size_t>(b.block_template)]; }
    [[nodiscard]] const OwnWork& forward(const Block& b) const {
        return b.is_recomputed(stage_) ? passes(b).checkpointed : passes(b).forward;
    }
    [[nodiscard]] const OwnWork& backward(const Block& b) const {
        return b.is_recomputed(stage_) ? passes(b).recompute_and_backward : passes(b).backward;
    }
    [[nodiscard]] const OwnWork& weights(const Block& b) const { return passes(b).weights; }
    template <Pass pass>
    [[nodiscard]] OwnWork over(const ChunkBlocks& chunk, int first, int count) const {
        OwnWork sum;
        for (int i = first; i < first + count; ++i) sum += (this->*pass)(chunk.blocks[static_cast<std::size_t>(i)]);
        return sum;
    }
    template <Pass pass>
    [[nodiscard]] OwnWork over(const ChunkBlocks& chunk) const {
        return over<pass>(chunk, 0, static_cast<int>(chunk.blocks.size()));
    }

    void reduce(Overlap&, const Part&, StepEnds) const;
    void reduce_all(Overlap&, const StageExchanges::Chunk&, StepEnds) const;
    void backward_with_reduction(Overlap&, const ChunkBlocks&, const StageExchanges::Chunk&, StepEnds) const;
    [[nodiscard]] bool recompute_alike(const ChunkBlocks&, const Part&, const Part&) const;
    [[nodiscard]] Seconds between_chunks(const OwnWork& pass) const;
    void backward_over_chunks(Overlap&, const StageExchanges&, bool at_once, StepEnds) const;
    void forward_behind_gathers(Overlap&, const StageExchanges&) const;
    void finish_step(Overlap&, const StageExchanges&, bool reduced) const;

    template <class MicroBatch, class Finish>
    void queue_up(DataParallelPrice&, Seconds forward, const MicroBatch&, const Finish&) const;
    // Where every rank holds all weights of its stage, and where it holds its shard of them.
    [[nodiscard]] DataParallelPrice play_replicated(const StageExchanges&) const;
    [[nodiscard]] DataParallelPrice play_sharded(const StageExchanges&) const;
    [[nodiscard]] std::vector<Turn> forward_turns(const StageExchanges&) const;
    void add_turns_back(std::vector<Turn>&, std::size_t blocks, Pass, bool makes_gradients) const;
    [[nodiscard]] std::vector<Turn> turns(const StageExchanges&, std::size_t ahead) const;

    template <class MicroBatch, class Finish>
    DataParallelPrice play(Overlap&, Seconds period, std::int64_t apart, const MicroBatch&, const Finish&) const;
    [[nodiscard]] DataParallelPrice recurring(DataParallelPrice) const;

    const Prepared::State& job_;
    const Plan& plan_;
    const Framework& framework_;
    const JobGroups& groups_;
    const StageBlocks& stage_;
    const std::vector<ChunkBlocks>& chunks_;
    const StageWork& work_;
    StageContext context_;
    const Resources& r_;
    double slowdown_;     // of kernels beside an exchange
    double stretch_ = 1;  // of the exchanges of every micro-batch, which other stages' exchanges meet only some of the time
};

// Micro-batches one after another, each by `micro_batch(o, first, last)`, which says whether all that follow will be like it: the first,
// the last, and those between, which soon all take the same; then `finish(o)`. `period`: what a micro-batch takes with nothing beside it.
// `apart`: those between that are played one by one, at most.
template <class MicroBatch, class Finish>
DataParallelPrice StagePlay::play(Overlap& o, Seconds period, std::int64_t apart, const MicroBatch& micro_batch,
                                  const Finish& finish) const {
    const std::int64_t m = job_.micro_batches, most = std::min(m - 1, apart);
    const Seconds start = o.now;
    OverlapTimes before = o;
    std::int64_t between = 0;
    bool all_alike = false;
    // In a pipeline the other stages load no samples.
    const auto take_samples = [&] {
        if (job_.hosts_load() && alone()) o.issued = max(o.issued, o.now);
    };
    for (; between < most && !all_alike; ++between) {
        take_samples();
        before = o;
        all_alike = micro_batch(o, between == 0, false);
    }
    DataParallelPrice price;
    if (between > 1) price.steady = o.now - before.now - period;
    o.repeat(static_cast<double>(m - between - (all_alike ? 0 : 1)), before, max(Seconds{}, work_.backward.device() - work_.backward.host));
    const Seconds exchanged = o.exchanged - o.copied;
    if (!all_alike) {
        take_samples();
        micro_batch(o, m == 1, true);
    }
    const Seconds last = o.now;
    finish(o);
    o.wait_for_exchanges();
    price.behind = o.now - last;
    price.at_end = o.exchanged - o.copied - exchanged;
    price.copied = o.copied > Seconds{} ? o.copied / o.exchanged : 0;
    price.exposed = o.waited;
    price.lengthened = o.lengthened;
    price.slowdown = o.kernels_slowed();
    price.in_forward = o.in_forward;
    price.launch = o.launch;
    const Seconds hidden = o.exchanged - (o.waited - o.idle);
    if (hidden > 1e-9 * o.exchanged) price.hidden = hidden;  // less is what rounding left of the sums
    const Seconds each = work_.forward.device() + work_.backward.device() + context_.overhead + price.steady;
    price.passing = last - start - static_cast<double>(m) * each - o.launch;
    return price;
}

}  // namespace sextant
