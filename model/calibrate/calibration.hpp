// A machine's profile from small jobs that were run on it.
//
// A probe is a scenario so small that one or two parameters of the profile decide each of its terms: a perceptron of wide layers is matrix
// products, its update streams memory, its gradients are one all-reduce of a known size. The parameters are those at which the closed form
// predicts all terms of all probes best (fit.hpp), and the times of their operators where these were taken, so that what is fitted is what
// predictions use. Nothing is known of the probes but their scenarios: a user's own runs are probes like any other.
#pragma once

#include "model/calibrate/machine.hpp"
#include "model/calibrate/profile_parameters.hpp"
#include "model/graph/run_record.hpp"
#include "model/predict/estimate.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant {

struct ProbeRun {
    std::string name;
    Scenario scenario;
    Terms measured;
    double noise = 0;                     // of a step
    std::vector<OperatorTime> operators;  // of that step, where the run was asked for them
};
// The terms of a step that a profile's numbers decide and a run shows. None where the device is predicted to wait for its host: a run shows
// that as longer spans of kernels, and only the whole step can be compared.
std::vector<Term> fitted_terms(const Terms& measured, const Terms& predicted);

// Relative standard deviation, of a normal distribution with their quartiles.
double noise_of(std::vector<Seconds> steps);
ProbeRun probe_run(std::string name, Scenario, const RunRecord&);

struct CalibratedParameter {
    ProfileParameter parameter;
    double before = 0, value = 0, spread = 0;  // SI; spread relative
    bool at_bound = false;

    // Or does no run say anything about it?
    [[nodiscard]] bool is_measured() const { return spread < 0.9 * parameter.spread; }
};

struct ProbeResidual {
    std::string probe;
    Term term = Term::forward;
    bool whole_step = false;  // rather than one term of it
    Seconds measured, predicted;
    double noise = 0;  // relative, of its step
    bool left_out = false;
};

struct Calibration {
    Scenario calibrated;  // the profile is its cluster and its library
    std::vector<CalibratedParameter> parameters;
    std::vector<ProbeResidual> residuals;
    int runs = 0;
    double noise = 0;  // median over the probes
    // Of the time of the machine's cores meanwhile, what other programs took. Of runs that were there before nobody knows.
    std::optional<double> others;
    double median_error = 0;  // |predicted / measured - 1|, median over terms
    int operators = 0;        // whose times were fitted to as well
    double median_operator_error = 0;
};

// `source`: who measured, for the profile. Throws InputError when there is nothing to fit. Probes share their machine, library and
// framework; runs of one name are runs of one scenario.
Calibration calibrate(const std::vector<ProbeRun>&, const std::vector<ProfileParameter>&, const std::string& source);

// The profile, stamped.
Cluster calibrated_cluster(const Calibration&, const MachineFacts&, const std::string& date);

}  // namespace sextant
