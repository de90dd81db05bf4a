// Everything a prediction depends on, resolved: no names left to look up.
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/hardware/cluster.hpp"
#include "model/plan/data_source.hpp"
#include "model/plan/framework.hpp"
#include "model/plan/plan.hpp"
#include "model/workload/workload.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant {

// The same job many times, each with other parameters: a hyperparameter search.
struct Sweep {
    std::int64_t tasks = 1;
    Seconds start_up;          // of a job, before its first task
    std::int64_t at_once = 1;  // jobs that the scheduler lets run side by side
};

// How often what the job runs on fails, and how long it stands still then. A failure of any device or node stops the whole job.
struct Failures {
    std::optional<Seconds> device_mtbf, node_mtbf;  // mean time between failures of one; one of the two at least
    Seconds detection;                              // until it is noticed
    Seconds restart;                                // until the job is there again, beside reading a checkpoint back
};

// How long the job runs, and what a device-hour costs.
struct Run {
    std::optional<double> epochs;
    std::optional<double> tokens;
    std::optional<double> samples;
    std::optional<std::int64_t> dataset_samples;  // one epoch
    std::optional<double> base_learning_rate;     // of the single-device job with base_batch
    std::optional<std::int64_t> base_batch;
    std::optional<MoneyRate> device_price;  // overrides the profile's
    std::optional<Sweep> sweep;
    std::optional<Failures> failures;
};

// The first devices of the job are slower (a hot node) or of another kind (mixed GPUs): the step waits for them.
struct Straggler {
    int devices = 0;
    double speed = 1;                  // as a fraction of that of the others
    std::optional<Device> device{};    // the kind of the slow ones; `speed` is then found when the job is prepared
    bool has_smaller_batches = false;  // in proportion to their speed, so that nobody waits
};

struct Scenario {
    std::string name;
    std::string description;
    Workload workload;
    Cluster cluster;
    Plan plan;
    Framework framework;
    CommunicationLibrary library;
    bool use_ethernet = false;  // sockets although a faster fabric is there
    int reserved_devices = 0;   // allocated by the scheduler; 0: as many as the plan uses
    std::optional<int> cores;   // of each node, allocated with the devices; absent: see cores_of_job
    double step_noise = 0;      // standard deviation of one rank's step time over its mean; stragglers follow
    std::optional<Straggler> straggler;
    DataSource data;
    Run run;
    std::vector<std::string> pinned;       // fields of the plan that a search leaves as they are
    std::vector<std::string> assumptions;  // in words; repeated by the report
    std::string file;                      // where it came from, for diagnostics

    // Whether others wait for them.
    [[nodiscard]] bool has_slow_devices() const {
        return straggler && straggler->devices > 0 && straggler->speed < 1 && !straggler->has_smaller_batches;
    }
};

// Whether communication leaves a node over sockets, because the scenario or its library says so.
bool uses_sockets(const Scenario&);

// The link over which ranks leave their node: the Ethernet interface for sockets, although a faster one may be there.
const LinkType& network_link(const Scenario&);

// The samples of the whole run, where it says how long it is; a fraction where tokens do not make whole sequences.
std::optional<double> samples_of_run(const Scenario&);

// Whether each copy of the model is on devices of one kind, as it must be where devices take samples by their speed.
bool copies_are_of_one_kind(const Plan&, const Straggler&);

// All problems that make the plan impossible on this cluster (pointers "/plan/..."), or its data impossible where they are to lie
// ("/data/..."). Empty when it can run.
std::vector<Diagnostic> check_plan(const Scenario&);

}  // namespace sextant
