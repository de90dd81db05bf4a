#include "model/search/search.hpp"

#include "model/base/enum_names.hpp"
#include "model/base/list_text.hpp"
#include "model/plan/partition.hpp"
#include "model/plan/plan_features.hpp"
#include "model/report/running_cost.hpp"
#include "model/search/cut_search.hpp"
#include "model/search/plan_fields.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

namespace sextant {
namespace {

// All plans on one number of devices with one global batch.
struct Part {
    PlanSpace space;
    std::shared_ptr<const Topology> topology;  // of all parts of that size
};

std::vector<Part> parts_of(const SearchRequest& request) {
    std::vector<int> sizes = request.devices;
    std::vector<std::int64_t> batches = request.global_batches;
    if (sizes.empty()) sizes.push_back(request.job.plan.devices());
    if (batches.empty()) batches.push_back(request.job.plan.global_batch);
    std::vector<Part> parts;
    std::vector<Diagnostic> problems;  // of the first number of devices that cannot be
    int others = 0;
    for (const int devices : sizes) {
        Scenario job = request.job;
        // Do so many devices exist, and reach each other?
        job.plan = {};
        job.plan.dp = devices;
        job.plan.global_batch = devices;
        const bool as_given = devices == request.job.plan.devices();  // where a scheduler put ranks is known of that many
        if (!as_given) job.cluster.node_numbers.clear();
        job.plan.scattered = request.job.plan.scattered;
        job.plan.devices_per_node = request.job.plan.devices_per_node;
        if (as_given) job.plan.node_ranks = request.job.plan.node_ranks;
        const auto wrong = check_plan(job);
        if (!wrong.empty() && !problems.empty()) ++others;
        if (problems.empty()) problems = wrong;
        if (!wrong.empty()) continue;
        const auto topology = std::make_shared<const Topology>(Topology::build(job.cluster, used_nodes(job), uses_sockets(job)));
        for (const std::int64_t batch : batches) {
            job.plan = request.job.plan;
            if (!as_given) job.plan.node_ranks.clear();
            job.plan.global_batch = batch;
            parts.push_back({plan_space(job, request.pinned, devices), topology});
        }
    }
    if (problems.empty()) return parts;
    if (others > 0) problems.front().what += ", and " + std::to_string(others) + " more of the numbers asked for cannot be";
    throw InputError(std::move(problems));
}

// Refuses conditions on quantities that are not known, and to look for the cheapest plan without a price.
void check(const SearchRequest& request, std::optional<MoneyRate> rent) {
    const std::vector<NamedQuantity> known = searched_quantities(request.job);
    for (const Condition& c : request.where) static_cast<void>(holds(c, known));
    if (request.objective == Objective::cost && !rent)
        throw InputError(Diagnostic{request.job.file, "/run/price", "the cheapest plan is asked for, and nothing says what a device costs",
                                    "\"run\": {\"price\": \"2.50 USD/h\"}"});
}

// Names the pins that contradict each other, or the devices: a pin without which there would still be no plan is left out.
Diagnostic refusal(const std::vector<Part>& parts) {
    const PlanSpace& first = parts.front().space;
    if (const Framework& f = first.job.framework; std::ranges::none_of(parts, [](const Part& p) { return reaches_all(p.space); }))
        return {first.job.file, "/framework",
                "no plan can be: " + f.title + " has no " + std::string(to_text(PlanFeature::several_nodes)) + " for so many devices",
                "the devices of one node, or another framework"};
    const auto any = [&](const std::set<PlanField>& pinned) {
        return std::ranges::any_of(parts, [&](const Part& p) {
            return has_plans({p.space.job, pinned, p.space.devices, p.space.blocks, p.space.layers});
        });
    };
    std::set<PlanField> pinned = first.pinned;
    for (const PlanField field : first.pinned) {
        std::set<PlanField> fewer = pinned;
        fewer.erase(field);
        if (!any(fewer)) pinned = std::move(fewer);
    }
    std::string names, devices;
    for (const PlanField field : pinned) append_to_list(names, pin_text(field, first.job.plan));
    for (const Part& part : parts) {
        const std::string number = std::to_string(part.space.devices);
        if (!devices.ends_with(number)) append_to_list(devices, number);
    }
    if (names.empty()) names = "a global batch of " + std::to_string(first.job.plan.global_batch);
    return {first.job.file, "/plan",
            "no plan can be: nothing goes with " + names + " on " + devices + (devices == "1" ? " device" : " devices"),
            pinned.empty() ? "look at other numbers of devices, at another global batch, or under another framework"
                           : "pin less, or look at other numbers of devices"};
}

// One cut of one part: what one thread searches at a time.
struct Unit {
    const Part* part = nullptr;
    Plan cut;
};

// Plans that cut layers least come first: they are often the best, and what is best so far rules out the rest.
std::vector<Unit> units_of(const std::vector<Part>& parts) {
    std::vector<Unit> units;
    for (const Part& part : parts)
        for (Plan& cut : cuts(part.space)) units.push_back({&part, std::move(cut)});
    std::ranges::stable_sort(units, {}, [](const Unit& u) { return std::int64_t{u.cut.tp} * u.cut.cp; });
    return units;
}

// Runs `work` on this thread, which reports, and on as many others as the system starts. What one of them throws stops all and is thrown
// here.
void in_threads(int threads, std::atomic<bool>& stop, const std::function<void(bool reports)>& work) {
    std::exception_ptr failure;
    std::mutex mutex;
    const auto guarded = [&](bool reports) {
        try {
            work(reports);
        } catch (...) {
            stop = true;
            const std::lock_guard lock(mutex);
            failure = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> others;
        try {
            while (static_cast<int>(others.size()) + 1 < threads) others.emplace_back(guarded, false);
        } catch (const std::system_error&) {  // there are no more: those that run do it all
        }
        guarded(true);
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace

std::string_view to_text(Objective o) {
    static constexpr std::string_view names[objective_count] = {"throughput", "time", "cost", "energy", "memory"};
    return names[static_cast<std::size_t>(o)];
}

std::optional<Objective> objective(std::string_view name) { return enumerator_named(name, all_objectives); }

std::vector<NamedQuantity> named_quantities(const PlanChoice& c) {
    std::vector<NamedQuantity> list = {{"step_time", c.step},
                                       {"memory", c.memory},
                                       {"devices", static_cast<double>(c.devices)},
                                       {"samples_per_s", c.samples_per_s},
                                       {"energy_per_sample", c.energy_per_sample}};
    if (c.cost_per_sample) list.emplace_back("cost_per_sample", *c.cost_per_sample);
    return list;
}

std::vector<NamedQuantity> searched_quantities(const Scenario& job) {
    PlanChoice any;
    if (device_rent(job)) any.cost_per_sample = Money{};
    return named_quantities(any);
}

Scenario with_plan(const Scenario& job, const Plan& plan) {
    Scenario s = job;
    s.plan = plan;
    return s;
}

PlanChoice plan_choice(const Scenario& job, const Terms& terms, Bytes memory) {
    PlanChoice c;
    c.plan = job.plan;
    c.step = terms.total();
    c.memory = memory;
    c.devices = job.plan.devices();
    const double batch = static_cast<double>(job.plan.global_batch);
    c.samples_per_s = batch / c.step;
    if (const auto rent = device_rent(job)) c.cost_per_sample = c.devices * (*rent * c.step) / batch;
    c.energy_per_sample = power_drawn(job, utilization(terms, job.plan), c.devices) * c.step / batch;
    return c;
}

namespace {

// A plan that was too large for a condition on memory, and not for its devices.
void count_as_ruled_out(SearchResult& result, const std::vector<Condition>& where) {
    --result.counts.too_large;
    ++result.counts.priced;
    merge_nearest(result.nearest, where, values_asked_of(named_quantities(*result.smallest), where));
    result.smallest.reset();
}

// Adds what one unit of work found to what is known.
void add_findings(SearchResult& result, Ranking& ranking, const CutFindings& found, const std::vector<Condition>& where) {
    ranking.add(found.ranking);
    result.counts += found.counts;
    merge_nearest(result.nearest, where, found.nearest);
    const auto& smallest = found.smallest;
    if (smallest && (!result.smallest || smallest->memory < result.smallest->memory)) result.smallest = smallest;
}

// Bounds have ruled the smallest plan out before it was priced.
void price_smallest(SearchResult& result, const SearchRequest& request) {
    const Scenario smallest = with_plan(request.job, result.smallest->plan);
    const Estimate e = estimate(prepare(smallest));
    result.smallest = plan_choice(smallest, e.terms, result.smallest->memory);
    if (e.fits()) count_as_ruled_out(result, request.where);
}

}  // namespace

void merge_nearest(NearestValues& nearest, const std::vector<Condition>& where, const NearestValues& others) {
    if (others.empty()) return;
    nearest.resize(where.size());
    for (std::size_t i = 0; i < where.size(); ++i) nearest[i] = nearer(where[i], nearest[i], others[i]);
}

SearchCounts& SearchCounts::operator+=(const SearchCounts& o) {
    priced += o.priced;
    too_large += o.too_large;
    pruned += o.pruned;
    return *this;
}

// Works in rounds, each of which knows only what those before it found, so what is pruned does not depend on which thread is faster.
SearchResult search(const SearchRequest& request, const std::function<bool(const SearchProgress&)>& progress) {
    const std::optional<MoneyRate> rent = device_rent(request.job);
    check(request, rent);
    const auto parts = parts_of(request);
    const std::vector<Unit> units = units_of(parts);

    Ranking ranking(request);
    KnownOrders orders;
    SearchResult result;
    std::atomic<bool> stop = false;
    std::vector<std::optional<CutFindings>> found(units.size());
    for (std::size_t begin = 0, round = 1; begin < units.size() && !stop; begin += round, round *= 2) {
        const std::size_t end = std::min(units.size(), begin + round);
        std::atomic<std::size_t> next = begin, done = begin;
        const auto work = [&](bool reports) {
            for (std::size_t i = next++; i < end && !stop; i = next++) {
                const Part& part = *units[i].part;
                found[i] = CutSearch(request, part.space, *part.topology, orders, ranking).run(units[i].cut, stop);
                ++done;
                if (!reports || !progress) continue;
                if (!progress({static_cast<double>(done) / static_cast<double>(units.size()), result.counts, ranking.leader()}))
                    stop = true;
            }
        };
        in_threads(std::min(request.threads, static_cast<int>(end - begin)), stop, work);
        for (std::size_t i = begin; i < end; ++i) {
            if (!found[i]) continue;
            add_findings(result, ranking, *found[i], request.where);
            found[i].reset();
        }
    }
    result.complete = !stop;
    if (result.counts.all() == 0 && result.complete) throw InputError(refusal(parts));
    result.best = ranking.best();
    result.front = ranking.front();
    if (!result.best.empty()) {
        result.smallest.reset();
        result.nearest.clear();
    }
    if (result.smallest) price_smallest(result, request);
    return result;
}

}  // namespace sextant
