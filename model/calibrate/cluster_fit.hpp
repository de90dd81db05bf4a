// A cluster's profile, narrowed by what its owner already has: curves of a benchmark of its communication library, steps of its own jobs.
//
// What is known beforehand is the profile that one begins with, as sure as numbers of its kinds of source are on a machine that they were
// not measured on: measured and datasheet 20 %, published 30 %, estimated within a factor of two. So a few measurements move
// only what they decide. Found by fit.hpp in the predictions themselves.
#pragma once

#include "model/calibrate/profile_parameters.hpp"
#include "model/cost/collectives.hpp"
#include "model/predict/estimate.hpp"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace sextant {

// Numbers that were measured together. Their predictions, in their order, on a machine of this cluster and this library.
struct Observation {
    std::vector<CalibratedTerm> terms;
    std::function<std::vector<Seconds>(const Scenario& machine)> predict;
};

// A sweep of one operation over message sizes, laid on the cluster's first nodes.
struct CurveObserved {
    std::string name;  // "all_reduce_perf, 8 ranks on 1 node"
    Collective what = Collective::all_reduce;
    int ranks = 2, nodes = 1;
    std::vector<std::pair<Bytes, Seconds>> points;  // message, time of a call
    int devices_of_process = 1;                     // that one process drives
    std::optional<LinkType> host_memory;            // the ranks' buffers lie in host memory, which is copied so
};
// Throws InputError where the cluster has no place for the ranks.
Observation observation_of(CurveObserved, const Cluster&);

// Steps of a job: computation and exchanges of the rank that finishes last where a trace has them, else the whole step.
struct JobObserved {
    std::string name;
    Scenario scenario;
    std::optional<Terms> terms;
    Seconds step;      // the median
    double noise = 0;  // of a step, relative
};
Observation observation_of(JobObserved);

struct NarrowedParameter {
    ProfileParameter parameter;
    double before = 0, spread_before = 0, value = 0, spread = 0;  // SI; spreads relative
    bool at_bound = false;

    // Or do the measurements say nothing about it? Far from what was believed counts, however badly they agree with each other.
    [[nodiscard]] bool is_moved() const { return spread < 0.9 * spread_before || std::abs(std::log(value / before)) > spread_before; }
};

struct ClusterFit {
    Cluster cluster;  // with its library, stamped but for host and date
    std::vector<NarrowedParameter> parameters;
    std::vector<CalibratedTerm> terms;
    std::vector<Seconds> predicted_before;             // by term
    double median_error_before = 0, median_error = 0;  // |predicted / measured - 1|, over terms
};

// `library`: the one that the curves are of. `source`: who measured. Throws InputError when there is nothing to fit.
ClusterFit fit_cluster(const Cluster&, const CommunicationLibrary&, const std::vector<Observation>&, const std::string& source);

}  // namespace sextant
