// What the input of a job costs beside its steps, and why: the part of an estimate that only real data has.
#pragma once

#include "model/cost/input.hpp"

#include <optional>

namespace sextant {

struct InputEstimate {
    // How fast the loaders of one node bring samples, and how long they take for those of one step: in the first epoch, and in later ones.
    LoaderRate first, later;
    Seconds first_loading, later_loading;
    Seconds first_wait;             // of a step of the first epoch for its samples; of later ones it is the term `input`
    Seconds copies;                 // of one step's samples to a device
    double steps_per_epoch = 0;     // 0: the number of samples is not known
    double cached = 0, staged = 0;  // shares of the samples that later epochs find in memory and on staging storage
    StagingTime staging;
    Seconds writing;  // of all samples where they lie, once, by one thread that has their values; zero: their number is not known
};

struct CheckpointEstimate {
    Bytes bytes;
    Seconds write;     // until it is on storage
    Seconds wait;      // of the training
    Seconds read;      // back, behind a failure
    double steps = 1;  // from one to the next
};

}  // namespace sextant
