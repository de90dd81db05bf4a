#include "model/search/ranking.hpp"

#include "model/report/running_cost.hpp"
#include "model/search/plan_fields.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace sextant {
namespace {

// The best that a plan could come to, in the words of PlanChoice.
struct IdealChoice {
    Seconds step;
    Bytes memory;
    int devices = 1;
    Frequency samples_per_s;
    Joules energy_per_sample;
};

template <class Choice>
double device_seconds_per_sample(const Choice& c) {
    return c.devices / c.samples_per_s.si();
}

// At least as good in throughput, memory and cost. Devices of a job all cost the same.
template <class Choice, class Other>
bool as_good(const Choice& a, const Other& b) {
    return a.samples_per_s >= b.samples_per_s && a.memory <= b.memory && device_seconds_per_sample(a) <= device_seconds_per_sample(b);
}

}  // namespace

bool simpler(const Plan& a, const Plan& b) {
    const auto rank = [](const Plan& p) {
        return std::tuple(p.devices(), p.pp, p.cp, p.tp, p.ep, p.vpp, p.offload, p.data_parallel, p.shard_group.value_or(0), p.recompute,
                          p.recompute_blocks, p.schedule, p.sequence_parallel, p.stage_blocks, p.expert_tp, p.placement, -p.micro_batch,
                          p.global_batch);
    };
    return rank(a) < rank(b);
}

bool same_but_placement(const Plan& a, const Plan& b) {
    return a.global_batch == b.global_batch &&
           std::ranges::all_of(all_plan_fields, [&](PlanField f) { return f == PlanField::placement || same_field(f, a, b); });
}

Ranking::Ranking(const SearchRequest& request)
    : objective_(request.objective),
      top_(static_cast<std::size_t>(std::max(1, request.top))),
      kept_(request.pinned.contains(PlanField::placement) ? top_ : top_ * most_placements),
      rent_(device_rent(request.job).value_or(MoneyRate{}).si()) {
    const NodeSpec& node = request.job.cluster.node;
    idle_ = node.device.idle_power.value + node.base_power.value / node.devices;
}

template <class Choice>
double Ranking::key(const Choice& c) const {
    switch (objective_) {
        case Objective::throughput: return 1 / c.samples_per_s.si();
        case Objective::time: return c.step.si();
        case Objective::cost: return rent_ * device_seconds_per_sample(c);
        case Objective::energy: return c.energy_per_sample.si();
        case Objective::memory: return c.memory.si();
    }
    return 0;
}

std::tuple<double, double, double> Ranking::rank(const PlanChoice& c) const { return {key(c), c.step.si(), c.memory.si()}; }

bool Ranking::ties(const PlanChoice& a, const PlanChoice& b) const {
    const auto near = [](double x, double y) { return std::fabs(x - y) <= 1e-9 * std::fabs(x); };
    return near(key(a), key(b)) && near(a.samples_per_s.si(), b.samples_per_s.si());
}

bool Ranking::admits(const PlanBound& bound) const {
    if (best_.size() < kept_) return true;
    const double batch = static_cast<double>(bound.global_batch);
    const IdealChoice ideal{bound.step, bound.memory, bound.devices, batch / bound.step, bound.devices * idle_ * bound.step / batch};
    if (key(ideal) <= key(best_.back())) return true;
    // Worse than a plan of the front in all that counts, and not only as good.
    // Faster ones come first, and the last of those that are fast enough need least.
    const auto slower = std::ranges::partition_point(front_, [&](const PlanChoice& c) { return c.samples_per_s >= ideal.samples_per_s; });
    return std::none_of(std::reverse_iterator(slower), front_.rend(),
                        [&](const PlanChoice& c) { return as_good(c, ideal) && !as_good(ideal, c); });
}

void Ranking::add(const PlanChoice& c) {
    // The simplest of the plans that come to the same stands for all of them.
    const auto at = std::ranges::lower_bound(best_, rank(c), {}, [&](const PlanChoice& other) { return rank(other); });
    if (at != best_.end() && rank(*at) == rank(c)) {
        if (simpler(c.plan, at->plan)) *at = c;
    } else if (at != best_.end() || best_.size() < kept_) {
        best_.insert(at, c);
        if (best_.size() > kept_) best_.pop_back();
    }
    const auto stands_for = [](const PlanChoice& a, const PlanChoice& b) {
        return as_good(a, b) && (!as_good(b, a) || !simpler(b.plan, a.plan));
    };
    if (std::ranges::any_of(front_, [&](const PlanChoice& other) { return stands_for(other, c); })) return;
    std::erase_if(front_, [&](const PlanChoice& other) { return stands_for(c, other); });
    const auto faster = [](const PlanChoice& a, const PlanChoice& b) {
        return std::tuple(-a.samples_per_s.si(), a.memory.si()) < std::tuple(-b.samples_per_s.si(), b.memory.si());
    };
    front_.insert(std::ranges::upper_bound(front_, c, faster), c);
}

std::vector<PlanChoice> Ranking::best() const {
    std::vector<PlanChoice> list;
    for (const PlanChoice& c : best_) {
        const bool is_new = std::ranges::none_of(list, [&](const PlanChoice& better) { return same_but_placement(better.plan, c.plan); });
        if (is_new && list.size() < top_) list.push_back(c);
    }
    return list;
}

void Ranking::add(const Ranking& other) {
    for (const PlanChoice& c : other.best_) add(c);
    for (const PlanChoice& c : other.front_) add(c);
}

}  // namespace sextant
