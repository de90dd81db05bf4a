// Parameters of devices and frameworks from published training runs: what no short test of a kernel shows.
//
// A device's clock over a long run, how much of a device's bandwidth and rates a framework's kernels reach: each belongs to one device or
// one framework and acts in every prediction that has it, so that runs of many models on many machines decide it together. Found by
// fit.hpp, with what such numbers usually are as what is known before. Only the rows that are handed in are looked at
// (measurement_split.hpp says which may be).
#pragma once

#include "model/calibrate/profile_parameters.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sextant {

struct TrainingRun {
    std::string group;  // runs of one model on one machine: together they count as a few
    Scenario scenario;
    Seconds step;
    std::optional<Bytes> memory{};     // peak of a device,
    bool memory_is_allocated = false;  // or of what the framework's allocator hands out
};

struct TrainedParameter {
    ProfileParameter parameter;
    std::string of;  // the device's or framework's name
    double value = 0, spread = 0;
    bool at_bound = false;
    int runs = 0;  // that have it
};

struct TrainingFit {
    std::vector<TrainedParameter> parameters;  // those that the runs decide
    double mean_error = 0;                     // of steps, |predicted / measured - 1|
    double memory_error = 0;                   // of memory, where it was measured
};

// `progress`: called after each pass over the runs.
TrainingFit fit_to_training(const std::vector<TrainingRun>&, const std::function<void()>& progress);

}  // namespace sextant
