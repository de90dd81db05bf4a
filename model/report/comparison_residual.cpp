#include "model/base/quantity_text.hpp"
#include "model/report/comparison.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

template <class Q>
Q size(Q difference) {
    return max(difference, -difference);
}

std::string words(Term t) {
    std::string text(to_text(t));
    std::ranges::replace(text, '_', ' ');
    return text;
}

// The terms of one rank of the closed form.
using TermsOf = Terms Estimate::*;

Seconds with(const Prepared& job, TermsOf rank, Term t, double Resources::*resource, double multiple) {
    Resources r;
    r.*resource = multiple;
    return (estimate(job, r).*rank)[t];
}

// The input that moves the term most when it is as far off as inputs of its kind are.
std::optional<InputUsed> most_moving(const Prepared& job, TermsOf rank, Term t, const std::vector<InputUsed>& inputs) {
    std::optional<InputUsed> most;
    Seconds furthest;
    const Seconds predicted = (estimate(job).*rank)[t];
    for (const InputUsed& input : inputs) {
        const Seconds moved = size(with(job, rank, t, input.resource, 1 / (1 + input.spread)) - predicted);
        if (moved > furthest) {
            furthest = moved;
            most = input;
        }
    }
    return most;
}

// Resources divide these, and multiply the others.
bool is_time(double Resources::*resource) {
    return resource == &Resources::latency || resource == &Resources::host || resource == &Resources::kernel_overhead ||
           resource == &Resources::overlap;
}

// A term does not grow when a resource gets better: halving finds where it is what was measured, if it gets there at all.
std::optional<double> multiple_that_explains(const Prepared& job, TermsOf rank, Term t, double Resources::*resource, Seconds measured) {
    double low = 1.0 / 64, high = 64;
    if (with(job, rank, t, resource, low) < measured || with(job, rank, t, resource, high) > measured) return std::nullopt;
    constexpr int halvings = 40;
    for (int i = 0; i < halvings; ++i) {
        const double middle = std::sqrt(low * high);
        (with(job, rank, t, resource, middle) > measured ? low : high) = middle;
    }
    return is_time(resource) ? 1 / high : high;
}

// The slowest rank's computing over the mean of all.
double unevenness(const std::vector<RankComparison>& ranks, RankTimes RankComparison::*times) {
    Seconds most, sum;
    int workers = 0;
    for (const RankComparison& r : ranks) {
        if (r.server) continue;
        const Seconds t = computing_of((r.*times).terms);
        most = max(most, t);
        sum += t;
        ++workers;
    }
    return sum > Seconds{} ? most / sum * workers : 1;
}

std::string on_unevenness(const Comparison& c) {
    return "the rank that computes longest took " + number_text(unevenness(c.ranks, &RankComparison::measured)) +
           " times the mean of the ranks, " + number_text(unevenness(c.ranks, &RankComparison::simulated)) + " were predicted";
}

// The work in which the ranks of a stage differ most.
std::string on_stragglers(const Comparison& c) {
    std::string text;
    Seconds widest;
    for (const Term t : {Term::forward, Term::backward, Term::recompute, Term::optimizer}) {
        std::vector<Seconds> times;
        for (const RankComparison& r : c.ranks)
            if (!r.server && r.stage == c.stage) times.push_back(r.measured.terms[t]);
        const auto [least, most] = std::ranges::minmax(times);
        if (most - least <= widest) continue;
        widest = most - least;
        text = "ranks that differ in speed (hardware.step_noise): " + words(t) + " took " + to_text(least) + " on one rank of stage " +
               std::to_string(c.stage) + " and " + to_text(most) + " on another";
    }
    return text.empty() ? "waiting that no rank's work explains" : text;
}

// What a term rests on where no single input moves it.
std::optional<InputUsed> named_for(const Scenario& s, const std::vector<InputUsed>& inputs, Term t) {
    const Framework& f = s.framework;
    if (t == Term::overhead) {
        const bool of_step = f.step_overhead.value > f.micro_batch_overhead.value * static_cast<double>(s.plan.micro_batches());
        const Sourced<Seconds>& time = of_step ? f.step_overhead : f.micro_batch_overhead;
        return InputUsed{"time of " + f.title + (of_step ? " for each step" : " for each micro-batch"),
                         to_text(time.value),
                         time.kind,
                         time.source,
                         0,
                         0,
                         &Resources::host};
    }
    if (t != Term::launch) return std::nullopt;
    const auto host = std::ranges::find(inputs, &Resources::host, &InputUsed::resource);
    return host == inputs.end() ? std::nullopt : std::optional(*host);
}

TermResidual largest(const Terms& predicted, const Terms& measured) {
    TermResidual r;
    Seconds all;
    for (const Term t : all_terms) {
        const Seconds off = measured[t] - predicted[t];
        all += size(off);
        if (size(off) > size(r.seconds)) {
            r.term = t;
            r.seconds = off;
        }
    }
    r.share = all > Seconds{} ? size(r.seconds) / all : 0;
    return r;
}

void point_to_input(const Prepared& job, TermsOf rank, Term t, Seconds measured, const std::vector<InputUsed>& inputs, TermResidual& r) {
    r.input = named_for(job.scenario(), inputs, t);
    if (!r.input) r.input = most_moving(job, rank, t, inputs);
    if (r.input) r.explained_at = multiple_that_explains(job, rank, t, r.input->resource, measured);
}

struct Reason {
    const RankComparison* rank = nullptr;
    Term term = Term::forward;
    Seconds off;  // measured less simulated
};

// What the rank of another stage did most differently, in the direction of the residual: no waiting, which would have a reason itself.
Reason largest_elsewhere(const Comparison& c, const TermResidual& residual) {
    Reason reason;
    for (const RankComparison& r : c.ranks) {
        if (r.server || r.stage == c.stage) continue;
        for (const Term t : all_terms) {
            const Seconds off = r.measured.terms[t] - r.simulated.terms[t];
            const bool waits = t == Term::bubble || t == Term::straggler;
            if (!waits && (off > Seconds{}) == (residual.seconds > Seconds{}) && size(off) > size(reason.off)) reason = {&r, t, off};
        }
    }
    return reason;
}

// What one stage waits for is what another one does.
void point_behind_bubble(const Prepared& job, const Comparison& c, TermResidual& r) {
    const auto [rank, term, off] = largest_elsewhere(c, r);
    constexpr double enough = 0.3;
    if (!rank || size(off) < enough * size(r.seconds)) {
        r.points_to = "how evenly the stages share the work (plan.stage_blocks): " + on_unevenness(c);
        return;
    }
    r.points_to = "stage " + std::to_string(rank->stage) + ", which the others wait for: its " + words(term) + " takes " +
                  to_text(rank->measured.terms[term]) + ", " + to_text(rank->simulated.terms[term]) + " were predicted";
    point_to_input(job, &Estimate::slowest, term, rank->measured.terms[term], c.prediction.inputs, r);
    // The closed form keeps the terms of no other stage.
    if (rank->stage != c.prediction.estimate.slowest_stage) r.explained_at.reset();
}

}  // namespace

TermResidual find_term_residual(const Prepared& job, const Comparison& c) {
    TermResidual r = largest(c.terms.predicted, c.terms.measured);
    if (r.term == Term::bubble) {
        point_behind_bubble(job, c, r);
    } else if (r.term == Term::straggler) {
        r.points_to = on_stragglers(c);
    } else {
        point_to_input(job, &Estimate::terms, r.term, c.terms.measured[r.term], c.prediction.inputs, r);
        r.points_to = r.input ? r.input->name : "no input of the model: nothing that it knows of moves " + words(r.term);
    }
    return r;
}

std::optional<MemoryResidual> find_memory_residual(const Prepared& job, const Comparison& c) {
    const auto off = [](const RankComparison& r) { return r.measured_memory.process - r.predicted_memory.process; };
    const RankComparison* worst = nullptr;
    for (const RankComparison& r : c.ranks)
        if (!r.server && (!worst || size(off(r)) > size(off(*worst)))) worst = &r;
    if (!worst) return std::nullopt;
    MemoryResidual m;
    m.rank = worst->rank;
    m.bytes = off(*worst);
    m.predicted = worst->predicted_memory.process;
    const Bytes arrays = worst->measured_memory.arrays - worst->predicted_memory.arrays, beside = m.bytes - arrays;
    if (size(arrays) > size(beside)) {
        m.points_to = "the arrays of training: what is kept for backward, and how long";
        return m;
    }
    const Framework& f = job.scenario().framework;
    m.points_to = "what " + f.title + " and its libraries hold beside the arrays of training";
    m.input =
        InputUsed{"memory of libraries in each rank, " + f.name, to_text(f.context.value), f.context.kind, f.context.source, 0, 0, nullptr};
    return m;
}

}  // namespace sextant
