// All plans that cut layers in one way: the loops of a search below that. Internal to search.
#pragma once

#include "model/predict/plan_pricer.hpp"
#include "model/search/ranking.hpp"

#include <atomic>

namespace sextant {

class CutSearch {
public:
    // `known`: what has been found elsewhere; this search goes on with it.
    CutSearch(const SearchRequest&, const PlanSpace&, const Topology&, const Ranking& known);

    void run(const Plan& cut, const std::atomic<bool>& stop);

    [[nodiscard]] const Ranking& ranking() const { return ranking_; }
    [[nodiscard]] const SearchCounts& counts() const { return counts_; }
    // Of the plans that do not fit.
    [[nodiscard]] const std::optional<PlanChoice>& smallest() const { return smallest_; }

private:
    void try_layout(const Plan& layout, const std::atomic<bool>& stop);
    void add_balanced(std::vector<Plan>& orders);
    void try_orders(const std::vector<Plan>& orders, const Plan& family, const std::vector<Plan>& sharings);
    // At the recompute at hand. Whether it fits.
    bool try_plan();
    [[nodiscard]] std::optional<Plan> fewest_blocks_again(const Plan& family, int layers);
    [[nodiscard]] bool admits(Seconds step, Bytes memory) const;

    const SearchRequest& request_;
    const PlanSpace& space_;
    PlanPricer pricer_;
    Bytes room_;  // of a device, or what a condition leaves of it
    Ranking ranking_;
    SearchCounts counts_;
    std::optional<PlanChoice> smallest_;
};

}  // namespace sextant
