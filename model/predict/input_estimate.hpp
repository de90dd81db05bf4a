// What the input of a job costs beside its steps, and why: the part of an estimate that exists only for real data.
#pragma once

#include "model/cost/staging.hpp"

#include <optional>

namespace sextant {

struct InputEstimate {
    // How fast the loaders of one node bring samples, and how long they take for those of one step, in the first and in later epochs.
    LoaderRate first, later;
    Seconds first_loading, later_loading;
    Seconds first_wait;             // of a step of the first epoch for its samples; in later epochs this is the term `input`
    Seconds copies;                 // of one step's samples to a device
    double steps_per_epoch = 0;     // 0: the number of samples is not known
    double cached = 0, staged = 0;  // fractions of the samples that later epochs find in memory and on staging storage
    StagingTime staging;
    Seconds writing;  // how long one thread takes to write all samples from their values; zero where their number is not known
};

}  // namespace sextant
