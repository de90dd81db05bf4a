// The answer: how fast, does it fit, what holds it back, what would help, how sure are we. A value; writers are in model/io.
#pragma once

#include "model/predict/checkpoints.hpp"
#include "model/predict/estimate.hpp"
#include "model/predict/input_estimate.hpp"
#include "model/report/failures.hpp"
#include "model/report/sweep.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

// What limits the speed of the computation, in the terms of the SURF course "Parallel computing for deep learning"; and host_latency, for a
// device that waits for its host although it communicates with nobody.
enum class BottleneckKind { compute, memory_bandwidth, memory_size, communication_bandwidth, communication_latency, host_latency, io };
inline constexpr int bottleneck_kind_count = static_cast<int>(BottleneckKind::io) + 1;
inline constexpr auto all_bottleneck_kinds = enumerators<BottleneckKind, bottleneck_kind_count>();
std::string_view to_text(BottleneckKind);

// One resource made better: what the step would gain.
struct Mover {
    std::string resource;  // "network bandwidth"
    std::string change;    // "twice the network bandwidth", "half the communication latency"
    BottleneckKind kind = BottleneckKind::compute;
    Seconds step_at_double;  // step time with twice of it
    double gain = 0;         // 1 - step_at_double / step
};

// The job with one thing changed, usually in its plan. model/io describes the change in the terms of a scenario file.
struct PricedSetting {
    Scenario job;
    Seconds step;
    Bytes memory;             // of the fullest rank
    double gain = 0;          // in the time of a sample
    bool per_sample = false;  // the step has another number of samples
};

struct Bottleneck {
    BottleneckKind kind = BottleneckKind::compute;
    std::string why;
    std::string what_else_helps;          // beside settings: "a faster device, or more devices"
    std::vector<Mover> movers;            // largest gain first
    std::vector<PricedSetting> settings;  // that gain something; where the job does not fit, those that do (better_settings.hpp)
    // Where the job does not fit: other frameworks, devices and nodes that it fits on. Filled in by those who know them (look_elsewhere).
    std::vector<PricedSetting> elsewhere;
    // The multiple of the limiting resource at which another resource becomes the limit, and what that is in its unit.
    std::optional<double> changes_at;
    std::string changes_at_text;  // "at 612 TFLOP/s the limit becomes memory bandwidth"
};

// An input of the prediction, and how far it can be trusted.
struct InputUsed {
    std::string name;  // "memory bandwidth of A100 SXM4 80GB"
    std::string value;
    SourceKind kind = SourceKind::estimated;
    std::string source;
    double spread = 0;                      // relative standard deviation assumed for this kind of source
    double effect = 0;                      // relative change of the step time for one spread
    double Resources::*resource = nullptr;  // its multiplier in a what-if
};

struct RunCost {
    double steps = 0;
    Seconds time;  // of all
    // Parts of that, beyond steps as they are once the first epoch is over.
    Seconds staging{}, first_epoch{}, checkpoints{}, failures{};
    double goodput = 1;   // the fraction of the time spent in such steps
    Seconds device_time;  // of the devices reserved
    std::optional<Money> cost;
    Joules energy;
    std::optional<FailureEstimate> failing;
};

struct BatchAdvice {
    std::int64_t effective_batch = 0;                // n x N
    std::int64_t largest_micro_batch = 0;            // that fits; 0: none
    static constexpr std::int64_t most = 1'000'000;  // that a plan may ask for
    [[nodiscard]] bool any_micro_batch_fits() const { return largest_micro_batch >= most; }
    std::optional<double> linear_rate, square_root_rate;  // the two learning-rate rules
};

struct Report {
    Scenario job;  // that it is of
    std::string scenario;
    std::string workload, hardware, plan;  // one line each, for people
    Estimate estimate;
    Seconds low, high;  // 80 % interval of the step time
    Frequency samples_per_s;
    std::optional<Frequency> tokens_per_s;
    std::string sample_word;
    // MFU: model FLOPs (forward and twice that for backward, no recompute) over step x devices x peak of the compute type.
    // HFU: the same with everything executed, recompute included.
    double mfu = 0, hfu = 0;
    FlopRate peak;                  // of one device, in the compute type
    double scaling_efficiency = 1;  // this step without data-parallel communication and stragglers, over this step
    double utilization = 1;         // fraction of time a kernel runs, as a monitor shows it
    int devices = 1, reserved_devices = 1;
    Bottleneck bottleneck;
    BatchAdvice batch;
    std::optional<double> staleness;  // of an asynchronous parameter server: updates by other workers, on average (staleness.hpp)
    std::optional<RunCost> run;
    std::optional<InputEstimate> input;  // of real data
    std::optional<CheckpointEstimate> checkpoints;
    std::optional<SweepEstimate> sweep;
    std::vector<InputUsed> inputs;  // largest effect first
    std::vector<std::string> assumptions;
    std::vector<std::string> advice;
};

// The 80 % interval of a quantity that is proportional to the step time.
template <class Q>
struct Interval {
    Q low, high;
};
template <class Q>
Interval<Q> interval_of(Q q, const Report& r) {
    return {r.low / r.estimate.step * q, r.high / r.estimate.step * q};
}

Report make_report(const Prepared&);
// The same for an estimate made in another way, by simulation. What would move it is still judged by the closed form.
Report make_report(const Prepared&, const Estimate&);

// What a stage would need with a micro-batch `factor` times as large and the same number of them: activations and logits grow with it, the
// rest does not. Memory that the allocator leaves unused grows too, up to what the `device` has left.
StageMemory with_micro_batch_scaled(const StageMemory&, double factor, Bytes device);

// The formula and the numbers behind one term, line by line.
std::vector<std::string> explain(const Prepared&, Term);
// What the memory of the fullest rank consists of, kind by kind, with the largest tensors among activations.
std::vector<std::string> explain_memory(const Prepared&);
// The time of the whole run.
std::vector<std::string> explain_run(const Prepared&);

}  // namespace sextant
