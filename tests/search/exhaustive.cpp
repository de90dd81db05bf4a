#include "tests/search/exhaustive.hpp"

#include "model/plan/virtual_stages.hpp"
#include "model/predict/stage_work.hpp"
#include "model/search/ranking.hpp"
#include "model/search/stage_split.hpp"

#include <algorithm>

namespace sextant {
namespace {

class Exhaustive {
public:
    explicit Exhaustive(const SearchRequest& request) : request_(request), ranking_(request) {}

    SearchResult run() {
        for (const int devices : request_.devices) search(plan_space(request_.job, request_.pinned, devices));
        SearchResult result;
        result.best = ranking_.best();
        result.front = ranking_.front();
        result.counts = counts_;
        return result;
    }

private:
    void search(const PlanSpace& space) {
        for (const Plan& cut : cuts(space))
            for (const Plan& layout : layouts(space, cut))
                for (const Plan& sharing : sharings(space, layout))
                    for (const Plan& shape : shapes(space, sharing))
                        for (const Plan& order : schedules(space, shape))
                            for (const Plan& family : recompute_families(space, order)) try_splits(space, family);
    }

    void try_splits(const PlanSpace& space, const Plan& family) {
        std::optional<std::vector<int>> split;
        try {
            if (!request_.pinned.contains(PlanField::stage_blocks) && family.pp > 1 && (family.vpp == 1 || turns_back(family.schedule)))
                split = balanced(space, family);
            try_recompute(space, family);
        } catch (const InputError&) {
            return;  // the network does not divide so
        }
        if (!split) return;
        Plan plan = family;
        plan.stage_blocks = *split;
        try_recompute(space, plan);
    }

    // By the times of the first shape.
    std::optional<std::vector<int>> balanced(const PlanSpace& space, Plan plan) {
        const Plan first = shapes(space, plan).front();
        plan.micro_batch = first.micro_batch;
        plan.sequence_parallel = first.sequence_parallel;
        if (!turns_back(plan.schedule)) plan.schedule = Schedule::one_f_one_b;
        plan.stage_blocks.clear();
        plan.data_parallel = DataParallel::all_reduce;  // who adds up whole gradients
        plan.shard_group.reset();
        const Prepared prepared = prepare(with_plan(request_.job, plan));
        const Prepared::State& job = prepared.state();
        std::vector<Seconds> times;
        std::vector<int> even;
        const auto segments = price_blocks(job, kernel_times(job, {}), job.groups.kinds.front(), {});
        const VirtualStages where(plan);
        for (std::size_t v = 0; v < where.size(); ++v) {
            const std::vector<ChunkBlocks::Block>& blocks = job.chunks[where.stage_of(v)][where.chunk_of(v)].blocks;
            even.push_back(static_cast<int>(blocks.size()));
            for (const ChunkBlocks::Block& b : blocks) {
                const SegmentPrice& price = segments[static_cast<std::size_t>(b.block_template)];
                times.push_back(price.forward.device + price.backward.device);
            }
        }
        return balanced_split(times, even);
    }

    void try_recompute(const PlanSpace& space, const Plan& family) {
        bool fits = try_plan(family);
        const Prepared job = prepare(with_plan(request_.job, family));
        const int layers = std::ranges::max(job.state().stages, {}, &StageBlocks::layers).layers;
        for (int k = 1; k <= layers; ++k) {
            const auto again = recompute_setting(space, family, k, layers);
            if (!again) return;
            Plan more = family;
            more.recompute = again->recompute;
            more.recompute_blocks = again->blocks;
            if (!fits || k == layers) fits = try_plan(more);
        }
    }

    bool try_plan(const Plan& plan) {
        const Scenario job = with_plan(request_.job, plan);
        const Estimate e = estimate(prepare(job));
        ++(e.fits() ? counts_.priced : counts_.too_large);
        if (e.fits()) ranking_.add(plan_choice(job, e.terms, e.peak_memory));
        return e.fits();
    }

    const SearchRequest& request_;
    Ranking ranking_;
    SearchCounts counts_;
};

}  // namespace

SearchResult search_exhaustively(const SearchRequest& request) { return Exhaustive(request).run(); }

}  // namespace sextant
