// A machine in round numbers, so that a time can be worked out in the head: 100 TFLOP/s, 1 TB/s, 1 us to start a kernel, 108
// multiprocessors; four devices to a node on a 100 GB/s crossbar, each with a 10 GB/s NIC; a library that takes 10 us for a call,
// 1 us for a step inside the node and 5 us for one across the network. Everything sustains its peak.
#pragma once

#include "model/plan/scenario.hpp"

namespace sextant::round_machine {

using namespace units;

template <class T>
Sourced<T> given(T value) {
    return {value, SourceKind::datasheet, "round"};
}

inline PeakRate peak(DataType type, ComputeUnit unit, double tflops) {
    return {type, DataType::fp32, unit, given(tflops * TFLOP / s), given(1.0)};
}

inline Device device() {
    Device d;
    d.name = "round device";
    d.multiprocessors = 108;
    d.memory = given(80 * GB);
    d.memory_bandwidth = given(1 * TB / s);
    d.stream_fraction = given(1.0);
    d.peaks = {peak(DataType::fp32, ComputeUnit::vector, 10), peak(DataType::bf16, ComputeUnit::tensor, 100),
               peak(DataType::fp8, ComputeUnit::tensor, 200)};
    d.kernel_overhead = given(1 * us);
    d.graph_kernel_overhead = given(0.5 * us);
    d.attention_forward = given(0.5);
    d.attention_backward = given(0.4);
    d.power = given(400 * W);
    d.idle_power = given(100 * W);
    return d;
}

inline LinkType link(LinkCategory category, Bandwidth bandwidth) {
    LinkType l;
    l.category = category;
    l.bandwidth = given(bandwidth);
    l.achievable = given(1.0);
    return l;
}

inline Cluster cluster(int nodes = 1) {
    Cluster c;
    c.name = "round cluster";
    c.nodes = nodes;
    c.node.device = device();
    c.node.devices = 4;
    c.node.peers.layout = PeerLayout::crossbar;
    c.node.peers.link = link(LinkCategory::nvlink, 100 * GB / s);
    c.node.host_link = link(LinkCategory::pcie, 20 * GB / s);
    c.node.host.socket_link = link(LinkCategory::socket, 20 * GB / s);
    c.node.host.memory_bandwidth = {200 * GB / s, SourceKind::measured, "round"};
    c.node.host.thread_speed = given(1.0);
    c.node.nics = 4;
    c.node.nic_link = link(LinkCategory::infiniband, 10 * GB / s);
    c.fabric.kind = FabricKind::single_switch;
    return c;
}

// Fuses nothing, overlaps nothing, dispatches in no time.
inline Framework framework() {
    Framework f;
    f.name = "round framework";
    f.native_build = given(1.0);
    f.attention_efficiency = given(1.0);
    f.convolution_efficiency = given(1.0);
    f.overlap_slowdown = given(1.0);
    f.fused_optimizer = true;
    f.overlaps_gradients = false;
    f.overlaps_parameter_gather = false;
    f.makes_data_gradients = true;  // all layers alike
    return f;
}

inline CommunicationLibrary library() {
    Protocol p;
    p.name = "simple";
    p.bandwidth_fraction = given(1.0);
    p.base = given(10 * us);
    for (auto* step : {&p.ring_step, &p.tree_step}) {
        (*step)[static_cast<std::size_t>(Hop::nvlink)] = given(1 * us);
        (*step)[static_cast<std::size_t>(Hop::pcie)] = given(2 * us);
        (*step)[static_cast<std::size_t>(Hop::network)] = given(5 * us);
    }
    CommunicationLibrary l;
    l.name = "round library";
    l.protocols = {p};
    return l;
}

// Memory, links and calls that take no time: what is left are the products, so that a stage costs what its arithmetic costs.
inline void only_arithmetic_counts(Scenario& job) {
    const Bandwidth endless = 1e12 * TB / s;
    NodeSpec& node = job.cluster.node;
    node.device.memory_bandwidth = given(endless);
    node.device.kernel_overhead = node.device.graph_kernel_overhead = given(Seconds{});
    for (LinkType* l : {&node.peers.link, &node.host_link, &node.host.socket_link, &node.nic_link}) l->bandwidth = given(endless);
    for (Protocol& p : job.library.protocols) {
        p.base = given(Seconds{});
        for (auto* step : {&p.ring_step, &p.tree_step})
            for (Sourced<Seconds>& hop : *step) hop = given(Seconds{});
    }
}

}  // namespace sextant::round_machine
