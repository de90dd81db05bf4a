#include "model/calibrate/training_fit.hpp"

#include "model/calibrate/fit.hpp"
#include "model/predict/estimate.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace sextant {
namespace {

// What is predicted of runs, and by which parameters.
struct Question {
    double form_error;  // what the closed form misses, however good its parameters
    std::vector<ProfileParameter> (*parameters)(const Scenario&);
    double (*measured)(const TrainingRun&);
    double (*predicted)(const Scenario&, const TrainingRun&);
};
constexpr Question steps{0.05, training_parameters, [](const TrainingRun& r) { return r.step.si(); },
                         [](const Scenario& s, const TrainingRun&) { return estimate(prepare(s)).step.si(); }};
constexpr Question memory{0.05, memory_parameters, [](const TrainingRun& r) { return r.memory->si(); },
                          [](const Scenario& s, const TrainingRun& r) {
                              const Estimate e = estimate(prepare(s));
                              return (r.memory_is_allocated ? e.peak_allocated() : e.peak_memory).si();
                          }};

constexpr double runs_of_a_group = 4;   // as how many independent runs those of one model on one machine count at most
constexpr std::size_t remembered = 12;  // predictions of a run: a derivative by one parameter leaves those of the others as they were

// A run and where its parameters stand among all.
struct FittedRun {
    const TrainingRun* run;
    std::vector<std::size_t> parameters;
    std::deque<std::pair<std::vector<double>, double>> known;

    double predict(const Question& question, const std::vector<TrainedParameter>& all, const std::vector<double>& values) {
        std::vector<double> mine;
        for (const std::size_t p : parameters) mine.push_back(values[p]);
        for (const auto& [at, value] : known)
            if (at == mine) return value;
        Scenario s = run->scenario;
        for (std::size_t i = 0; i < mine.size(); ++i) all[parameters[i]].parameter.set(s, mine[i]);
        const double value = question.predicted(s, *run);
        known.emplace_back(std::move(mine), value);
        if (known.size() > remembered) known.pop_front();
        return value;
    }
};

using Key = std::pair<std::string, std::string>;  // of a parameter: the device's or framework's name, and its own

Key key_of(const TrainedParameter& p) { return {p.of, p.parameter.name}; }

// `undecided`: parameters that stay as their profile has them.
std::vector<FittedRun> tied_runs(const std::vector<const TrainingRun*>& runs, const Question& question, const std::set<Key>& undecided,
                                 std::vector<TrainedParameter>& parameters) {
    std::map<Key, std::size_t> places;
    std::vector<FittedRun> tied;
    for (const TrainingRun* run : runs) {
        FittedRun& f = tied.emplace_back(FittedRun{run, {}, {}});
        const Scenario& s = run->scenario;
        for (const ProfileParameter& p : question.parameters(s)) {
            const std::string& of = p.owner == ParameterOwner::device ? s.cluster.node.device.name : s.framework.name;
            if (undecided.contains({of, p.name})) continue;
            const auto [place, is_new] = places.try_emplace({of, p.name}, parameters.size());
            if (is_new) parameters.push_back({p, of, p.usual, p.spread, false, 0});
            ++parameters[place->second].runs;
            f.parameters.push_back(place->second);
        }
    }
    return tied;
}

// Adds the parameters that the runs decide to `decided`; returns the mean error. Those that they do not decide keep the values of their
// profiles, so the others are found once more beside those.
double fit_runs(const std::vector<const TrainingRun*>& runs, const Question& question, const std::function<void()>& progress,
                std::vector<TrainedParameter>& decided) {
    if (runs.empty()) return 0;
    std::map<std::string, double> sizes;
    for (const TrainingRun* r : runs) sizes[r->group] += 1;
    std::vector<FitPoint> points;
    points.reserve(runs.size());
    for (const TrainingRun* r : runs)
        points.push_back({question.measured(*r), noise_among(question.form_error, sizes[r->group], runs_of_a_group)});
    std::set<Key> undecided;
    std::map<Key, double> begins;  // where the search before ended
    for (;;) {
        std::vector<TrainedParameter> parameters;
        std::vector<FittedRun> tied = tied_runs(runs, question, undecided, parameters);
        std::vector<FitParameter> starts;
        for (const TrainedParameter& t : parameters) {
            const ProfileParameter& p = t.parameter;
            starts.push_back({p.name, p.usual, p.spread, p.least, p.most, begins.try_emplace(key_of(t), p.begin).first->second});
        }
        const Fit f = fit(starts, points, [&](const std::vector<double>& values) {
            std::vector<double> predicted;
            predicted.reserve(tied.size());
            for (FittedRun& run : tied) predicted.push_back(run.predict(question, parameters, values));
            progress();
            return predicted;
        });
        const std::size_t known = undecided.size();
        for (std::size_t j = 0; j < parameters.size(); ++j) {
            TrainedParameter& p = parameters[j];
            begins[key_of(p)] = p.value = f.parameters[j].value;
            p.spread = f.parameters[j].spread;
            p.at_bound = f.parameters[j].at_bound;
            if (!is_decided(f.parameters[j], starts[j])) undecided.insert(key_of(p));
        }
        if (undecided.size() > known) continue;
        std::ranges::move(parameters, std::back_inserter(decided));
        return mean_error(f, points);
    }
}

}  // namespace

TrainingFit fit_to_training(const std::vector<TrainingRun>& runs, const std::function<void()>& progress) {
    std::vector<const TrainingRun*> all, with_memory;
    for (const TrainingRun& r : runs) {
        all.push_back(&r);
        if (r.memory) with_memory.push_back(&r);
    }
    TrainingFit found;
    found.mean_error = fit_runs(all, steps, progress, found.parameters);
    found.memory_error = fit_runs(with_memory, memory, progress, found.parameters);
    return found;
}

}  // namespace sextant
