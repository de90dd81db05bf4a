#include "model/search/search.hpp"

#include "model/predict/estimate.hpp"
#include "model/report/running_cost.hpp"
#include "model/search/ranking.hpp"

#include <algorithm>
#include <array>

namespace sextant {
namespace {

constexpr std::array<std::string_view, 5> objective_names{"throughput", "time", "cost", "energy", "memory"};

PlanChoice choice_of(const Scenario& scenario, const Estimate& e) {
    PlanChoice c;
    c.plan = scenario.plan;
    c.step = e.step;
    c.memory = e.peak_memory;
    c.devices = scenario.plan.devices();
    const double batch = static_cast<double>(scenario.plan.global_batch);
    c.samples_per_s = batch / e.step;
    if (const auto rent = device_rent(scenario)) c.cost_per_sample = c.devices * (*rent * e.step) / batch;
    c.energy_per_sample = power_drawn(scenario, utilization(e.terms), c.devices) * e.step / batch;
    return c;
}

void each_plan(const PlanSpace& space, const std::function<void(const Plan&)>& visit) {
    for (const Plan& cut : cuts(space))
        for (const Plan& layout : layouts(space, cut))
            for (const Plan& sharing : sharings(space, layout))
                for (const Plan& shape : shapes(space, sharing))
                    for (const Plan& schedule : schedules(space, shape))
                        for (const Plan& family : recompute_families(space, schedule)) visit(family);
}

}  // namespace

std::string_view to_text(Objective o) { return objective_names[static_cast<std::size_t>(o)]; }

std::optional<Objective> objective(std::string_view name) {
    const auto found = std::ranges::find(objective_names, name);
    if (found == objective_names.end()) return {};
    return static_cast<Objective>(found - objective_names.begin());
}

std::vector<NamedQuantity> named_quantities(const PlanChoice& c) {
    std::vector<NamedQuantity> list = {{"step_time", c.step.si(), &unit_table<Seconds>()},
                                       {"memory", c.memory.si(), &unit_table<Bytes>()},
                                       {"devices", static_cast<double>(c.devices), nullptr},
                                       {"samples_per_s", c.samples_per_s.si(), nullptr},
                                       {"energy_per_sample", c.energy_per_sample.si(), &unit_table<Joules>()}};
    if (c.cost_per_sample) list.push_back({"cost_per_sample", c.cost_per_sample->si(), &unit_table<Money>()});
    return list;
}

Scenario with_plan(const Scenario& job, const Plan& plan) {
    Scenario s = job;
    s.plan = plan;
    return s;
}

SearchResult search(const SearchRequest& request, const std::function<bool(const SearchProgress&)>& progress) {
    std::vector<int> sizes = request.devices;
    if (sizes.empty()) sizes.push_back(request.job.plan.devices());
    Ranking ranking(request, device_rent(request.job), {});
    SearchResult result;
    for (const int devices : sizes) {
        const PlanSpace space = plan_space(request.job, request.pinned, devices);
        each_plan(space, [&](const Plan& plan) {
            if (!result.complete) return;
            const auto price = [&](const Plan& p) {
                const Scenario s = with_plan(request.job, p);
                const Estimate e = estimate(prepare(s));
                const PlanChoice c = choice_of(s, e);
                if (!result.smallest || c.memory < result.smallest->memory) result.smallest = c;
                ++(e.fits ? result.counts.priced : result.counts.too_large);
                const auto meets = [&](const Condition& condition) { return holds(condition, named_quantities(c)); };
                if (e.fits && std::ranges::all_of(request.where, meets)) ranking.add(c);
                return e.fits;
            };
            try {
                bool fits = price(plan);
                const int layers = space.blocks / plan.pp + 1;
                for (int k = 1; !fits && k <= layers; ++k) {
                    const auto more = with_recomputed_blocks(space, plan, k, layers);
                    if (!more) break;
                    fits = price(*more);
                }
            } catch (const InputError&) {  // the network does not divide so
            }
            if (progress && !progress({0, result.counts, ranking.best().empty() ? nullptr : &ranking.best().front()}))
                result.complete = false;
        });
    }
    result.best = ranking.best();
    result.front = ranking.front();
    if (!result.best.empty()) result.smallest.reset();
    return result;
}

}  // namespace sextant
