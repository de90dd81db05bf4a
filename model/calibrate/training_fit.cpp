#include "model/calibrate/training_fit.hpp"

#include "model/calibrate/fit.hpp"
#include "model/predict/estimate.hpp"

#include <algorithm>
#include <deque>
#include <map>

namespace sextant {
namespace {

constexpr double form_error = 0.05;     // what the closed form misses, however good its parameters
constexpr double runs_of_a_group = 4;   // as how many independent runs those of one model on one machine count at most
constexpr std::size_t remembered = 12;  // predictions of a run: a derivative by one parameter leaves those of the others as they were

// A run and where its parameters stand among all.
struct FittedRun {
    const TrainingRun* run;
    std::vector<std::size_t> parameters;
    std::deque<std::pair<std::vector<double>, double>> known;

    double predict(const std::vector<TrainedParameter>& all, const std::vector<double>& values) {
        std::vector<double> mine;
        for (const std::size_t p : parameters) mine.push_back(values[p]);
        for (const auto& [at, step] : known)
            if (at == mine) return step;
        Scenario s = run->scenario;
        for (std::size_t i = 0; i < mine.size(); ++i) all[parameters[i]].parameter.set(s, mine[i]);
        const double step = estimate(prepare(s)).step.si();
        known.emplace_back(std::move(mine), step);
        if (known.size() > remembered) known.pop_front();
        return step;
    }
};

std::vector<FittedRun> tie(const std::vector<TrainingRun>& runs, std::vector<TrainedParameter>& parameters) {
    std::map<std::pair<std::string, std::string>, std::size_t> places;
    std::vector<FittedRun> tied;
    for (const TrainingRun& run : runs) {
        FittedRun& f = tied.emplace_back(FittedRun{&run, {}, {}});
        for (const ProfileParameter& p : training_parameters(run.scenario)) {
            const std::string& of = p.owner == ParameterOwner::device ? run.scenario.cluster.node.device.name : run.scenario.framework.name;
            const auto [place, is_new] = places.try_emplace({of, p.name}, parameters.size());
            if (is_new) parameters.push_back({p, of, p.usual, p.spread, false, 0});
            ++parameters[place->second].runs;
            f.parameters.push_back(place->second);
        }
    }
    return tied;
}

}  // namespace

TrainingFit fit_to_training(const std::vector<TrainingRun>& runs, const std::function<void()>& progress) {
    TrainingFit found;
    std::vector<FittedRun> tied = tie(runs, found.parameters);
    std::map<std::string, double> sizes;
    for (const TrainingRun& r : runs) sizes[r.group] += 1;
    std::vector<FitPoint> points;
    for (const TrainingRun& r : runs) points.push_back({r.step.si(), noise_among(form_error, sizes[r.group], runs_of_a_group)});
    std::vector<FitParameter> starts;
    for (const TrainedParameter& p : found.parameters)
        starts.push_back({p.parameter.name, p.parameter.usual, p.parameter.spread, p.parameter.least, p.parameter.most, p.parameter.begin});
    const Fit f = fit(starts, points, [&](const std::vector<double>& values) {
        std::vector<double> predicted;
        for (FittedRun& run : tied) predicted.push_back(run.predict(found.parameters, values));
        progress();
        return predicted;
    });
    std::vector<TrainedParameter> decided;
    for (std::size_t j = 0; j < f.parameters.size(); ++j) {
        if (!is_decided(f.parameters[j], starts[j])) continue;
        TrainedParameter& p = decided.emplace_back(std::move(found.parameters[j]));
        p.value = f.parameters[j].value;
        p.spread = f.parameters[j].spread;
        p.at_bound = f.parameters[j].at_bound;
    }
    found.parameters = std::move(decided);
    found.mean_error = mean_error(f, points);
    return found;
}

}  // namespace sextant
