#include "model/search/cut_search.hpp"

#include "model/search/stage_split.hpp"

#include <algorithm>
#include <utility>

namespace sextant {
namespace {

// Bounds and prices are sums of the same numbers in another order.
constexpr double rounding = 1 - 1e-9;

// A condition on memory is one more limit to it: who wants less used may let more run again.
Bytes memory_limit(const SearchRequest& request, Bytes limit) {
    for (const Condition& c : request.where) {
        const bool is_limit = c.quantity == "memory" && (c.relation == Relation::less || c.relation == Relation::less_equal);
        if (!is_limit) continue;
        if (const auto value = parse_quantity(c.value, unit_table<Bytes>()).si) limit = std::min(limit, Bytes::from_si(*value));
    }
    return limit;
}

}  // namespace

CutSearch::CutSearch(const SearchRequest& request, const PlanSpace& space, const Topology& topology, const Ranking& known)
    : request_(request),
      space_(space),
      pricer_(space.job, topology),
      room_(memory_limit(request, pricer_.device_memory())),
      ranking_(known) {}

void CutSearch::run(const Plan& cut, const std::atomic<bool>& stop) {
    for (const Plan& layout : layouts(space_, cut)) try_layout(layout, stop);
}

void CutSearch::try_layout(const Plan& layout, const std::atomic<bool>& stop) {
    pricer_.lay_out(layout);
    const std::vector<Plan> shared = sharings(space_, layout);
    for (const Plan& shape : shapes(space_, layout)) {
        std::vector<Plan> orders = schedules(space_, shape);
        bool split = false;
        for (const Plan& family : recompute_families(space_, shape)) {
            if (stop || orders.empty() || !pricer_.shape(family)) break;
            if (!std::exchange(split, true)) add_balanced(orders);
            try_orders(orders, family, shared);
        }
    }
}

// Where stages of one chunk may hold other numbers of blocks than even ones, each such order once more.
void CutSearch::add_balanced(std::vector<Plan>& orders) {
    if (!space_.is_free(PlanField::stage_blocks)) return;
    const auto one_chunk = std::ranges::find(orders, 1, &Plan::vpp);
    if (one_chunk == orders.end() || one_chunk->pp == 1) return;
    pricer_.order(*one_chunk);
    const auto split = balanced_split(pricer_.block_times(), pricer_.blocks_of_stages());
    if (!split) return;
    const std::size_t even = orders.size();
    for (std::size_t i = 0; i < even; ++i) {
        if (orders[i].vpp > 1) continue;
        Plan balanced = orders[i];
        balanced.stage_blocks = *split;
        orders.push_back(std::move(balanced));
    }
}

void CutSearch::try_orders(const std::vector<Plan>& orders, const Plan& family, const std::vector<Plan>& shared) {
    for (const Plan& order : orders) {
        pricer_.order(order);
        pricer_.run_again(family);
        const int layers = pricer_.layers();
        for (const Plan& sharing : shared) {
            pricer_.share(sharing);
            pricer_.run_again(family);
            const bool fits = try_plan();
            const auto whole = with_recomputed_blocks(space_, family, layers, layers);
            if (!whole || layers == 0) continue;
            pricer_.run_again(*whole);
            if (!try_plan() || fits) continue;
            if (const auto fewest = fewest_blocks_again(family, layers)) {
                pricer_.run_again(*fewest);
                try_plan();
            }
        }
    }
}

// Where no block need run again nothing fits, and where all do it does: the fewest, unless those are all. What is kept shrinks with each.
std::optional<Plan> CutSearch::fewest_blocks_again(const Plan& family, int layers) {
    int too_few = 0, enough = layers;
    while (enough - too_few > 1) {
        const int middle = (too_few + enough) / 2;
        pricer_.run_again(*with_recomputed_blocks(space_, family, middle, layers));
        (pricer_.memory() <= room_ ? enough : too_few) = middle;
    }
    if (enough == layers) return {};
    return with_recomputed_blocks(space_, family, enough, layers);
}

bool CutSearch::try_plan() {
    const Bytes memory = pricer_.memory();
    if (memory > room_) {
        ++counts_.too_large;
        if (!smallest_ || memory < smallest_->memory) {
            smallest_.emplace();
            smallest_->plan = pricer_.scenario().plan;
            smallest_->memory = memory;
        }
        return false;
    }
    if (request_.prune && (!admits(pricer_.least_step_of_kernels(), memory) || !admits(pricer_.least_step(), memory) ||
                           !admits(pricer_.least_step_before_play(), memory))) {
        ++counts_.pruned;
        return true;
    }
    ++counts_.priced;
    const Terms terms = pricer_.price().terms;
    if (!admits(terms.total(), memory)) return true;
    const PlanChoice choice = plan_choice(pricer_.scenario(), terms, memory);
    const auto meets = [&](const Condition& c) { return holds(c, named_quantities(choice)); };
    if (std::ranges::all_of(request_.where, meets)) ranking_.add(choice);
    return true;
}

bool CutSearch::admits(Seconds step, Bytes memory) const {
    const Plan& plan = pricer_.scenario().plan;
    return ranking_.admits({rounding * step, memory, plan.devices(), plan.global_batch});
}

}  // namespace sextant
