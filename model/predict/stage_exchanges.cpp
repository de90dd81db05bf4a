#include "model/plan/framework_defaults.hpp"
#include "model/predict/stage_work.hpp"

#include <algorithm>

namespace sextant {
namespace {

class ExchangesOfStage {
public:
    ExchangesOfStage(const Prepared::State& job, std::size_t stage, const Resources& r)
        : job_(job), plan_(job.scenario.plan), framework_(job.scenario.framework), groups_(job.groups[stage]), r_(r) {}

    StageExchanges::Chunk of(const ChunkBlocks& blocks) const {
        StageExchanges::Chunk chunk;
        // What shares an exchange is decided while the step runs, or is a bucket.
        const bool fuses = overlaps_gradients(plan_, framework_) && framework_.reduction_cycle;
        const std::vector<Bucket> each = fuses || !framework_.bucket ? one_by_one(blocks) : std::vector<Bucket>{};
        const std::vector<Bucket>& reduced = fuses ? each : blocks.buckets;
        chunk.reductions.reserve(reduced.size());
        for (const Bucket& b : reduced) chunk.reductions.push_back({b.first_block, b.count, reduction(b)});
        count_alike(chunk.reductions, blocks);
        if (!plan_.shards_states()) return chunk;
        const std::vector<Bucket>& gathered = framework_.bucket ? blocks.buckets : each;
        chunk.gathers.reserve(gathered.size());
        for (auto b = gathered.rbegin(); b != gathered.rend(); ++b) chunk.gathers.push_back({b->first_block, b->count, gather(*b)});
        return chunk;
    }
    std::array<DataExchange, 3> gather(const Bucket& b) const {
        return {call(Collective::all_gather, weight_bytes(job_, b.dense), 1, groups_.shard),
                call(Collective::all_gather, weight_bytes(job_, b.expert), 1, groups_.expert_data), DataExchange{}};
    }

private:
    static void count_alike(std::vector<StageExchanges::Part>& parts, const ChunkBlocks& chunk) {
        using Part = StageExchanges::Part;
        const auto blocks_of = [&](const Part& p) { return std::span(chunk.blocks).subspan(p.first_block, p.count); };
        const auto alike = [&](const Part& a, const Part& b) {
            constexpr auto which = &ChunkBlocks::Block::block_template;
            return a.calls == b.calls && std::ranges::equal(blocks_of(a), blocks_of(b), {}, which, which);
        };
        for (std::size_t i = parts.size(); i-- > 1;)
            if (alike(parts[i - 1], parts[i])) parts[i - 1].alike += parts[i].alike;
    }
    static std::vector<Bucket> one_by_one(const ChunkBlocks& chunk) {
        std::vector<Bucket> each;
        for (int i = static_cast<int>(chunk.blocks.size()); i-- > 0;) {
            const BlockParameters& p = chunk.blocks[static_cast<std::size_t>(i)].parameters;
            each.push_back({i, 1, p.trained.dense, p.trained.expert, p.tensors});
        }
        return each;
    }
    std::array<DataExchange, 3> reduction(const Bucket& bucket) const {
        const auto over = [&](Collective what, double elements, const Group& group) {
            return call(what, gradient_bytes(job_, elements), job_.bucket_rule.calls(elements, bucket.tensors), group);
        };
        const bool shards = plan_.shards_states();
        const Collective what = shards ? Collective::reduce_scatter : Collective::all_reduce;
        return {over(what, bucket.dense, shards ? groups_.shard : groups_.data), over(what, bucket.expert, groups_.expert_data),
                shards ? over(Collective::all_reduce, bucket.dense / plan_.shard_ranks(), groups_.replicas) : DataExchange{}};
    }
    DataExchange call(Collective what, Bytes bytes, int calls, const Group& group) const {
        if (group.ranks < 2 || !(bytes > Bytes{})) return {};
        const Bytes size = bytes / calls;
        const CollectivePrice& price = price_of(what, size, group);
        // All ranks are at the end of their work: none has a core that another waits for.
        return {price.fixed, time_alone(price, group) - price.fixed, size, calls};
    }
    // Most buckets are like the one before.
    const CollectivePrice& price_of(Collective what, Bytes size, const Group& group) const {
        for (const Priced& p : priced_)
            if (p.what == what && p.size == size && p.group == &group) return p.price;
        priced_.push_back({what, size, &group, group_price(what, size, group, job_, r_)});
        return priced_.back().price;
    }

    const Prepared::State& job_;
    const Plan& plan_;
    const Framework& framework_;
    const JobGroups& groups_;
    const Resources& r_;
    struct Priced {
        Collective what;
        Bytes size;
        const Group* group;
        CollectivePrice price;
    };
    mutable std::vector<Priced> priced_;
};

// Most blocks are like the one before.
std::vector<ShardedBlockPrice> sharded_blocks(const Prepared::State& job, std::size_t stage, const Resources& r) {
    std::vector<ShardedBlockPrice> prices;
    const BlockParameters* before = nullptr;
    for (const ChunkBlocks& chunk : job.chunks[stage])
        for (const ChunkBlocks::Block& b : chunk.blocks) {
            const bool is_as_before = before && *before == b.parameters;
            prices.push_back(is_as_before ? prices.back() : price_sharded_block(b.parameters, job, job.groups[stage], r));
            before = &b.parameters;
        }
    return prices;
}

}  // namespace

StageExchanges stage_exchanges(const Prepared::State& job, std::size_t stage, const Resources& r) {
    StageExchanges all;
    if (job.scenario.plan.shards_parameters()) {
        all.of_blocks = sharded_blocks(job, stage, r);
        return all;
    }
    const ExchangesOfStage exchanges(job, stage, r);
    Bucket whole;
    for (const ChunkBlocks& chunk : job.chunks[stage]) {
        if (chunk.alike == 0) all.unlike.push_back(exchanges.of(chunk));
        all.which.push_back(all.unlike.size() - 1);
        for (const Bucket& b : chunk.buckets) whole.dense += b.dense, whole.expert += b.expert;
        for (const StageExchanges::Part& part : all.unlike.back().gathers)
            for (const DataExchange& e : part.calls) all.gathers.add(e);
    }
    if (job.scenario.plan.shards_states()) all.gather_all = exchanges.gather(whole);
    return all;
}

}  // namespace sextant
