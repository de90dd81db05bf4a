// The best plans so far, and those that nobody beats in everything at once. What is kept does not depend on the order of arrival.
#pragma once

#include "model/search/search.hpp"

#include <tuple>

namespace sextant {

// What is known of a plan before it is priced: no plan of its kind has a shorter step or needs less memory.
struct PlanBound {
    Seconds step;
    Bytes memory;
    int devices = 1;
    std::int64_t global_batch = 1;
};

class Ranking {
public:
    explicit Ranking(const SearchRequest&);

    // Could such a plan be among the best or on the front?
    [[nodiscard]] bool admits(const PlanBound&) const;
    // Does the objective put the first before the second?
    [[nodiscard]] bool is_better(const PlanChoice& a, const PlanChoice& b) const { return rank(a) < rank(b); }
    // Are they equal to the objective, and as fast, but for rounding?
    [[nodiscard]] bool ties(const PlanChoice& a, const PlanChoice& b) const;
    void add(const PlanChoice&);
    void add(const Ranking& other);

    // Best first, each where its ranks stand best.
    [[nodiscard]] std::vector<PlanChoice> best() const;
    [[nodiscard]] const PlanChoice* leader() const { return best_.empty() ? nullptr : &best_.front(); }
    [[nodiscard]] const std::vector<PlanChoice>& front() const { return front_; }

private:
    template <class Choice>
    [[nodiscard]] double key(const Choice&) const;  // smaller is better
    [[nodiscard]] std::tuple<double, double, double> rank(const PlanChoice&) const;

    Objective objective_;
    std::size_t top_, kept_;  // to show; enough for as many whose ranks stand somewhere else
    double rent_;             // of a device, a second
    Watts idle_;              // of a device that does nothing, with its share of the node
    std::vector<PlanChoice> best_, front_;
};

// Do the two differ in nothing but where ranks stand?
bool same_but_placement(const Plan&, const Plan&);

// A total order of plans, simpler ones first: who reads an answer of equals wants the simplest.
bool simpler(const Plan&, const Plan&);

}  // namespace sextant
