#include "model/predict/stage_exchanges.hpp"

#include "model/plan/data_exchanges.hpp"
#include "model/predict/block_price.hpp"
#include "model/predict/parameter_servers.hpp"

#include <algorithm>

namespace sextant {
namespace {

class ExchangesOfStage {
public:
    ExchangesOfStage(const Prepared::State& job, std::size_t stage, const Resources& r)
        : job_(job), plan_(job.scenario.plan), framework_(job.scenario.framework), groups_(job.groups[stage]), r_(r) {}

    StageExchanges::Chunk of(const ChunkBlocks& blocks) const {
        StageExchanges::Chunk chunk;
        const bool reduces_each = reduces_by_block(plan_, framework_), gathers_each = gathers_by_block(framework_);
        const std::vector<Bucket> each = reduces_each || gathers_each ? one_by_one(blocks) : std::vector<Bucket>{};
        const std::vector<Bucket>& reduced = reduces_each ? each : blocks.buckets;
        chunk.reductions.reserve(reduced.size());
        for (const Bucket& b : reduced)
            chunk.reductions.push_back(
                {b.first_block, b.count, reduction(b), held_parameters(b.dense, b.expert, plan_, plan_.has_shards())});
        count_alike(chunk.reductions, blocks);
        if (!plan_.shards_states()) return chunk;
        const std::vector<Bucket>& gathered = gathers_each ? each : blocks.buckets;
        chunk.gathers.reserve(gathered.size());
        for (auto b = gathered.rbegin(); b != gathered.rend(); ++b) chunk.gathers.push_back({b->first_block, b->count, gather(*b)});
        return chunk;
    }
    DataExchangePrices gather(const Bucket& b) const {
        if (plan_.has_servers()) return {pull(b.dense + b.expert)};
        return prices(weight_gathers(plan_, framework_, b), size_of(job_.precision.parameter));
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
        for (int i = static_cast<int>(chunk.blocks.size()); i-- > 0;)
            each.push_back(gradients_of(i, chunk.blocks[static_cast<std::size_t>(i)].parameters));
        return each;
    }
    DataExchangePrices reduction(const Bucket& b) const {
        if (plan_.has_servers()) return {push(b.dense + b.expert)};
        return prices(gradient_exchanges(plan_, job_.scenario.framework, job_.bucket_rule, b), size_of(job_.precision.reduction_type()));
    }
    // To servers that add up what all workers send and update once, or that update with what each worker sends when it comes.
    DataExchangePrice push(double parameters) const {
        const Bytes size = gradient_bytes(job_, parameters), at_server = size * plan_.dp / job_.groups.to_servers.servers;
        const Seconds served = plan_.is_asynchronous() ? server_update_time(job_, at_server) : server_sum_time(job_, at_server);
        return {{}, push_time(job_, size, r_), size, 1, served};
    }
    DataExchangePrice pull(double parameters) const {
        const Bytes size = weight_bytes(job_, parameters), at_server = gradient_bytes(job_, parameters) / job_.groups.to_servers.servers;
        const Seconds updated = plan_.is_asynchronous() ? Seconds{} : server_update_time(job_, at_server);
        return {updated, server_way_time(job_, size, r_), size, 1};
    }
    template <std::size_t n>
    DataExchangePrices prices(const std::array<DataExchange, n>& exchanges, Bytes element) const {
        DataExchangePrices list;
        for (std::size_t i = 0; i < n; ++i) list[i] = price(exchanges[i], element);
        return list;
    }
    DataExchangePrice price(const DataExchange& e, Bytes element) const {
        const Group& group = groups_[e.group];
        if (group.ranks < 2 || !(e.elements > 0)) return {};
        const Bytes size = e.elements * element / e.calls;
        const CollectivePrice& one = price_of(collective_of(e.kind), size, group);
        // All ranks have ended their work, so no rank waits for a core that another one has.
        return {one.fixed, time_alone(one, group) - one.fixed, size, e.calls};
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

Seconds pieces_time(const Group& group, const Prepared::State& job) {
    return group.ranks > 1 ? group.ranks * job.scenario.framework.list_of_pieces.value : Seconds{};
}

ShardedBlockPrice price_sharded_block(const BlockParameters& p, const Prepared::State& job, const JobGroups& g, const Resources& r) {
    const Plan& plan = job.scenario.plan;
    const auto time = [&](const auto& exchanges, Bytes element, Seconds wait) {
        Seconds all;
        for (const DataExchange& e : exchanges) {
            const Group& group = g[e.group];
            if (group.ranks < 2 || !(e.elements > 0)) continue;
            all +=
                wait + pieces_time(group, job) + time_alone(group_price(collective_of(e.kind), e.elements * element, group, job, r), group);
        }
        return all;
    };
    // For weights a rank waits, whoever has its core; from gradients it goes on.
    return {time(weight_gathers(plan, job.scenario.framework, weights_of(0, p)), size_of(job.precision.parameter), job.nodes.turn),
            time(gradient_exchanges(plan, job.scenario.framework, job.bucket_rule, gradients_of(0, p)),
                 size_of(job.precision.reduction_type()), {})};
}

Seconds StageExchanges::time() const {
    Seconds all = gathers.time(1);
    for (const ShardedBlockPrice& block : of_blocks) all += block.gather + block.scatter;
    for (const std::size_t kind : kind_of)
        for (const Part& part : kinds[kind].reductions)
            for (const DataExchangePrice& e : part.calls) all += e.time(1);
    return all;
}

StageExchanges stage_exchanges(const Prepared::State& job, std::size_t stage, const Resources& r) {
    StageExchanges all;
    if (job.scenario.plan.shards_parameters()) {
        all.of_blocks = sharded_blocks(job, stage, r);
        return all;
    }
    const ExchangesOfStage exchanges(job, stage, r);
    Bucket whole;
    for (const ChunkBlocks& chunk : job.chunks[stage]) {
        if (chunk.alike == 0) all.kinds.push_back(exchanges.of(chunk));
        all.kind_of.push_back(all.kinds.size() - 1);
        for (const Bucket& b : chunk.buckets) {
            whole.dense += b.dense;
            whole.expert += b.expert;
            whole.tensors += b.tensors;
        }
        for (const StageExchanges::Part& part : all.kinds.back().gathers)
            for (const DataExchangePrice& e : part.calls) all.gathers.add(e);
    }
    if (job.scenario.plan.shards_states() || job.scenario.plan.has_servers()) all.gather_all = exchanges.gather(whole);
    return all;
}

}  // namespace sextant
