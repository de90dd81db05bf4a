#include "model/report/what_if.hpp"

#include "model/base/quantity_text.hpp"
#include "model/cost/input.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace sextant {
namespace {

// The number says of its source that nobody has measured it.
template <class T>
void multiply(Sourced<T>& number, double by) {
    if (by == 1) return;
    number.value = number.value * by;
    number.source += "; " + number_text(by) + " times that, as a what-if";
}
template <class T>
void multiply(std::optional<Sourced<T>>& number, double by) {
    if (number) multiply(*number, by);
}

void improve(Device& d, const Resources& r) {
    scale_compute(d, r.compute, [](auto& number, double by) { multiply(number, by); });
    multiply(d.memory_bandwidth, r.memory_bandwidth);
    multiply(d.cache_bandwidth, r.memory_bandwidth);
    multiply(d.shared_cache_bandwidth, r.memory_bandwidth);
    multiply(d.kernel_overhead, 1 / r.kernel_overhead);
    multiply(d.graph_kernel_overhead, 1 / r.kernel_overhead);
}

void improve(LinkType& link, double bandwidth, double latency) {
    multiply(link.bandwidth, bandwidth);
    multiply(link.latency, 1 / latency);
}

void improve(Cluster& c, const Resources& r) {
    NodeSpec& node = c.node;
    improve(node.device, r);
    for (LinkType* link : {&node.peers.link, &node.host.socket_link}) improve(*link, r.node_bandwidth, r.latency);
    const bool peers_share_it = node.peers.layout == PeerLayout::none;
    improve(node.host_link, r.host_link * (peers_share_it ? r.node_bandwidth : 1), r.latency);
    multiply(node.host.memory_bandwidth, r.node_bandwidth);
    improve(node.nic_link, r.network_bandwidth, r.latency);
    if (node.ethernet) improve(*node.ethernet, r.network_bandwidth, r.latency);
    multiply(node.gpu_direct_bandwidth, r.network_bandwidth);
    multiply(c.fabric.switch_latency, 1 / r.latency);
}

// Its times are those of the steps of a communication.
void improve(CommunicationLibrary& library, double latency) {
    for (Protocol& p : library.protocols) {
        multiply(p.base, 1 / latency);
        for (auto& step : p.ring_step) multiply(step, 1 / latency);
        for (auto& step : p.tree_step) multiply(step, 1 / latency);
        multiply(p.channel_start, 1 / latency);
    }
    multiply(library.in_switch_step, 1 / latency);
    multiply(library.wire_in_step, 1 / latency);
    if (!library.messages) return;
    for (auto* time : {&library.messages->inside, &library.messages->across, &library.messages->wire_in_across})
        multiply(*time, 1 / latency);
}

void improve(StorageClass& s, const Resources& r) {
    const LoaderScale scale{.bandwidth = r.storage, .operations = r.storage_operations};
    scale_reading(s, scale, [](auto& number, double by) { multiply(number, by); });
}

void improve(DataSource& data, const Resources& r) {
    if (data.storage) improve(*data.storage, r);
    if (data.staging.to) improve(*data.staging.to, r);
    if (data.workers > 0) data.workers = std::max(1, static_cast<int>(std::lround(data.workers * r.loader_workers)));
}

// A thread of the host launches kernels or loads samples: its speed becomes that of the loaders', and what the framework does is as much
// longer on it as that is faster than what was asked for.
void improve_threads(Scenario& s, const Resources& r) {
    multiply(s.cluster.node.host.thread_speed, r.loader_cores);
    scale_speeds(s.cluster.node.host.samples, r.loader_cores, [](auto& number, double by) { multiply(number, by); });
    Framework& f = s.framework;
    for (auto* time : {&f.dispatch, &f.backward_dispatch, &f.checkpoint_overhead, &f.step_overhead, &f.micro_batch_overhead})
        multiply(*time, r.loader_cores / r.host);
}

}  // namespace

Scenario with_resources(Scenario s, const Resources& r) {
    if (r == Resources{}) return s;
    s.name += ", what if";
    improve(s.cluster, r);
    if (s.straggler && s.straggler->device) improve(*s.straggler->device, r);
    improve(s.library, r.latency);
    improve(s.data, r);
    improve_threads(s, r);
    s.framework.overlap_slowdown.value = 1 + (s.framework.overlap_slowdown.value - 1) / r.overlap;
    return s;
}

}  // namespace sextant
