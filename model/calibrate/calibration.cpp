#include "model/calibrate/calibration.hpp"

#include "model/base/diagnostics.hpp"
#include "model/base/quantity_text.hpp"
#include "model/calibrate/fit.hpp"
#include "model/plan/partition.hpp"
#include "model/report/operator_comparison.hpp"
#include "model/report/trace_terms.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

namespace sextant {
namespace {

// What a probe's term depends on is known; how well the closed form can describe it is not, nor is it better than this.
constexpr double closed_form_error = 0.05;
constexpr Seconds shortest = Seconds::from_si(20e-6);  // of a term: below, clocks and the recording itself are most of it
// How far the prediction of an operator is off. Each operator tells what its term cannot, but all of a probe together count as so many
// terms.
constexpr double operator_error = 0.15, operators_count_as = 4;

// Where ranks wait for each other in turn (stages, shared cores), who waits for whom is chance, and only the whole step says something.
bool waits_by_chance(const Scenario& s) { return s.plan.pp > 1 || s.cluster.node.ranks_per_device > 1; }

// Jobs on several hosts are there for what crosses the network: kernels are measured on one, and others may be slower.
bool spans_hosts(const Scenario& s) { return used_nodes(s) > 1; }

// What a probe took, or is predicted to take.
struct ProbeTimes {
    Terms terms;
    std::vector<Seconds> calls;  // of its operators
};

// One measurement of a probe.
struct Target {
    std::size_t probe;
    std::optional<Term> term{};
    std::optional<std::size_t> call{};  // of this operator; of neither: the whole step
    Seconds measured{};
    double noise = 0;  // relative

    [[nodiscard]] Seconds of(const ProbeTimes& t) const { return call ? t.calls[*call] : term ? t.terms[*term] : t.terms.total(); }
};

ProbeTimes measured_times(const ProbeRun& p) {
    ProbeTimes times{p.measured, {}};
    for (const OperatorTime& o : p.operators) times.calls.push_back(o.calls > 0 ? o.time / o.calls : Seconds{});
    return times;
}

ProbeTimes predicted_times(const ProbeRun& p) {
    const Prepared prepared = prepare(p.scenario);
    return {estimate(prepared).terms, predicted_call_times(prepared, p.operators)};
}

}  // namespace

std::vector<Term> fitted_terms(const Terms& measured, const Terms& predicted) {
    std::vector<Term> terms;
    if (predicted[Term::launch] > Seconds{}) return terms;
    for (const Term t :
         {Term::forward, Term::backward, Term::recompute, Term::optimizer, Term::tensor_communication, Term::data_communication})
        if (measured[t] >= shortest && predicted[t] > Seconds{}) terms.push_back(t);
    return terms;
}

// How many times half its interquartile range, or its median absolute deviation, the standard deviation of a normal distribution is.
constexpr double deviation_of_quartile = 1.4826;

double noise_of(std::vector<Seconds> steps) {
    if (steps.empty()) return 0;
    std::ranges::sort(steps);
    const auto quartile = [&](double share) { return steps[static_cast<std::size_t>(share * static_cast<double>(steps.size() - 1))]; };
    return deviation_of_quartile * (quartile(0.75) - quartile(0.25)) / (2.0 * quartile(0.5));
}

ProbeRun probe_run(std::string name, Scenario scenario, const RunRecord& run) {
    ProbeRun p{std::move(name), std::move(scenario), terms_of(run.trace, last_rank(run.trace)), 0, run.operators};
    std::vector<Seconds> steps(run.steps.begin() + (run.steps.size() > 1 ? 1 : 0), run.steps.end());  // the first allocates
    p.noise = noise_of(std::move(steps));
    return p;
}

namespace {

// The median of a probe's passes, since what disturbs a machine for seconds disturbs only some of them: the median of each term, or the
// pass of median step where the whole step counts. Its noise is that of a step, or how much the passes differ (their median absolute
// deviation, as a standard deviation) where that is more.
ProbeRun joined(std::vector<const ProbeRun*> passes) {
    const auto step_of = [](const ProbeRun* p) { return p->measured.total(); };
    std::ranges::sort(passes, {}, step_of);
    const auto median_of = [&](auto value) {
        std::vector<double> list;
        list.reserve(passes.size());
        for (const ProbeRun* p : passes) list.push_back(value(*p));
        return median(std::move(list));
    };
    ProbeRun one = *passes[(passes.size() - 1) / 2];
    const Seconds step = one.measured.total();
    const double apart = median_of([&](const ProbeRun& p) { return std::abs(p.measured.total() / step - 1); });
    one.noise = std::max(median_of([](const ProbeRun& p) { return p.noise; }), deviation_of_quartile * apart);
    if (waits_by_chance(one.scenario)) return one;
    for (const Term t : all_terms) one.measured[t] = Seconds::from_si(median_of([&](const ProbeRun& p) { return p.measured[t].si(); }));
    if (std::ranges::any_of(passes, [&](const ProbeRun* p) { return p->operators.size() != one.operators.size(); })) return one;
    for (std::size_t i = 0; i < one.operators.size(); ++i)
        one.operators[i].time = Seconds::from_si(median_of([&](const ProbeRun& p) { return p.operators[i].time.si(); }));
    return one;
}

std::vector<ProbeRun> joined(const std::vector<ProbeRun>& runs) {
    std::vector<ProbeRun> probes;
    for (const ProbeRun& r : runs) {
        if (std::ranges::find(probes, r.name, &ProbeRun::name) != probes.end()) continue;
        std::vector<const ProbeRun*> passes;
        for (const ProbeRun& other : runs)
            if (other.name == r.name) passes.push_back(&other);
        probes.push_back(joined(std::move(passes)));
    }
    return probes;
}

// The scenario of a run whose ranks have a core each: its cluster is the machine as it is.
const Scenario& whole_machine(const std::vector<ProbeRun>& probes) {
    const auto alone = std::ranges::find_if(probes, [](const ProbeRun& p) { return p.scenario.cluster.node.ranks_per_device == 1; });
    return (alone == probes.end() ? probes.begin() : alone)->scenario;
}

// `i`: which probe it is.
std::vector<Target> targets_of(const ProbeRun& probe, std::size_t i) {
    const ProbeTimes before = predicted_times(probe), measured = measured_times(probe);
    std::vector<Term> terms;
    if (!waits_by_chance(probe.scenario)) terms = fitted_terms(probe.measured, before.terms);
    const bool by_exchanges = spans_hosts(probe.scenario);
    if (by_exchanges) std::erase_if(terms, [](Term t) { return t != Term::tensor_communication && t != Term::data_communication; });
    std::vector<Target> list;
    list.reserve(terms.size() + 1);
    for (const Term t : terms) list.push_back({.probe = i, .term = t});
    if (terms.empty() && !by_exchanges && probe.measured.total() >= shortest) list.push_back({.probe = i});
    for (Target& t : list) t.noise = std::hypot(probe.noise, closed_form_error);

    std::vector<Target> calls;
    const bool by_operators = !terms.empty() && !by_exchanges;
    for (std::size_t o = 0; by_operators && o < before.calls.size(); ++o)
        if (before.calls[o] >= shortest && measured.calls[o] >= shortest) calls.push_back({.probe = i, .call = o});
    for (Target& t : calls) {
        t.noise = noise_among(std::hypot(probe.noise, operator_error), static_cast<double>(calls.size()), operators_count_as);
        list.push_back(t);
    }
    for (Target& t : list) t.measured = t.of(measured);
    return list;
}

// The parameters with which the probes are predicted as they were measured, as far as can be.
Fit fit_to(const std::vector<Target>& targets, std::vector<ProbeRun> probes, const std::vector<ProfileParameter>& parameters,
           const Scenario& machine) {
    std::vector<FitParameter> starts;
    starts.reserve(parameters.size());
    for (const ProfileParameter& p : parameters)
        starts.push_back({p.name, p.get(machine), p.spread, p.least, p.most, p.begin, p.other_begin});
    std::vector<FitPoint> points;
    points.reserve(targets.size());
    for (const Target& t : targets) points.push_back({t.measured.si(), t.noise});
    return fit(starts, points, [&](const std::vector<double>& values) {
        std::vector<ProbeTimes> times;
        for (ProbeRun& p : probes) {
            for (std::size_t j = 0; j < parameters.size(); ++j) parameters[j].set(p.scenario, values[j]);
            times.push_back(predicted_times(p));
        }
        std::vector<double> predicted;
        predicted.reserve(targets.size());
        for (const Target& t : targets) predicted.push_back(std::max(1e-12, t.of(times[t.probe]).si()));
        return predicted;
    });
}

// What is left between the targets and the profile, and how noisy the runs were.
void add_residuals(Calibration& c, const std::vector<Target>& targets, const std::vector<ProbeRun>& probes, const Fit& found) {
    std::vector<double> errors, operator_errors, noises;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        const Target& t = targets[i];
        const ProbeRun& probe = probes[t.probe];
        const Seconds predicted = Seconds::from_si(found.predicted[i]);
        (t.call ? operator_errors : errors).push_back(std::abs(predicted / t.measured - 1));
        if (t.call) continue;  // the profile keeps what a report shows
        c.residuals.push_back(
            {probe.name, t.term.value_or(Term::forward), !t.term, t.measured, predicted, probe.noise, is_left_out(found.weights[i])});
    }
    for (const ProbeRun& p : probes) noises.push_back(p.noise);
    c.operators = static_cast<int>(operator_errors.size());
    c.median_error = median(std::move(errors));
    c.median_operator_error = median(std::move(operator_errors));
    c.noise = median(std::move(noises));
}

}  // namespace

Calibration calibrate(const std::vector<ProbeRun>& runs, const std::vector<ProfileParameter>& parameters, const std::string& source) {
    const std::vector<ProbeRun> probes = joined(runs);
    const Scenario machine = whole_machine(probes);
    std::vector<Target> targets;
    for (std::size_t i = 0; i < probes.size(); ++i) std::ranges::copy(targets_of(probes[i], i), std::back_inserter(targets));
    if (targets.empty()) throw InputError(Diagnostic{"", "", "the runs have no term that a profile could be fitted to", "longer steps"});
    const Fit found = fit_to(targets, probes, parameters, machine);

    Calibration c;
    c.calibrated = machine;
    c.runs = static_cast<int>(runs.size());
    for (std::size_t j = 0; j < parameters.size(); ++j) {
        const FittedParameter& f = found.parameters[j];
        c.parameters.push_back({parameters[j], parameters[j].get(machine), f.value, f.spread, f.at_bound});
        if (!c.parameters.back().is_measured()) continue;
        parameters[j].set(c.calibrated, f.value);
        parameters[j].attribute(c.calibrated, source + ", uncertainty " + percent_text(f.spread, 2));
    }
    add_residuals(c, targets, probes, found);
    return c;
}

Cluster calibrated_cluster(const Calibration& c, const MachineFacts& machine, const std::string& date) {
    Cluster cluster = c.calibrated.cluster;
    cluster.library = c.calibrated.library;
    CalibrationStamp& stamp = cluster.calibration.emplace();
    stamp.host = machine.host;
    stamp.processor = machine.processor;
    stamp.date = date;
    stamp.runs = c.runs;
    stamp.noise = c.noise;
    stamp.median_error = c.median_error;
    for (const CalibratedParameter& p : c.parameters)
        if (p.is_measured()) stamp.numbers.push_back(p.parameter.moved(p.before, p.parameter.spread, p.value, p.spread));
    for (const ProbeResidual& r : c.residuals)
        stamp.terms.push_back(
            {r.probe, r.whole_step ? "step" : std::string(to_text(r.term)), r.measured, r.predicted, r.noise, std::nullopt, r.left_out});
    return cluster;
}

}  // namespace sextant
