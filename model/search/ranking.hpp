// The best plans so far, and the Pareto front. What is kept does not depend on the order of arrival.
#pragma once

#include "model/search/search.hpp"

#include <tuple>

namespace sextant {

// Bounds of a plan before it is priced: no plan of its kind has a shorter step or needs less memory.
struct PlanBound {
    Seconds step;
    Bytes memory;
    int devices = 1;
    std::int64_t global_batch = 1;
};

class Ranking {
public:
    explicit Ranking(const SearchRequest&);

    // Whether a plan with these bounds could be among the best or on the front.
    [[nodiscard]] bool admits(const PlanBound&) const;
    // Whether the objective puts the first before the second.
    [[nodiscard]] bool is_better(const PlanChoice& a, const PlanChoice& b) const { return rank(a) < rank(b); }
    // Whether they are equal by the objective, and equally fast, up to rounding.
    [[nodiscard]] bool ties(const PlanChoice& a, const PlanChoice& b) const;
    void add(const PlanChoice&);
    void add(const Ranking& other);

    // Best first, each with its best placement only.
    [[nodiscard]] std::vector<PlanChoice> best() const;
    [[nodiscard]] const PlanChoice* leader() const { return best_.empty() ? nullptr : &best_.front(); }
    [[nodiscard]] const std::vector<PlanChoice>& front() const { return front_; }

private:
    template <class Choice>
    [[nodiscard]] double key(const Choice&) const;  // smaller is better
    [[nodiscard]] std::tuple<double, double, double> rank(const PlanChoice&) const;

    Objective objective_;
    std::size_t top_, kept_;  // how many to show, and how many to keep so that enough remain when placements are merged
    double rent_;             // of a device, a second
    Watts idle_;              // power of an idle device, with its share of the node
    std::vector<PlanChoice> best_, front_;
};

// Whether the two differ only in the placement of ranks.
bool same_but_placement(const Plan&, const Plan&);

// A total order of plans, simpler ones first: among equals a reader wants the simplest.
bool simpler(const Plan&, const Plan&);

}  // namespace sextant
