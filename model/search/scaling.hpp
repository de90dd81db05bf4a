// What more devices bring: the best plan at each of several sizes.
#pragma once

#include "model/report/report.hpp"
#include "model/search/search.hpp"

namespace sextant {

struct ScalingRequest {
    SearchRequest search;  // its numbers of devices are the sizes
    // Each device keeps the samples that it has in the job's own plan; else the global batch stays, and each device has ever less to do.
    bool weak = false;
};

struct ScalingPoint {
    int devices = 1;
    std::int64_t global_batch = 1;
    std::optional<PlanChoice> best;  // none: no plan fits or is possible
    std::string refusal;             // why, where memory is not the reason
    bool ruled_out = false;          // plans fit, and only the request's conditions rule them out
    std::optional<Report> report;    // of the best
    double efficiency = 0;           // throughput per device over that at the smallest size that has a plan
    // Throughput gained per device added since the size before, over the throughput per device at the smallest size.
    std::optional<double> added;
};

struct Scaling {
    ScalingRequest request;
    std::vector<ScalingPoint> points;  // smallest first
    // The last size up to which every added device brings at least `worth_adding` of what one brings at
    // the smallest size, and the next size.
    std::optional<int> pays_up_to, too_many;
    bool complete = true;

    // No size has a plan, and at some the request's conditions are why.
    [[nodiscard]] bool all_ruled_out() const;
};
inline constexpr double worth_adding = 0.5;
// Those of the best plan at the largest size that has one, its efficiency, and up to which size devices pay.
std::vector<NamedQuantity> named_quantities(const Scaling&);
// Their names and units before the scaling is known.
std::vector<NamedQuantity> scaling_quantities(const Scenario& job);

struct ScalingProgress {
    double done = 0;               // of all sizes, 0 to 1
    const SearchProgress& search;  // at the size at hand
    const Scaling& so_far;         // the sizes before it
};

// `progress`: false stops. Throws InputError as search does, where no size is possible.
Scaling scale(const ScalingRequest&, const std::function<bool(const ScalingProgress&)>& progress = {});

}  // namespace sextant
