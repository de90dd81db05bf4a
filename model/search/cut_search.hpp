// All plans that cut layers in one way: the inner loops of a search. Internal to search.
#pragma once

#include "model/predict/plan_pricer.hpp"
#include "model/search/ranking.hpp"

#include <atomic>
#include <map>
#include <tuple>

namespace sextant {

struct CutFindings {
    Ranking ranking;
    SearchCounts counts;
    std::optional<PlanChoice> smallest;  // the one that needs the least memory, of those that do not fit
    NearestValues nearest{};             // as long as no plan meets all conditions
};

// A plan's values of the quantities that the conditions name.
NearestValues values_asked_of(const std::vector<NamedQuantity>&, const std::vector<Condition>& where);

class CutSearch {
public:
    // `known`: what has been found elsewhere, which this search starts from.
    CutSearch(const SearchRequest&, const PlanSpace&, const Topology&, KnownOrders&, const Ranking& known);

    CutFindings run(const Plan& cut, const std::atomic<bool>& stop) &&;

private:
    void try_layout(const Plan& layout, const std::atomic<bool>& stop);
    [[nodiscard]] std::optional<Plan> with_balanced_stages(const Plan& scheduled, const Plan& family);
    void try_schedule(const Plan& scheduled, const Plan& family, const std::vector<Plan>& shared);
    [[nodiscard]] bool adds_up_less(const Plan& scheduled, const Plan& shared, std::int64_t micro_batches) const;
    [[nodiscard]] bool is_too_large(std::int64_t known, const Plan& scheduled, const Plan& family, const Plan& shared) const;
    bool try_sharing(const Plan& family);
    [[nodiscard]] bool fits(Bytes memory);
    [[nodiscard]] bool fits_whatever_it_takes(const Plan& family);
    // The plan at hand with the recompute at hand. Returns whether it fits.
    bool try_plan();
    void price_what_fits();
    void judge(const PlanChoice&);
    void recompute(const Plan& family, int blocks, int layers);
    [[nodiscard]] int fewest_recomputed_blocks(const Plan& family, int layers);
    [[nodiscard]] bool admits(Seconds step, Bytes memory) const;

    const SearchRequest& request_;
    const PlanSpace& space_;
    PlanPricer pricer_;
    Bytes room_;  // the memory of a device, or what a condition leaves of it
    CutFindings found_;
    // These hold for as long as pp stays, wherever ranks stand.
    std::map<int, std::vector<int>> balanced_;  // by chunks of a stage: blocks of balanced ones; none where they are no better
    using ScheduleKey = std::tuple<bool, Recompute, Schedule, int, bool>;  // sequence_parallel, family, schedule, vpp, even stages
    std::map<ScheduleKey, std::vector<std::int64_t>> too_large_;           // by way of sharing: the smallest micro-batch seen not to fit
};

}  // namespace sextant
