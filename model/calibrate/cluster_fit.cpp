#include "model/calibrate/cluster_fit.hpp"

#include "model/base/quantity_text.hpp"
#include "model/calibrate/calibration.hpp"
#include "model/calibrate/fit.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

constexpr double curve_error = 0.1, job_error = 0.05;  // what the formulas miss, however good their parameters
constexpr double points_of_a_curve = 8;                // as how many independent points those of one curve count at most

// How far this machine's number may be from that of the machine it was taken from.
double spread_before(const ProfileParameter& p, const Scenario& machine) {
    switch (p.kind(machine)) {
        case SourceKind::measured:
        case SourceKind::datasheet: return std::min(p.spread, 0.2);
        case SourceKind::published: return std::min(p.spread, 0.3);
        case SourceKind::estimated: break;
    }
    return p.spread;
}

double median_error(const std::vector<CalibratedTerm>& terms, const std::vector<Seconds>& predicted) {
    std::vector<double> errors;
    for (std::size_t i = 0; i < terms.size(); ++i) errors.push_back(std::abs(predicted[i] / terms[i].measured - 1));
    return median(std::move(errors));
}

std::vector<Seconds> predictions(const std::vector<Observation>& seen, const Scenario& machine) {
    std::vector<Seconds> all;
    for (const Observation& o : seen) {
        const std::vector<Seconds> of_it = o.predict(machine);
        all.insert(all.end(), of_it.begin(), of_it.end());
    }
    return all;
}

// Parameters of what has a number; a latency of nothing has none.
std::vector<NarrowedParameter> parameters_of(const Scenario& machine) {
    std::vector<ProfileParameter> all = cluster_parameters(machine.cluster);
    std::ranges::move(library_parameters(machine.library), std::back_inserter(all));
    std::vector<NarrowedParameter> list;
    for (ProfileParameter& p : all) {
        const double now = p.get(machine), spread = spread_before(p, machine);
        if (now > 0) list.push_back({std::move(p), now, spread, now, spread, false});
    }
    return list;
}

void put_ranks_on_host(NodeSpec& node, const LinkType& memory) {
    node.device.kind = DeviceKind::cpu;
    node.peers = {};
    node.host_link = memory;
    node.devices_per_switch = 1;
    node.peer_access = node.gpu_direct = true;
}

}  // namespace

Observation observation_of(CurveObserved curve, const Cluster& cluster) {
    const int per_node = curve.ranks / curve.nodes;
    if (curve.ranks % curve.nodes != 0 || per_node > cluster.node.devices || curve.nodes > cluster.nodes)
        throw InputError(Diagnostic{"", "",
                                    curve.name + ": no place on " + cluster.name + ", " + std::to_string(cluster.nodes) + " nodes of " +
                                        std::to_string(cluster.node.devices) + " devices",
                                    "--cluster names a profile that is like the machine of the logs"});
    Observation o;
    const double noise = noise_among(curve_error, static_cast<double>(curve.points.size()), points_of_a_curve);
    for (const auto& [size, time] : curve.points) o.terms.push_back({curve.name, to_text(size), time, {}, noise, size, false});
    o.predict = [curve = std::move(curve), per_node](const Scenario& machine) {
        Cluster on = machine.cluster;
        if (curve.host_memory) put_ranks_on_host(on.node, *curve.host_memory);
        const Topology topology = Topology::build(on, curve.nodes, machine.library.sockets_only);
        std::vector<DeviceIndex> members;
        for (int node = 0; node < curve.nodes; ++node)
            for (int local = 0; local < per_node; ++local) members.push_back(node * on.node.devices + local);
        const Group group = group_of_call(curve.what, topology, members, group_machine(on));
        const Seconds at_least = machine.library.launch ? curve.devices_of_process * machine.library.launch->value : Seconds{};
        std::vector<Seconds> times;
        for (const auto& [size, time] : curve.points)
            times.push_back(max(collective_time(curve.what, size, group, machine.library), at_least));
        return times;
    };
    return o;
}

Observation observation_of(JobObserved job) {
    const double noise = std::hypot(job.noise, job_error);
    const Terms before = estimate(prepare(job.scenario)).terms;
    Observation o;
    std::vector<Term> terms;
    if (job.terms) terms = fitted_terms(*job.terms, before);
    for (const Term t : terms) o.terms.push_back({job.name, std::string(to_text(t)), (*job.terms)[t], {}, noise, {}, false});
    if (terms.empty()) o.terms.push_back({job.name, "step", job.step, {}, noise, {}, false});
    o.predict = [scenario = std::move(job.scenario), terms = std::move(terms)](const Scenario& machine) {
        Scenario s = scenario;
        s.cluster = machine.cluster;
        if (s.library.name == machine.library.name) s.library = machine.library;
        const Estimate e = estimate(prepare(s));
        std::vector<Seconds> times;
        for (const Term t : terms) times.push_back(e.terms[t]);
        if (times.empty()) times.push_back(e.step);
        return times;
    };
    return o;
}

namespace {

Fit fit_parameters(const std::vector<NarrowedParameter>& parameters, const std::vector<CalibratedTerm>& terms,
                   const std::vector<Observation>& seen, Scenario machine) {
    std::vector<FitPoint> points;
    for (const CalibratedTerm& t : terms) points.push_back({t.measured.si(), t.noise});
    std::vector<FitParameter> starts;
    for (const NarrowedParameter& p : parameters)
        starts.push_back(
            {p.parameter.name, p.before, p.spread_before, std::min(p.before, p.parameter.least), std::max(p.before, p.parameter.most)});
    return fit(starts, points, [&](const std::vector<double>& values) {
        for (std::size_t j = 0; j < values.size(); ++j) parameters[j].parameter.set(machine, values[j]);
        std::vector<double> predicted;
        for (const Seconds t : predictions(seen, machine)) predicted.push_back(std::max(1e-12, t.si()));
        return predicted;
    });
}

// Puts what the measurements moved into the machine. What they did not move stays as it was before.
std::vector<CalibratedNumber> take_moved(std::vector<NarrowedParameter>& parameters, const std::vector<FittedParameter>& fitted,
                                         const std::string& source, Scenario& machine) {
    std::vector<CalibratedNumber> moved;
    for (std::size_t j = 0; j < fitted.size(); ++j) {
        NarrowedParameter& p = parameters[j];
        p.value = fitted[j].value;
        p.spread = fitted[j].spread;
        p.at_bound = fitted[j].at_bound;
        if (!p.is_moved()) continue;
        p.parameter.set(machine, p.value);
        p.parameter.attribute(machine, source + ", uncertainty " + percent_text(p.spread, 2));
        moved.push_back(p.parameter.moved(p.before, p.spread_before, p.value, p.spread));
    }
    return moved;
}

double median_noise(const std::vector<CalibratedTerm>& terms) {
    std::vector<double> noises;
    for (const CalibratedTerm& t : terms) noises.push_back(t.noise);
    return median(std::move(noises));
}

}  // namespace

ClusterFit fit_cluster(const Cluster& cluster, const CommunicationLibrary& library, const std::vector<Observation>& seen,
                       const std::string& source) {
    Scenario before;
    before.cluster = cluster;
    before.library = library;
    ClusterFit found;
    for (const Observation& o : seen) found.terms.insert(found.terms.end(), o.terms.begin(), o.terms.end());
    if (found.terms.empty()) throw InputError(Diagnostic{"", "", "the files hold nothing that a profile could be fitted to", ""});
    found.parameters = parameters_of(before);
    found.predicted_before = predictions(seen, before);
    const Fit f = fit_parameters(found.parameters, found.terms, seen, before);

    Scenario machine = before;
    CalibrationStamp stamp;
    stamp.numbers = take_moved(found.parameters, f.parameters, source, machine);
    const std::vector<Seconds> after = predictions(seen, machine);
    for (std::size_t i = 0; i < after.size(); ++i) {
        found.terms[i].predicted = after[i];
        found.terms[i].left_out = is_left_out(f.weights[i]);
    }
    found.median_error_before = median_error(found.terms, found.predicted_before);
    found.median_error = median_error(found.terms, after);
    stamp.runs = static_cast<int>(seen.size());
    stamp.noise = median_noise(found.terms);
    stamp.median_error = found.median_error;
    stamp.terms = found.terms;
    found.cluster = machine.cluster;
    found.cluster.library = machine.library;
    found.cluster.calibration = std::move(stamp);
    return found;
}

}  // namespace sextant
