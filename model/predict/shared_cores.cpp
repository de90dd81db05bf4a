#include "model/predict/shared_cores.hpp"

#include "model/plan/partition.hpp"

#include <algorithm>

namespace sextant {
namespace {

template <class T>
void divide(T& number, double by) {
    number.value = number.value / by;
}

double ranks_on_a_node(const Scenario& s) { return std::min(s.plan.devices(), used_devices_per_node(s)); }

}  // namespace

double ranks_per_core(const Scenario& s) {
    const NodeSpec& node = s.cluster.node;
    return std::clamp(ranks_on_a_node(s) / node.unshared_devices(), 1.0, static_cast<double>(node.ranks_per_device));
}

Seconds turn_of_core(const Scenario& s) {
    if (ranks_per_core(s) == 1) return {};
    const auto& turn = s.cluster.node.host.turn;
    return turn ? turn->value : usual_turn;
}

double times_streamed(const Device& core, double cores, double at_work) {
    return core.bandwidth_alone ? std::clamp(cores / at_work, 1.0, core.bandwidth_alone->value) : 1;
}

Scenario with_rates_of_a_rank(const Scenario& whole) {
    const double f = ranks_per_core(whole);
    Scenario s = whole;
    NodeSpec& node = s.cluster.node;
    Device& d = node.device;
    d.memory_bandwidth.value = times_streamed(d, node.unshared_devices(), ranks_on_a_node(whole)) * d.memory_bandwidth.value;
    node.ranks_per_device = 1;
    if (f == 1) return s;
    for (PeakRate& p : d.peaks) divide(p.rate, f);
    divide(d.memory_bandwidth, f);
    if (d.cache_bandwidth) divide(*d.cache_bandwidth, f);
    if (d.shared_cache_bandwidth) divide(*d.shared_cache_bandwidth, f);
    if (d.shared_cache) divide(*d.shared_cache, f);
    if (d.exponential) divide(*d.exponential, 1 / f);
    divide(d.kernel_overhead, 1 / f);
    divide(d.graph_kernel_overhead, 1 / f);
    divide(node.host_link.bandwidth, f);
    divide(node.host.thread_speed, f);
    scale_speeds(node.host.samples, 1 / f, [](auto& number, double by) {
        if (number) divide(*number, 1 / by);
    });
    CommunicationLibrary& library = s.library;
    if (library.host_reduction) divide(*library.host_reduction, f);
    if (library.messages) {
        divide(library.messages->combine, f);
        divide(library.messages->copy, f);
        divide(library.messages->post, 1 / f);
    }
    return s;
}

}  // namespace sextant
