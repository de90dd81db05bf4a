#include "model/calibrate/calibration.hpp"

#include "model/base/diagnostics.hpp"
#include "model/base/quantity_text.hpp"
#include "model/calibrate/fit.hpp"
#include "model/report/trace_terms.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace sextant {
namespace {

// What a probe's term depends on is known; how well the closed form can describe it is not, nor is it better than this.
constexpr double closed_form_error = 0.05;
constexpr Seconds shortest = Seconds::from_si(20e-6);  // of a term: below, clocks and the recording itself are most of it

// Where ranks wait for each other in turn (stages, shared cores), who waits for whom is chance, and only the whole step says something.
bool waits_by_chance(const Scenario& s) { return s.plan.pp > 1 || s.cluster.node.ranks_per_device > 1; }

struct Target {
    std::size_t probe;
    std::optional<Term> term;  // none: the whole step

    [[nodiscard]] Seconds of(const Terms& terms) const { return term ? terms[*term] : terms.total(); }
};

}  // namespace

std::vector<Term> fitted_terms(const Terms& measured, const Terms& predicted) {
    std::vector<Term> terms;
    if (predicted[Term::launch] > Seconds{}) return terms;
    for (const Term t :
         {Term::forward, Term::backward, Term::recompute, Term::optimizer, Term::tensor_communication, Term::data_communication})
        if (measured[t] >= shortest && predicted[t] > Seconds{}) terms.push_back(t);
    return terms;
}

double noise_of(std::vector<Seconds> steps) {
    if (steps.empty()) return 0;
    std::ranges::sort(steps);
    const auto quartile = [&](double share) { return steps[static_cast<std::size_t>(share * static_cast<double>(steps.size() - 1))]; };
    return (quartile(0.75) - quartile(0.25)) / (2.0 * quartile(0.5));
}

ProbeRun probe_run(std::string name, Scenario scenario, const RunRecord& run) {
    ProbeRun p{std::move(name), std::move(scenario), terms_of(run.trace, last_rank(run.trace)), 0};
    std::vector<Seconds> steps(run.steps.begin() + (run.steps.size() > 1 ? 1 : 0), run.steps.end());  // the first allocates
    p.noise = noise_of(std::move(steps));
    return p;
}

namespace {

// Of the passes of a probe the median: of each term, or the pass of median step where the whole step counts. What disturbs a machine for
// seconds disturbs some of them. Its noise is that of a step, or how much the passes differ (their median absolute deviation, as a standard
// deviation) where that is more.
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
    one.noise = std::max(median_of([](const ProbeRun& p) { return p.noise; }), 1.4826 * apart);
    if (waits_by_chance(one.scenario)) return one;
    for (std::size_t t = 0; t < term_count; ++t)
        one.measured.of[t] = Seconds::from_si(median_of([&](const ProbeRun& p) { return p.measured.of[t].si(); }));
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

}  // namespace

Calibration calibrate(const std::vector<ProbeRun>& runs, const std::vector<ProfileParameter>& parameters, const std::string& source) {
    const std::vector<ProbeRun> probes = joined(runs);
    std::vector<Target> targets;
    std::vector<FitPoint> points;
    for (std::size_t i = 0; i < probes.size(); ++i) {
        const Terms before = estimate(prepare(probes[i].scenario)).terms;
        const auto add = [&](std::optional<Term> term) {
            const Target t{i, term};
            targets.push_back(t);
            points.push_back({t.of(probes[i].measured).si(), std::hypot(probes[i].noise, closed_form_error)});
        };
        std::vector<Term> terms;
        if (!waits_by_chance(probes[i].scenario)) terms = fitted_terms(probes[i].measured, before);
        std::ranges::for_each(terms, add);
        if (terms.empty() && probes[i].measured.total() >= shortest) add({});
    }
    if (targets.empty()) throw InputError(Diagnostic{"", "", "the runs have no term that a profile could be fitted to", "longer steps"});

    std::vector<FitParameter> starts;
    starts.reserve(parameters.size());
    for (const ProfileParameter& p : parameters)
        starts.push_back({p.name, p.get(whole_machine(probes)), p.spread, p.least, p.most, p.begin});
    std::vector<Scenario> scenarios;
    scenarios.reserve(probes.size());
    for (const ProbeRun& p : probes) scenarios.push_back(p.scenario);
    const FitModel model = [&](const std::vector<double>& values) {
        std::vector<Terms> terms;
        for (Scenario& s : scenarios) {
            for (std::size_t j = 0; j < parameters.size(); ++j) parameters[j].set(s, values[j]);
            terms.push_back(estimate(prepare(s)).terms);
        }
        std::vector<double> predicted;
        predicted.reserve(targets.size());
        for (const Target& t : targets) predicted.push_back(std::max(1e-12, t.of(terms[t.probe]).si()));
        return predicted;
    };
    const Fit found = fit(starts, points, model);

    Calibration c{whole_machine(probes), {}, {}, static_cast<int>(runs.size()), 0, 0, 0};
    for (std::size_t j = 0; j < parameters.size(); ++j) {
        const FittedParameter& f = found.parameters[j];
        c.parameters.push_back({parameters[j], starts[j].value, f.value, f.spread, f.at_bound});
        if (!c.parameters.back().is_measured()) continue;
        parameters[j].set(c.calibrated, f.value);
        parameters[j].attribute(c.calibrated, source + ", sure to " + percent_text(f.spread, 2));
    }
    std::vector<double> errors, noises;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        const Seconds predicted = Seconds::from_si(found.predicted[i]);
        const ProbeRun& probe = probes[targets[i].probe];
        c.residuals.push_back({probe.name, targets[i].term.value_or(Term::forward), !targets[i].term, targets[i].of(probe.measured),
                               predicted, probe.noise, is_left_out(found.weights[i])});
        errors.push_back(std::abs(found.predicted[i] / points[i].measured - 1));
    }
    for (const ProbeRun& p : probes) noises.push_back(p.noise);
    c.median_error = median(std::move(errors));
    c.noise = median(std::move(noises));
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
