#include "model/report/bottleneck.hpp"

#include "model/base/quantity_text.hpp"
#include "model/predict/state.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

struct Lever {
    std::string_view resource;
    BottleneckKind kind;
    double Resources::*field;
    bool less = false;  // better is less of it
};
constexpr Lever levers[] = {
    {"compute rate", BottleneckKind::compute, &Resources::compute},
    {"memory bandwidth", BottleneckKind::memory_bandwidth, &Resources::memory_bandwidth},
    {"bandwidth inside the node", BottleneckKind::communication_bandwidth, &Resources::node_bandwidth},
    {"network bandwidth", BottleneckKind::communication_bandwidth, &Resources::network_bandwidth},
    {"communication latency", BottleneckKind::communication_latency, &Resources::latency, true},
    {"host speed", BottleneckKind::communication_latency, &Resources::host},
    {"kernel start-up time", BottleneckKind::communication_latency, &Resources::kernel_overhead, true},
    {"storage bandwidth", BottleneckKind::io, &Resources::storage},
    {"storage operations per second", BottleneckKind::io, &Resources::storage_operations},
    {"number of loader workers", BottleneckKind::io, &Resources::loader_workers},
    {"speed of decoding", BottleneckKind::io, &Resources::loader_cores},
};
constexpr double smallest_gain = 1e-3;  // below: not worth a line

std::vector<Mover> movers_at(const Prepared& job, const Resources& at) {
    const Seconds now = estimate(job, at).step;
    std::vector<Mover> movers;
    for (const Lever& lever : levers) {
        if (lever.kind == BottleneckKind::io && !job.state().input) continue;  // nothing to wait for
        Resources doubled = at;
        doubled.*lever.field *= 2;
        const Seconds then = estimate(job, doubled).step;
        movers.push_back({.resource = std::string(lever.resource),
                          .change = (lever.less ? "half the " : "twice the ") + std::string(lever.resource),
                          .kind = lever.kind,
                          .step_at_double = then,
                          .gain = 1 - then / now});
    }
    std::stable_sort(movers.begin(), movers.end(), [](const Mover& a, const Mover& b) { return a.gain > b.gain; });
    return movers;
}

const Lever& lever_of(std::string_view resource) {
    for (const Lever& lever : levers)
        if (lever.resource == resource) return lever;
    return levers[0];
}

// What the limiting resource is now, in its own unit.
std::string value_of(const Prepared& job, const Lever& lever, double factor) {
    const Scenario& s = job.scenario();
    const NodeSpec& node = s.cluster.node;
    if (lever.field == &Resources::compute) {
        const MatrixPath path = matrix_path(node.device, s.plan.precision.compute, s.plan.precision.tf32);
        return to_text(path.peak->rate.value * factor) + " per device";
    }
    if (lever.field == &Resources::memory_bandwidth) return to_text(node.device.memory_bandwidth.value * factor) + " of device memory";
    if (lever.field == &Resources::node_bandwidth)
        return to_text((node.peers.layout == PeerLayout::none ? node.host_link : node.peers.link).bandwidth.value * factor) +
               " per link in the node";
    if (lever.field == &Resources::network_bandwidth) return to_text(network_link(s).bandwidth.value * factor) + " per NIC";
    if (lever.kind == BottleneckKind::io) return number_text(factor) + " times the " + std::string(lever.resource);
    return number_text(factor) + " times better " + std::string(lever.resource);
}

// The smallest multiple of `lever` at which another resource would gain more; none up to 64.
std::optional<double> changes_at(const Prepared& job, const Lever& lever, std::string& next) {
    const auto leads = [&](double factor) {
        Resources r;
        r.*lever.field = factor;
        const std::vector<Mover> movers = movers_at(job, r);
        if (movers.front().resource != lever.resource) next = movers.front().resource;
        return movers.front().resource == lever.resource;
    };
    double low = 1, high = 2;
    while (leads(high)) {
        if (high > 64) return std::nullopt;
        low = high;
        high *= 4;
    }
    for (int i = 0; i < 5; ++i) {
        const double middle = std::sqrt(low * high);
        (leads(middle) ? low : high) = middle;
    }
    leads(high);
    return high;
}

std::string share_text(const Estimate& e, std::initializer_list<Term> terms) {
    Seconds sum;
    for (const Term t : terms) sum += e.slowest[t];
    return percent_text(sum / e.step, 2);
}

std::string why_of(const Prepared& job, const Estimate& e, const Lever& lever) {
    const std::string work = share_text(e, {Term::forward, Term::backward, Term::recompute, Term::optimizer});
    const std::string communication = share_text(e, {Term::tensor_communication, Term::context_communication, Term::expert_communication,
                                                     Term::pipeline_communication, Term::data_communication});
    if (lever.field == &Resources::compute)
        return "kernels take " + work + " of the step, most of it matrix products that the arithmetic units limit";
    if (lever.field == &Resources::memory_bandwidth)
        return "kernels take " + work +
               " of the step and wait for device memory: normalisation, elementwise operators, small products, optimizer";
    if (lever.field == &Resources::node_bandwidth || lever.field == &Resources::network_bandwidth)
        return "communication that nothing hides takes " + communication + " of the step, limited by bandwidth";
    if (lever.field == &Resources::latency)
        return "communication that nothing hides takes " + communication + " of the step, in many small steps";
    if (lever.field == &Resources::host)
        return "the device waits for the host " + share_text(e, {Term::launch, Term::overhead}) +
               " of the step: many small kernels, dispatched one by one";
    if (lever.field == &Resources::kernel_overhead) return "kernels are so small that starting them costs more than running them";
    const StepWithoutInput rest = without_input(e);
    const InputEstimate input = estimate_input(*job.state().input, rest, {});
    return "loaders bring the samples of a step in " + to_text(input.later_loading) + ", training alone would take " + to_text(rest.time) +
           ": the limit is " + std::string(to_text(input.later.limit)) + "; a worker waits " + to_text(input.later.reading) +
           " for a sample and works on it for " + to_text(input.later.work);
}

std::string advice_of(const Lever& lever) {
    if (lever.field == &Resources::compute) return "a faster device, a narrower data type on tensor cores, or more devices";
    if (lever.field == &Resources::memory_bandwidth) return "fusing elementwise operators, narrower data types, larger matrices per device";
    if (lever.field == &Resources::node_bandwidth) return "NVLink instead of PCIe, less tensor parallelism, larger micro-batches, overlap";
    if (lever.field == &Resources::network_bandwidth)
        return "a faster network, keeping tensor groups inside the node, gradient accumulation, 16-bit gradients, overlap";
    if (lever.field == &Resources::latency) return "fewer and larger messages: larger buckets, larger batch, fewer ranks per group";
    if (lever.field == &Resources::host) return "larger batches, fused kernels, CUDA graphs or a compiler, a faster host thread";
    if (lever.field == &Resources::kernel_overhead) return "fused kernels, CUDA graphs, larger batches";
    if (lever.field == &Resources::loader_workers) return "more loader workers, samples decoded and scaled once beforehand";
    if (lever.field == &Resources::loader_cores)
        return "samples decoded and scaled once beforehand, more or faster cores, a faster decoder";
    return "packed file formats, a copy on local disk, a file system that is made for such reads";
}

}  // namespace

Bottleneck find_bottleneck(const Prepared& job, const Estimate& e) {
    Bottleneck b;
    b.movers = movers_at(job, {});
    const Lever& lever = lever_of(b.movers.front().resource);
    b.kind = lever.kind;
    b.why = why_of(job, e, lever);
    b.what_would_move_it = advice_of(lever);
    std::string next;
    if (b.changes_at = changes_at(job, lever, next); b.changes_at)
        b.changes_at_text = "at " + value_of(job, lever, *b.changes_at) + " the limit becomes " + next;
    if (!e.fits()) {
        b.kind = BottleneckKind::memory_size;
        if (!e.fits_device()) {
            b.why = "the fullest rank needs " + to_text(e.peak_memory) + " and the device has " + to_text(e.device_memory);
            b.what_would_move_it =
                "smaller micro-batch, recompute, a higher ZeRO stage, more tensor or pipeline ranks, narrower types, or " +
                to_text(e.peak_memory) + " of device memory";
        } else {
            b.why = "what is offloaded takes " + to_text(e.host.total()) + " of host memory on a node that has " + to_text(e.host.there);
            b.what_would_move_it = "more nodes to share it, offloading less, or " + to_text(e.host.total()) + " of memory in each host";
        }
    }
    std::erase_if(b.movers, [](const Mover& m) { return m.gain < smallest_gain; });
    return b;
}

}  // namespace sextant
