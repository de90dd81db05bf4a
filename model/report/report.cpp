#include "model/report/report.hpp"

#include "model/base/grouped_digits.hpp"
#include "model/base/quantity_text.hpp"
#include "model/plan/idle_settings.hpp"
#include "model/plan/partition.hpp"
#include "model/plan/plan_features.hpp"
#include "model/predict/fragmentation.hpp"
#include "model/predict/mixed_devices.hpp"
#include "model/predict/stage_memory.hpp"
#include "model/predict/state.hpp"
#include "model/report/bottleneck.hpp"
#include "model/report/headings.hpp"
#include "model/report/input_advice.hpp"
#include "model/report/running_cost.hpp"
#include "model/report/staleness.hpp"
#include "model/report/uncertainty.hpp"
#include "model/report/whole_run.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace sextant {
namespace {

// The schedule, where the number of chunks does not say it already.
std::string_view schedule_name(Schedule s) {
    switch (s) {
        case Schedule::gpipe: return " (GPipe)";
        case Schedule::zero_bubble: return " (zero bubble)";
        case Schedule::zero_bubble_v: return " (zero bubble, V-shaped)";
        case Schedule::dual_pipe_v: return " (DualPipe, V-shaped)";
        case Schedule::sequential: return " (sequential)";
        case Schedule::one_f_one_b:
        case Schedule::interleaved: break;
    }
    return "";
}

std::string plan_line(const Plan& p) {
    std::string text = counted(p.devices(), "device");
    if (!p.node_ranks.empty()) {
        const auto [least, most] = std::ranges::minmax(p.node_ranks);
        text +=
            " (" + std::to_string(least) + " to " + std::to_string(most) + " on each of " + grouped_digits(p.node_ranks.size()) + " nodes)";
    }
    const auto dimension = [&](std::string_view name, int n) {
        if (n > 1) text += ", " + std::string(name) + " " + grouped_digits(n);
    };
    dimension("data", p.dp);
    dimension("tensor", p.tp);
    dimension("pipeline", p.pp);
    if (p.pp > 1) text += schedule_name(p.schedule);
    if (!turns_back(p.schedule)) dimension("virtual", p.vpp);
    dimension("context", p.cp);
    dimension("expert", p.ep);
    if (p.has_servers())
        text += p.servers_on_workers ? ", servers on the workers' hosts" : ", parameter servers " + grouped_digits(p.parameter_servers);
    return text + ", micro-batch " + grouped_digits(p.micro_batch) + ", global batch " + grouped_digits(p.global_batch) + ", " +
           std::string(to_text(p.precision.compute));
}

// The most at which every stage fits; memory is linear in it.
std::int64_t largest_micro_batch(const Scenario& s, const Estimate& e) {
    double largest = BatchAdvice::most;
    for (const StageMemory& m : e.memory) {
        // Where it would not fit otherwise, an allocator gives back what lies unused.
        const Bytes fixed = with_micro_batch_scaled(m, 0, e.device_memory).total();
        const Bytes growing = (m[MemoryKind::activations] + m[MemoryKind::logits]) / static_cast<double>(s.plan.micro_batch);
        if (growing > Bytes{}) largest = std::min(largest, (e.device_memory - fixed) / growing);
    }
    if (const Bytes growing = e.host.activations / static_cast<double>(s.plan.micro_batch); growing > Bytes{})
        largest = std::min(largest, (e.host.there - e.host.states) / growing);
    else if (!e.host.fits())
        largest = 0;
    return static_cast<std::int64_t>(std::max(0.0, std::floor(largest)));
}

BatchAdvice batch_advice(const Scenario& s, const Estimate& e) {
    BatchAdvice a;
    a.effective_batch = s.plan.global_batch;
    a.largest_micro_batch = largest_micro_batch(s, e);
    if (s.run.base_learning_rate && s.run.base_batch) {
        const double ratio = static_cast<double>(s.plan.global_batch) / static_cast<double>(*s.run.base_batch);
        a.linear_rate = *s.run.base_learning_rate * ratio;
        a.square_root_rate = *s.run.base_learning_rate * std::sqrt(ratio);
    }
    return a;
}

bool convolves(const Workload& workload) {
    const auto* graph = std::get_if<GraphSpec>(&workload.spec);
    if (graph == nullptr) return std::holds_alternative<ConvolutionalSpec>(workload.spec);
    return std::ranges::any_of(graph->network.templates, [](const Block& block) {
        return std::ranges::any_of(block.graph.operators(),
                                   [](const Operator& op) { return std::holds_alternative<Convolution>(op.kind); });
    });
}

// Where the device does not multiply in the type that the plan names.
std::vector<std::string> type_assumptions(const Scenario& s) {
    const std::string& device = s.cluster.node.device.name;
    const DataType compute = s.plan.precision.compute;
    const MatrixPath path = matrix_path(s.cluster.node.device, compute, s.plan.precision.tf32, s.framework.tensor_units);
    std::vector<std::string> list;
    if (!path.native)
        list.push_back((s.framework.tensor_units ? device : s.framework.title) + " does not multiply " + std::string(to_text(compute)) +
                       ": products run in " + std::string(to_text(path.peak->input)));
    if (compute == DataType::fp32 && s.plan.precision.tf32 && path.peak->input == DataType::fp32)
        list.push_back(device + " has no TF32 units: fp32 products run on its vector units");
    const CastToTf32 casts = s.framework.casts_to_tf32;
    const bool casts_these = casts == CastToTf32::all || (casts == CastToTf32::convolutions && convolves(s.workload));
    if (compute == DataType::fp32 && !s.plan.precision.tf32 && casts_these &&
        matrix_path(s.cluster.node.device, compute, true).peak->input == DataType::tf32)
        list.push_back("products in FP32, as the plan says: " + s.framework.title + " casts " +
                       (casts == CastToTf32::all ? "them" : "convolutions") + " to TF32 unless it is told not to (plan.precision=tf32)");
    return list;
}

std::vector<std::string> feature_assumptions(const Scenario& s) {
    std::vector<std::string> list;
    for (const PlanFeature f : missing_features(s.plan, s.framework, s.cluster))
        list.push_back(s.framework.title + " has no " + std::string(to_text(f)) + ": predicted as if it had");
    return list;
}

// Where a job was given two kinds of devices, or nodes that it names.
std::vector<std::string> allocation_assumptions(const Scenario& s) {
    std::vector<std::string> list;
    if (const auto& slow = s.straggler; slow && slow->device)
        list.push_back(grouped_digits(slow->devices) + " of " + grouped_digits(s.plan.devices()) + " devices are " + slow->device->name +
                       ", which does this job at " + percent_text(slow->speed, 3) + " of the speed of " + s.cluster.node.device.name +
                       (slow->has_smaller_batches
                            ? ", with batches in proportion: all are as fast as the mean, " + percent_text(mean_speed(s), 3)
                            : "") +
                       "; memory is judged by the smaller");
    if (!s.cluster.node_numbers.empty() && s.cluster.fabric.nodes_per_leaf > 0)
        list.emplace_back("nodes hang at leaves in the order of their numbers, counted from 0");
    return list;
}

// Advises at least twice the size, within a rank's part of the global batch, or with a larger global batch where that is used up.
std::optional<std::string> larger_micro_batch(const Plan& plan, const Report& r) {
    const bool waits_for_starts =
        r.bottleneck.kind == BottleneckKind::communication_latency || r.bottleneck.kind == BottleneckKind::host_latency;
    if (!waits_for_starts || r.batch.largest_micro_batch < 2 * plan.micro_batch) return {};
    const std::int64_t usable = std::min(r.batch.largest_micro_batch, plan.micro_batches() * plan.micro_batch);
    if (usable >= 2 * plan.micro_batch)
        return "a micro-batch of up to " + grouped_digits(usable) + " fits and would need fewer kernels and messages a sample";
    return "twice the micro-batch and the global batch fit and would need fewer kernels and messages a sample";
}

std::vector<std::string> advice(const Scenario& s, const Report& r) {
    std::vector<std::string> list = idle_settings(s);
    const int idle = r.reserved_devices - r.devices;
    if (idle > 0)
        list.push_back(grouped_digits(idle) + " of " + grouped_digits(r.reserved_devices) +
                       " reserved devices do nothing: reserving more devices does not make a program use them");
    if (auto larger = larger_micro_batch(s.plan, r)) list.push_back(std::move(*larger));
    const bool idle_fabric = &network_link(s) != &s.cluster.node.nic_link && s.cluster.node.nics > 0;
    if (idle_fabric && used_nodes(s) > 1)
        list.push_back("communication goes over sockets on Ethernet while " + s.cluster.node.nic_link.name + " is idle: " +
                       (s.library.sockets_only ? "choose a library other than " + s.library.name : "hardware.ethernet=false uses it"));
    if (s.plan.schedule == Schedule::sequential && s.plan.pp > 1)
        list.emplace_back("one stage works at a time: pipeline the micro-batches, or use data parallelism if the model fits one device");
    if (s.plan.precision.compute == DataType::fp32 && !s.plan.precision.tf32 &&
        s.cluster.node.device.peak(DataType::fp16, ComputeUnit::tensor))
        list.emplace_back(s.cluster.node.device.peak(DataType::tf32, ComputeUnit::tensor)
                              ? "tensor cores are idle in fp32: mixed precision or TF32 would use them"
                              : "matrix units are idle in fp32: mixed precision would use them");
    return list;
}

void append(std::vector<std::string>& list, std::vector<std::string> more) { std::ranges::move(more, std::back_inserter(list)); }

// What was taken for granted where the scenario, its cluster and its framework state nothing.
std::vector<std::string> assumptions(const Prepared& job, const Report& r) {
    const Scenario& s = job.scenario();
    std::vector<std::string> list = s.assumptions;
    append(list, allocation_assumptions(s));
    append(list, s.cluster.assumptions);
    if (s.cluster.calibration && s.cluster.calibration->edited)
        list.push_back("the profile \"" + s.cluster.name + "\" was edited after its calibration of " + s.cluster.calibration->date);
    if (!s.framework.strategy_note.empty()) list.push_back(s.framework.title + ": " + s.framework.strategy_note);
    append(list, type_assumptions(s));
    append(list, feature_assumptions(s));
    if (r.mfu > 1 && s.plan.precision.compute != DataType::fp64)
        list.emplace_back(
            "MFU counts each multiplication of the mathematics, and may pass 100 %: libraries do 3 x 3 convolutions with fewer (Winograd)");
    if (r.input) append(list, input_assumptions(s));
    return list;
}

std::vector<std::string> all_advice(const Prepared& job, const Report& r) {
    const Scenario& s = job.scenario();
    std::vector<std::string> list = advice(s, r);
    append(list, checkpoint_advice(s, r));
    if (auto a = interval_advice(r)) list.push_back(std::move(*a));
    if (r.input) append(list, input_advice(job, r));
    return list;
}

// The peak rate of a device of the job: the mean, where there are two kinds.
FlopRate mean_peak(const Scenario& s) {
    const auto of = [&](const Device& d) { return matrix_path(d, s.plan.precision.compute, s.plan.precision.tf32).peak->rate.value; };
    const FlopRate usual = of(s.cluster.node.device);
    if (!s.straggler || !s.straggler->device) return usual;
    return usual + s.straggler->devices / static_cast<double>(s.plan.devices()) * (of(*s.straggler->device) - usual);
}

}  // namespace

std::string_view to_text(BottleneckKind k) {
    static constexpr std::string_view names[bottleneck_kind_count] = {
        "compute", "memory bandwidth", "memory size", "communication (bandwidth)", "communication (latency)", "host (latency)", "I/O"};
    return names[static_cast<std::size_t>(k)];
}

StageMemory with_micro_batch_scaled(const StageMemory& memory, double factor, Bytes device) {
    StageMemory scaled = memory;
    for (const MemoryKind kind : {MemoryKind::activations, MemoryKind::logits, MemoryKind::fragmentation}) scaled[kind] *= factor;
    Bytes& unused = scaled[MemoryKind::fragmentation];
    unused = left_unused(unused, scaled.total() - unused, device);
    return scaled;
}

Report make_report(const Prepared& job) { return make_report(job, estimate(job)); }

Report make_report(const Prepared& job, const Estimate& e) {
    const Scenario& s = job.scenario();
    Report r;
    r.job = s;
    r.scenario = s.name;
    r.workload = workload_line(s.workload);
    r.hardware = hardware_line(s.cluster);
    r.plan = plan_line(s.plan) + ", " + s.framework.title;
    r.estimate = e;
    r.devices = s.plan.devices();
    r.reserved_devices = std::max(r.devices, s.reserved_devices);
    const double batch = static_cast<double>(s.plan.global_batch);
    r.samples_per_s = batch / e.step;
    if (const std::int64_t tokens = s.workload.tokens_per_sample(); tokens > 0)
        r.tokens_per_s = batch * static_cast<double>(tokens) / e.step;
    r.sample_word = std::string(s.workload.sample_word());
    r.peak = mean_peak(s);
    r.mfu = e.model_flops / (e.step * r.devices * r.peak);
    r.hfu = e.hardware_flops / (e.step * r.devices * r.peak);
    r.scaling_efficiency = 1 - (e.terms[Term::data_communication] + e.terms[Term::straggler]) / e.step;
    r.utilization = utilization(e.terms, s.plan);

    r.bottleneck = find_bottleneck(job, e);
    const Uncertainty u = find_uncertainty(job, e);
    r.low = u.low;
    r.high = u.high;
    r.inputs = u.inputs;
    r.batch = batch_advice(s, e);
    if (job.state().input) r.input = estimate_input(*job.state().input, without_input(e), {});
    r.checkpoints = estimate_checkpoints(job.state(), e);
    if (s.plan.is_asynchronous()) r.staleness = expected_staleness(s.plan.dp);
    if (const auto samples = samples_of_run(s)) r.run = run_cost(s, *samples, r);
    if (r.run && s.run.sweep) r.sweep = best_grouping(*s.run.sweep, sweep_task(job, r));
    r.assumptions = assumptions(job, r);
    r.advice = all_advice(job, r);
    return r;
}

}  // namespace sextant
