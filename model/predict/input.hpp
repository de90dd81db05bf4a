// The input of a prepared job: who reads what from where, and how long steps wait for it. docs/model/input.md derives it. Internal to
// predict, and for reports that compare other ways of reading.
#pragma once

#include "model/cost/cost_table.hpp"
#include "model/predict/estimate.hpp"
#include "model/predict/input_estimate.hpp"

#include <optional>
#include <vector>

namespace sextant {

struct InputJob {
    std::vector<SampleSource> first, later;  // where the first epoch reads, and where later ones do
    Seconds work;                            // of a worker's thread for one sample
    LoaderNode node;
    double nodes = 1;          // that read samples
    double readers = 1;        // devices of such a node that are fed; the last node may have fewer
    double all_readers = 1;    // the same on all nodes
    double samples = 1;        // of one step, for each reader
    double busy_cores = 0;     // cores of a node that the training itself keeps busy
    double micro_batches = 1;  // of one step, for each reader
    double ahead = 1;          // micro-batches of a step that may be ready before it begins; none: nothing is read beside it
    double others = 0;         // the fraction of shared storage that other jobs take
    double steps_per_epoch = 0;
    double cached = 0, staged = 0;   // as in InputEstimate
    std::optional<StagingJob> copy;  // before the first step
    StagingTime staging;
    Seconds writing;    // as in InputEstimate
    Bytes values;       // of one sample as the network takes it, a byte each
    Bytes input;        // of one sample as it goes to the device; zero where the device is the host
    double copies = 0;  // of one step
    bool by_sample = false;
    HostCopy link;
};

// The devices of a node that ranks of this job use; scattered ranks are spread over all nodes that there are.
int devices_of_node(const Prepared::State&);

// `data` may be other than the scenario's. None where it is synthetic.
std::optional<InputJob> input_job(const DataSource& data, const Prepared::State&);
// A step that waits for no samples.
struct StepWithoutInput {
    Seconds time;
    Seconds taking;  // from the first micro-batch that a reader takes to the last
};
StepWithoutInput without_input(const Estimate&);

// How much longer a step of a later epoch takes because it waits for samples.
Seconds input_wait(const InputJob&, const StepWithoutInput&, const Resources&);
InputEstimate estimate_input(const InputJob&, const StepWithoutInput&, const Resources&);

// For the later epochs: what loaders share, one load of this many samples, and their copy to the device.
LoaderPrices loader_prices(const InputJob&, const Prepared::State&);
PricedLoad price_load(const InputJob&, double samples);
Seconds price_copy(const InputJob&, double samples);

}  // namespace sextant
