#include "model/search/cut_search.hpp"

#include "model/plan/framework_defaults.hpp"
#include "model/plan/gradient_accumulation.hpp"
#include "model/plan/offload.hpp"
#include "model/search/stage_split.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace sextant {
namespace {

// Bounds and prices are sums of the same numbers in another order.
constexpr double rounding = 1 - 1e-9;

// A condition on memory is one more limit to it, which recomputing more may meet.
Bytes memory_limit(const SearchRequest& request, Bytes limit) {
    for (const Condition& c : request.where) {
        if (c.quantity != "memory" || !asks_for_less(c)) continue;
        if (const auto value = parse_quantity(c.value, unit_table<Bytes>()).si) limit = std::min(limit, Bytes::from_si(*value));
    }
    return limit;
}

// What the machine is to a job depends on how many devices work, not on what each of them does.
Scenario on_devices_of(const PlanSpace& space) {
    Scenario job = space.job;
    job.plan.tp = job.plan.pp = job.plan.cp = 1;
    job.plan.dp = space.devices;
    return job;
}

}  // namespace

NearestValues values_asked_of(const std::vector<NamedQuantity>& quantities, const std::vector<Condition>& where) {
    NearestValues values;
    for (const Condition& c : where) values.emplace_back(quantity_of(c, quantities)->si);
    return values;
}

CutSearch::CutSearch(const SearchRequest& request, const PlanSpace& space, const Topology& topology, KnownOrders& orders,
                     const Ranking& known)
    : request_(request),
      space_(space),
      pricer_(on_devices_of(space), topology, orders),
      room_(memory_limit(request, pricer_.device_memory())),
      found_{known, {}, {}} {}

CutFindings CutSearch::run(const Plan& cut, const std::atomic<bool>& stop) && {
    for (const Plan& layout : layouts(space_, cut)) try_layout(layout, stop);
    return std::move(found_);
}

void CutSearch::try_layout(const Plan& layout, const std::atomic<bool>& stop) {
    if (layout.pp != pricer_.scenario().plan.pp) {
        balanced_.clear();
        too_large_.clear();
    }
    pricer_.lay_out(layout);
    const std::vector<Plan> shared = sharings(space_, layout);
    for (const Plan& shape : shapes(space_, layout)) {
        const std::vector<Plan> all_scheduled = schedules(space_, shape);
        for (const Plan& family : recompute_families(space_, shape)) {
            if (stop) return;
            for (const Plan& scheduled : all_scheduled) {
                try_schedule(scheduled, family, shared);
                if (const auto balanced = with_balanced_stages(scheduled, family)) try_schedule(*balanced, family, shared);
            }
        }
    }
}

// The split goes by the times of the first shape, which has the smallest micro-batch. Where the pipeline turns back, each chunk is
// balanced.
std::optional<Plan> CutSearch::with_balanced_stages(const Plan& scheduled, const Plan& family) {
    const bool has_one_split = scheduled.vpp == 1 || turns_back(scheduled.schedule);
    if (scheduled.pp == 1 || !has_one_split || !space_.is_free(PlanField::stage_blocks)) return {};
    auto known = balanced_.find(scheduled.vpp);
    if (known == balanced_.end()) {
        if (!pricer_.shape(family)) return {};
        pricer_.schedule(scheduled);
        const auto split = balanced_split(pricer_.block_times(), pricer_.blocks_of_virtual_stages());
        known = balanced_.emplace(scheduled.vpp, split.value_or(std::vector<int>{})).first;
    }
    if (known->second.empty()) return {};
    Plan plan = scheduled;
    plan.stage_blocks = known->second;
    return plan;
}

// Where gradients do not stay, or have memory beside their sums, those of one micro-batch need no room beside those that were added up
// before, and those of chunks that do all their micro-batches in turn need it for two chunks.
bool CutSearch::adds_up_less(const Plan& scheduled, const Plan& shared, std::int64_t micro_batches) const {
    const Framework& framework = space_.job.framework;
    const bool every = reduces_every_micro_batch(shared, framework);
    const bool waits = shared.shards_gradients() ? !every : every && framework.sums_gradients_apart;
    return gradient_accumulation(scheduled, micro_batches) != GradientAccumulation::all && (waits || offloads_gradients(shared, framework));
}

// What does not fit, whatever is recomputed, does not fit where ranks stand elsewhere, nor with a larger micro-batch: as many samples or
// more are in flight. Where the pipeline turns back, which chunk is at work at the fullest moment depends on how few micro-batches there
// are.
bool CutSearch::is_too_large(std::int64_t known, const Plan& scheduled, const Plan& family, const Plan& shared) const {
    if (!request_.prune || family.micro_batch < known) return false;
    if (family.micro_batch == known) return true;
    const bool as_many = !turns_back(scheduled.schedule) || family.micro_batches() >= micro_batches_until_full(scheduled.pp);
    return as_many && !adds_up_less(scheduled, shared, family.micro_batches());
}

void CutSearch::try_schedule(const Plan& scheduled, const Plan& family, const std::vector<Plan>& shared) {
    const ScheduleKey key{family.sequence_parallel, family.recompute, scheduled.schedule, scheduled.vpp, scheduled.stage_blocks.empty()};
    std::vector<std::int64_t>& too_large = too_large_[key];
    too_large.resize(shared.size(), std::numeric_limits<std::int64_t>::max());
    std::optional<Seconds> least;  // once it is needed: where all of a shape is ruled out unseen, it is not made
    for (std::size_t i = 0; i < shared.size(); ++i) {
        if (is_too_large(too_large[i], scheduled, family, shared[i])) {
            ++found_.counts.pruned;
            continue;
        }
        if (!least) {
            if (!pricer_.shape(family)) return;
            pricer_.schedule(scheduled);
            pricer_.recompute(family.recompute, family.recompute_blocks);
            least = pricer_.least_passes_of_kernels();
        }
        pricer_.share(shared[i].data_parallel, shared[i].shard_group, shared[i].offload);
        const bool ruled_out = request_.prune && !admits(*least, pricer_.held());
        if (ruled_out) ++found_.counts.pruned;
        const bool fits = ruled_out ? fits_whatever_it_takes(family) : try_sharing(family);
        if (!fits) too_large[i] = std::min(too_large[i], family.micro_batch);
    }
    if (least) price_what_fits();
}

bool CutSearch::fits(Bytes memory) { return memory <= room_ && pricer_.fits_host(); }

// With everything recomputed that can be, or with no more than the family says: a block's input may be more than what its backward reads.
bool CutSearch::fits_whatever_it_takes(const Plan& family) {
    const int layers = pricer_.layers();
    if (const auto whole = recompute_setting(space_, family, layers, layers)) {
        pricer_.recompute(whole->recompute, whole->blocks);
        if (fits(pricer_.memory())) return true;
    }
    pricer_.recompute(family.recompute, family.recompute_blocks);
    return fits(pricer_.memory());
}

// Tries the plan with nothing recomputed beyond what the family says, with everything, and if need be with something between. Returns
// whether any fits.
bool CutSearch::try_sharing(const Plan& family) {
    pricer_.recompute(family.recompute, family.recompute_blocks);
    const bool fits = try_plan();
    const int layers = pricer_.layers();
    const auto whole = recompute_setting(space_, family, layers, layers);
    if (!whole || layers == 0) return fits;
    pricer_.recompute(whole->recompute, whole->blocks);
    const bool whole_fits = try_plan();
    if (fits || !whole_fits) return fits || whole_fits;
    if (const int fewest = fewest_recomputed_blocks(family, layers); fewest < layers) {
        recompute(family, fewest, layers);
        try_plan();
    }
    return true;
}

void CutSearch::recompute(const Plan& family, int blocks, int layers) {
    const auto setting = recompute_setting(space_, family, blocks, layers);
    pricer_.recompute(setting->recompute, setting->blocks);
}

// Called where it does not fit with no block recomputed and fits with all; each recomputed block needs less.
int CutSearch::fewest_recomputed_blocks(const Plan& family, int layers) {
    int too_few = 0, enough = layers;
    while (enough - too_few > 1) {
        const int middle = (too_few + enough) / 2;
        recompute(family, middle, layers);
        (fits(pricer_.memory()) ? enough : too_few) = middle;
    }
    return enough;
}

bool CutSearch::try_plan() {
    const Bytes memory = pricer_.memory();
    if (!fits(memory)) {
        ++found_.counts.too_large;
        auto& smallest = found_.smallest;
        if (!smallest || memory < smallest->memory) {
            smallest.emplace();
            smallest->plan = pricer_.scenario().plan;
            smallest->memory = memory;
        }
        return false;
    }
    if (request_.prune && (!admits(pricer_.least_step_of_kernels(), memory) || !admits(pricer_.least_step(), memory)))
        ++found_.counts.pruned;
    else
        pricer_.defer(memory);
    return true;
}

void CutSearch::price_what_fits() {
    const auto worth = [this](Seconds least, Bytes memory) {
        const bool may_be_good = admits(least, memory);
        if (!may_be_good) ++found_.counts.pruned;
        return may_be_good;
    };
    const auto take = [this](const StepPrice& step, Bytes memory) {
        ++found_.counts.priced;
        if (!admits(step.terms.total(), memory)) return;
        judge(plan_choice(pricer_.scenario(), step.terms, memory));
    };
    pricer_.price_deferred(take, request_.prune ? PlanPricer::Worth(worth) : nullptr);
}

void CutSearch::judge(const PlanChoice& choice) {
    const std::vector<Condition>& where = request_.where;
    if (where.empty()) return found_.ranking.add(choice);
    const std::vector<NamedQuantity> quantities = named_quantities(choice);
    if (std::ranges::all_of(where, [&](const Condition& c) { return holds(c, quantities); })) return found_.ranking.add(choice);
    if (found_.ranking.leader() != nullptr) return;
    merge_nearest(found_.nearest, where, values_asked_of(quantities, where));
}

bool CutSearch::admits(Seconds step, Bytes memory) const {
    const Plan& plan = pricer_.scenario().plan;
    return found_.ranking.admits({rounding * step, memory, plan.devices(), plan.global_batch});
}

}  // namespace sextant
