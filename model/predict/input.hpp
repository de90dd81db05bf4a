// The input of a prepared job: who reads what from where, and how long steps wait for it. docs/model/input.md derives it. Internal to
// predict, and what a report compares other ways of reading with.
#pragma once

#include "model/cost/cost_table.hpp"
#include "model/predict/estimate.hpp"
#include "model/predict/input_estimate.hpp"

#include <optional>
#include <vector>

namespace sextant {

struct InputJob {
    std::vector<SampleSource> first, later;  // epochs
    Seconds work;                            // of a worker's thread for one sample
    LoaderNode node;
    double nodes = 1;          // on which samples are read
    double readers = 1;        // devices of such a node that are fed; of the last one may be fewer
    double all_readers = 1;    // on all nodes
    double samples = 1;        // of one step for each of them
    double busy_cores = 0;     // of a node, by the training itself
    double micro_batches = 1;  // of one step for each of them
    double ahead = 1;          // micro-batches of a step that may be there before it begins; none: nothing is read beside it
    double others = 0;         // of shared storage, what other jobs take
    double steps_per_epoch = 0;
    double cached = 0, staged = 0;
    std::optional<StagingJob> copy;  // before the first step
    StagingTime staging;
    Seconds writing;    // as of InputEstimate
    Bytes values;       // of one sample as the network takes it, a byte each
    Bytes input;        // of one sample, as it goes to the device; none where the device is the host
    double copies = 0;  // of one step
    bool by_sample = false;
    HostCopy link;
};

// `data` need not be the scenario's. None where it is synthetic.
std::optional<InputJob> input_job(const DataSource& data, const Prepared::State&);
// A step that waits for no samples.
struct StepWithoutInput {
    Seconds time;
    Seconds taking;  // from the first micro-batch that a reader takes to the last
};
StepWithoutInput without_input(const Estimate&);

// By how much a step is longer in later epochs.
Seconds input_wait(const InputJob&, const StepWithoutInput&, const Resources&);
InputEstimate estimate_input(const InputJob&, const StepWithoutInput&, const Resources&);

// Of the later epochs: what loaders share, and one load of so many samples.
LoaderPrices loader_prices(const InputJob&, const Prepared::State&);
PricedLoad price_load(const InputJob&, double samples);
Seconds price_copy(const InputJob&, double samples);

// None where the scenario has none.
std::optional<CheckpointEstimate> estimate_checkpoints(const Prepared::State&, const Estimate&);

}  // namespace sextant
