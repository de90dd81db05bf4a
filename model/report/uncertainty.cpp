#include "model/report/uncertainty.hpp"

#include "model/base/quantity_text.hpp"
#include "model/cost/input.hpp"
#include "model/plan/partition.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

// What is left when every input is right: with 0.06, four of five published training rows to which nothing was fitted lie inside the
// interval, averaged over their files (`sextant validate`, docs/model/report.md). It shrinks as effects are added to the model.
constexpr double model_spread = 0.06;

double spread_of(SourceKind kind) {
    switch (kind) {
        case SourceKind::measured: return 0.05;
        case SourceKind::datasheet: return 0.10;
        case SourceKind::published: return 0.15;
        case SourceKind::estimated: return 0.30;
    }
    return 0.30;
}

template <class T>
InputUsed input(std::string name, const Sourced<T>& s, std::string value, double Resources::*resource) {
    return {std::move(name), std::move(value), s.kind, s.source, spread_of(s.kind), 0, resource};
}

// An adapter may move less of device memory than its link carries.
InputUsed network_input(const Scenario& s) {
    const NodeSpec& node = s.cluster.node;
    const LinkType& link = network_link(s);
    const bool of_device = node.gpu_direct && node.device.kind != DeviceKind::cpu && &link == &node.nic_link;
    if (const auto& moved = node.gpu_direct_bandwidth; moved && of_device)
        return input("device memory that " + link.name + " moves", *moved, to_text(moved->value), &Resources::network_bandwidth);
    return input("bandwidth of " + link.name, link.achievable, to_text(link.bandwidth.value * link.achievable.value),
                 &Resources::network_bandwidth);
}

void add_device(std::vector<InputUsed>& list, const Scenario& s) {
    const Device& d = s.cluster.node.device;
    const MatrixPath path = matrix_path(d, s.plan.precision.compute, s.plan.precision.tf32, s.framework.tensor_units);
    const std::string type(to_text(path.peak->input));
    list.push_back(input(type + " rate that " + d.name + " sustains", path.peak->achievable,
                         to_text(path.peak->rate.value * path.peak->achievable.value), &Resources::compute));
    list.push_back(input("memory bandwidth that " + d.name + " streams", d.stream_fraction,
                         to_text(d.memory_bandwidth.value * d.stream_fraction.value), &Resources::memory_bandwidth));
    list.push_back(
        input("start-up time of a kernel on " + d.name, d.kernel_overhead, to_text(d.kernel_overhead.value), &Resources::kernel_overhead));
    const Framework& f = s.framework;
    list.push_back(input("host time to dispatch a kernel, " + f.name, f.dispatch, to_text(f.dispatch.value), &Resources::host));
}

void add_communication(std::vector<InputUsed>& list, const Scenario& s) {
    const NodeSpec& node = s.cluster.node;
    const Framework& f = s.framework;
    const int nodes = used_nodes(s);
    if (s.plan.devices() > nodes) {
        const LinkType& inside = node.peers.layout == PeerLayout::none ? node.host_link : node.peers.link;
        list.push_back(input("bandwidth of " + inside.name, inside.achievable, to_text(inside.bandwidth.value * inside.achievable.value),
                             &Resources::node_bandwidth));
    }
    if (s.plan.devices() == 1) return;
    list.push_back(input("slow-down of kernels beside communication, " + f.name, f.overlap_slowdown,
                         number_text(f.overlap_slowdown.value) + " times", &Resources::overlap));
    if (const auto& messages = s.library.messages) {
        const Sourced<Seconds>& time = nodes > 1 ? messages->across : messages->inside;
        list.push_back(input("time of a small message, " + s.library.name, time, to_text(time.value), &Resources::latency));
    } else if (!s.library.protocols.empty()) {
        const Sourced<Seconds>& start = s.library.protocols.front().base;
        list.push_back(input("start of a collective, " + s.library.name, start, to_text(start.value), &Resources::latency));
    }
}

void add_storage(std::vector<InputUsed>& list, const Scenario& s) {
    if (s.data.synthetic) return;
    const StorageClass& from = *s.data.storage;
    list.push_back(
        input("bandwidth of one stream from " + from.name, *from.read_bandwidth, to_text(from.read_bandwidth->value), &Resources::storage));
    list.push_back(input("time to open a file on " + from.name, *from.open_latency, to_text(from.open_latency->value),
                         &Resources::storage_operations));
    if (const auto decode = decoding_speed(s.data.encoding, thread_of(s.cluster.node.host)))
        list.push_back(input("decoding of " + std::string(to_text(s.data.encoding)) + " by one thread", *decode, to_text(decode->value),
                             &Resources::loader_cores));
}

std::vector<InputUsed> inputs_of(const Scenario& s) {
    const NodeSpec& node = s.cluster.node;
    std::vector<InputUsed> list;
    add_device(list, s);
    add_communication(list, s);
    if (s.plan.offload != Offload::none || s.plan.offload_activations != OffloadActivations::none)
        list.push_back(input("bandwidth of " + node.host_link.name + " to host memory", node.host_link.achievable,
                             to_text(node.host_link.bandwidth.value * node.host_link.achievable.value), &Resources::host_link));
    add_storage(list, s);
    const bool has_network = node.nics > 0 && (used_nodes(s) > 1 || s.plan.has_servers());
    if (has_network) list.push_back(network_input(s));
    return list;
}

}  // namespace

Uncertainty find_uncertainty(const Prepared& job, const Estimate& e) {
    Uncertainty u;
    double variance = model_spread * model_spread;
    const Seconds step = estimate(job).step;  // e may be a simulation's
    u.inputs = inputs_of(job.scenario());
    for (InputUsed& input : u.inputs) {
        Resources r;
        r.*input.resource = 1 + input.spread;
        input.effect = std::fabs(std::log(estimate(job, r).step / step));
        variance += input.effect * input.effect;
    }
    std::stable_sort(u.inputs.begin(), u.inputs.end(), [](const InputUsed& a, const InputUsed& b) { return a.effect > b.effect; });
    constexpr double quantile_90 = 1.2816;
    const double half_width = std::exp(quantile_90 * std::sqrt(variance));
    u.low = e.step / half_width;
    u.high = e.step * half_width;
    return u;
}

}  // namespace sextant
