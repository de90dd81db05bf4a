#include "model/search/scaling.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

std::vector<std::int64_t> batches_at(const ScalingRequest& request, int devices) {
    std::vector<std::int64_t> batches = request.search.global_batches;
    if (batches.empty()) batches = {request.search.job.plan.global_batch};
    const double own = request.search.job.plan.devices();
    if (request.weak)
        for (std::int64_t& b : batches) b = std::max<std::int64_t>(1, std::llround(static_cast<double>(b) * devices / own));
    return batches;
}

void compare(Scaling& scaling) {
    scaling.pays_up_to.reset();
    scaling.too_many.reset();
    const auto rate = [](const ScalingPoint& p) { return p.best->samples_per_s / p.devices; };
    const ScalingPoint *first = nullptr, *before = nullptr;
    for (ScalingPoint& p : scaling.points) {
        if (!p.best) continue;
        if (!first) first = &p;
        p.efficiency = rate(p) / rate(*first);
        if (before) p.added = (p.best->samples_per_s - before->best->samples_per_s) / (p.devices - before->devices) / rate(*first);
        if (!scaling.too_many) {
            if (p.added.value_or(1) >= worth_adding)
                scaling.pays_up_to = p.devices;
            else
                scaling.too_many = p.devices;
        }
        before = &p;
    }
}

}  // namespace

bool Scaling::all_ruled_out() const {
    return !pays_up_to && std::ranges::any_of(points, [](const ScalingPoint& p) { return p.ruled_out; });
}

std::vector<NamedQuantity> named_quantities(const Scaling& scaling) {
    std::vector<NamedQuantity> list;
    const auto has_plan = [](const ScalingPoint& p) { return p.best.has_value(); };
    const auto largest = std::find_if(scaling.points.rbegin(), scaling.points.rend(), has_plan);
    if (largest == scaling.points.rend()) return list;
    list = named_quantities(*largest->best);
    list.emplace_back("efficiency", largest->efficiency);
    if (scaling.pays_up_to) list.emplace_back("pays_up_to", static_cast<double>(*scaling.pays_up_to));
    return list;
}

std::vector<NamedQuantity> scaling_quantities(const Scenario& job) {
    std::vector<NamedQuantity> list = searched_quantities(job);
    list.emplace_back("efficiency", 0);
    list.emplace_back("pays_up_to", 0);
    return list;
}

Scaling scale(const ScalingRequest& request, const std::function<bool(const ScalingProgress&)>& progress) {
    Scaling scaling{request, {}, {}, {}, true};
    std::vector<int> sizes = request.search.devices;
    std::ranges::sort(sizes);
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());  // clang 14, which fuzzes, has no ranges::unique
    std::optional<InputError> refused;
    for (std::size_t i = 0; i < sizes.size() && scaling.complete; ++i) {
        SearchRequest at_size = request.search;
        at_size.devices = {sizes[i]};
        at_size.global_batches = batches_at(request, sizes[i]);
        at_size.top = 1;
        ScalingPoint point;
        point.devices = sizes[i];
        point.global_batch = at_size.global_batches.front();
        try {
            const SearchResult found = search(at_size, [&](const SearchProgress& p) {
                return !progress || progress({(static_cast<double>(i) + p.done) / static_cast<double>(sizes.size()), p, scaling});
            });
            scaling.complete = found.complete;
            if (!found.complete) break;
            point.ruled_out = found.best.empty() && found.counts.priced > 0;
            if (!found.best.empty()) {
                point.best = found.best.front();
                point.global_batch = point.best->plan.global_batch;
                point.report = make_report(prepare(with_plan(request.search.job, point.best->plan)));
            }
        } catch (const InputError& e) {
            refused = e;
            point.refusal = e.diagnostics().front().what;
        }
        scaling.points.push_back(std::move(point));
        compare(scaling);
    }
    const auto has_plan = [](const ScalingPoint& p) { return p.best.has_value(); };
    if (refused && std::ranges::none_of(scaling.points, has_plan)) throw InputError(*refused);
    return scaling;
}

}  // namespace sextant
