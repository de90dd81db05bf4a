#include "model/calibrate/profile_parameters.hpp"

#include "model/calibrate/machine.hpp"
#include "model/calibrate/parameter_range.hpp"

#include <set>

namespace sextant {
namespace {

using units::GB;
using units::GFLOP;
using units::KB;
using units::MB;
using units::ms;
using units::ns;
using units::TB;
using units::TFLOP;
using units::us;

// The start-up time of a message of any size, and of a small one.
constexpr auto large_start = [](auto& s) -> auto& { return s.library.protocols.back().base; };
constexpr auto small_start = [](auto& s) -> auto& {
    return s.library.messages ? s.library.messages->inside : s.library.protocols.front().base;
};

// The rate at which a process adds up the bytes of others. A library of messages has its own number; other profiles need not have one.
const Sourced<Bandwidth>* find_adding(const Scenario& s) {
    if (s.library.messages) return &s.library.messages->combine;
    return s.library.host_reduction ? &*s.library.host_reduction : nullptr;
}
Sourced<Bandwidth>& make_adding(Scenario& s) {
    if (s.library.messages) return s.library.messages->combine;
    if (!s.library.host_reduction) s.library.host_reduction.emplace();
    return *s.library.host_reduction;
}

PeakRate& make_peak(Scenario& s, DataType type, ComputeUnit unit) {
    for (PeakRate& p : s.cluster.node.device.peaks)
        if (p.input == type && p.unit == unit) return p;
    PeakRate& made = s.cluster.node.device.peaks.emplace_back();
    made.input = type;
    made.unit = unit;
    return made;
}

// What was reached, with no peak beside it: of a profile that states a peak and what is reached of it, their product.
ProfileParameter rate_of_large_products(DataType type, ComputeUnit unit) {
    const auto find = [type, unit](const Scenario& s) { return s.cluster.node.device.peak(type, unit); };
    const auto make = [type, unit](Scenario& s) -> PeakRate& { return make_peak(s, type, unit); };
    ProfileParameter p = parameter(
        std::string(to_text(type)) + " rate of large GEMMs", ParameterOwner::device,
        ParameterRange<FlopRate>{.least = 0.1 * GFLOP / units::s, .most = 100 * TFLOP / units::s, .spread = unknown},
        [find](const Scenario& s) { return find(s) != nullptr ? &find(s)->rate : nullptr; },
        [make](auto& s) -> auto& { return make(s).rate; }, 0.0);
    p.get = [get = p.get, find](const Scenario& s) {
        const PeakRate* rate = find(s);
        return get(s) * (rate != nullptr ? rate->achievable.value : 1);
    };
    p.set = [set = p.set, make](Scenario& s, double si) {
        set(s, si);
        make(s).achievable = reached_whole();
    };
    p.attribute = [make](Scenario& s, const std::string& source) {
        PeakRate& found = make(s);
        found.rate.kind = SourceKind::measured;
        found.rate.source = source;
        found.achievable = Sourced<double>{1.0, SourceKind::measured, source};
    };
    return p;
}

ProfileParameter memory_bandwidth_of_cores() {
    ProfileParameter p =
        parameter("memory bandwidth achieved", ParameterOwner::device,
                  ParameterRange<Bandwidth>{
                      .least = 0.1 * GB / units::s, .most = 1 * TB / units::s, .spread = unknown, .other_begin = 30 * GB / units::s},
                  in_device(&Device::memory_bandwidth));
    // All cores were measured at once: the host's memory moves what they do together.
    p.set = [set = p.set](Scenario& s, double si) {
        set(s, si);
        NodeSpec& of = s.cluster.node;
        of.host.memory_bandwidth.value = of.unshared_devices() * of.device.memory_bandwidth.value;
    };
    p.attribute = [attribute = p.attribute](Scenario& s, const std::string& source) {
        attribute(s, source);
        s.cluster.node.host.memory_bandwidth.kind = SourceKind::measured;
        s.cluster.node.host.memory_bandwidth.source = source + ", all cores together";
    };
    return p;
}

// One parameter for both directions: the device waits for the host in either, and a step does not say in which.
ProfileParameter dispatch_of_host() {
    ProfileParameter p = parameter("dispatch", ParameterOwner::framework,
                                   ParameterRange<Seconds>{.least = 0.1 * us, .most = 100 * us, .spread = unknown, .begin = 20 * us},
                                   in_framework(&Framework::dispatch));
    p.set = [](Scenario& s, double si) { s.framework.dispatch.value = s.framework.backward_dispatch.value = Seconds::from_si(si); };
    p.attribute = [attribute = p.attribute](Scenario& s, const std::string& source) {
        attribute(s, source);
        s.framework.backward_dispatch = s.framework.dispatch;
    };
    return p;
}

// How libraries multiply with such operands on this device: an index of its peaks.
std::size_t path_of(const Device& d, DataType type, bool tf32) {
    return static_cast<std::size_t>(matrix_path(d, type, tf32).peak - d.peaks.data());
}

// Between two kernels of a stream a GPU takes as long in any machine; what launches them does not.
constexpr double gap_known = 0.35;

// The fraction of a link or of a peak that large transfers and products reach, and the fraction of a memory that streams reach.
constexpr ParameterRange<double> reached{.least = 0.02, .most = 1.0, .spread = unsure};
constexpr ParameterRange<double> streamed{.least = 0.2, .most = 1.0, .spread = unsure};

// What differs from machine to machine by orders of magnitude.
constexpr ParameterRange<double> any_fraction{.least = 0.01, .most = 1.0, .spread = unknown};
constexpr ParameterRange<Seconds> any_start{.least = 10 * ns, .most = 10 * ms, .spread = unknown};
constexpr ParameterRange<Bandwidth> any_cache{.least = 0.1 * GB / units::s, .most = 10 * TB / units::s, .spread = unknown};
constexpr ParameterRange<Bandwidth> any_process{.least = 0.01 * GB / units::s, .most = 1 * TB / units::s, .spread = unknown};
constexpr ParameterRange<Bandwidth> any_network{.least = 1 * MB / units::s, .most = 1 * TB / units::s, .spread = unknown};

}  // namespace

std::string_view to_text(ParameterOwner owner) {
    constexpr std::string_view names[] = {"device", "link", "library", "framework"};
    return names[static_cast<std::size_t>(owner)];
}

CalibratedNumber ProfileParameter::moved(double before, double spread_before, double after, double spread_after) const {
    return {std::string(to_text(owner)), shown_name(), text(before), text(after), spread_before, spread_after};
}

std::vector<ProfileParameter> cpu_parameters(const NodeSpec& node) {
    using enum ParameterOwner;
    const Device& d = node.device;
    std::vector<ProfileParameter> list{rate_of_large_products(DataType::fp32, ComputeUnit::vector), memory_bandwidth_of_cores()};
    const auto add = [&list](auto... arguments) { list.push_back(parameter(arguments...)); };
    if (d.cache_bandwidth) add("cache bandwidth", device, any_cache, in_device(&Device::cache_bandwidth));
    if (d.shared_cache && d.shared_cache_bandwidth) {
        add("bandwidth of the cache that cores share", device, any_cache, in_device(&Device::shared_cache_bandwidth));
        const Bytes all = node.unshared_devices() * d.shared_cache->value;  // no core finds more there than there is
        add("what a core finds in that", device,
            ParameterRange<Bytes>{.least = d.l2.value, .most = max(d.l2.value, all), .spread = unknown}, in_device(&Device::shared_cache));
    }
    if (d.exponential)
        add("time of an exponential", device, ParameterRange<Seconds>{.least = 0.001 * ns, .most = 100 * ns, .spread = unknown},
            in_device(&Device::exponential));
    add("time between two operators", device, ParameterRange<Seconds>{.least = 10 * ns, .most = 1 * ms, .spread = unknown},
        in_device(&Device::kernel_overhead));
    add("fused attention forward, fraction of peak", device, any_fraction, in_device(&Device::attention_forward));
    add("fused attention backward, fraction of peak", device, any_fraction, in_device(&Device::attention_backward));
    add(
        "bandwidth between two processes", link, any_process, [](auto& s) -> auto& { return s.cluster.node.host_link.bandwidth; });
    add("start-up of a call, small message", library, any_start, small_start);
    add("start-up of a call, large message", library, any_start, large_start);
    add("rate at which a process reduces", library, any_process, find_adding, make_adding, 0.0);
    if (d.convolution)
        add("convolutions, fraction of the rate of GEMMs", device, ParameterRange<double>{.least = 0.05, .most = 2.0, .spread = unknown},
            in_device(&Device::convolution));
    if (d.bandwidth_alone)
        add("memory bandwidth of a core alone, over that beside others", device,
            ParameterRange<double>{.least = 1.0, .most = node.unshared_devices(), .spread = unknown}, in_device(&Device::bandwidth_alone));
    if (node.host.turn)
        add(
            "wait for a core in use by another rank", device,
            ParameterRange<Seconds>{.least = 10 * us, .most = 100 * ms, .spread = unknown},
            [](auto& s) -> auto& { return *s.cluster.node.host.turn; });
    if (d.peak(DataType::bf16, ComputeUnit::tensor) != nullptr) list.push_back(rate_of_large_products(DataType::bf16, ComputeUnit::tensor));
    return list;
}

std::vector<ProfileParameter> network_parameters() {
    return {parameter(
                "bandwidth between two hosts", ParameterOwner::link, any_network,
                [](auto& s) -> auto& { return s.cluster.node.nic_link.bandwidth; }),
            parameter(
                "latency between two hosts", ParameterOwner::link, any_start,
                [](auto& s) -> auto& { return s.cluster.node.nic_link.latency; })};
}

std::vector<ProfileParameter> gpu_parameters(const Scenario& machine) {
    using enum ParameterOwner;
    const Device& d = machine.cluster.node.device;
    std::vector<ProfileParameter> list;
    const auto add = [&list](auto... arguments) { list.push_back(parameter(arguments...)); };
    const std::set<std::size_t> paths{path_of(d, DataType::fp32, false), path_of(d, DataType::fp32, true),
                                      path_of(d, DataType::bf16, false), path_of(d, DataType::fp16, false)};
    for (const std::size_t i : paths)
        add(
            std::string(to_text(d.peaks[i].input)) + " rate of large GEMMs, fraction of peak", device,
            reached, [i](auto& s) -> auto& { return s.cluster.node.device.peaks[i].achievable; });
    add("memory bandwidth achieved, fraction of peak", device, streamed, in_device(&Device::stream_fraction));
    add("time between two kernels", device, ParameterRange<Seconds>{.least = 0.1 * us, .most = 100 * us, .spread = gap_known},
        in_device(&Device::kernel_overhead));
    if (machine.framework.bytes_in_flight.value > Bytes{})
        add("bytes_in_flight", framework, ParameterRange<Bytes>{.least = 3 * KB, .most = 1 * MB, .spread = in_flight_known},
            in_framework(&Framework::bytes_in_flight));
    list.push_back(dispatch_of_host());
    add("step_overhead", framework, ParameterRange<Seconds>{.least = 1 * us, .most = 10 * ms, .spread = unknown},
        in_framework(&Framework::step_overhead));
    add("attention_efficiency", framework, any_fraction, in_framework(&Framework::attention_efficiency));
    add("convolution_efficiency", framework, ParameterRange<double>{.least = 0.01, .most = as_products, .spread = unknown},
        in_framework(&Framework::convolution_efficiency));
    if (machine.cluster.node.devices == 1) return list;
    for (ProfileParameter& p : cluster_parameters(machine.cluster))
        if (p.owner == link) list.push_back(std::move(p));
    for (ProfileParameter& p : library_parameters(machine.library))
        if (p.get(machine) > 0) list.push_back(std::move(p));
    return list;
}

std::vector<ProfileParameter> cluster_parameters(const Cluster& cluster) {
    using enum ParameterOwner;
    const NodeSpec& node = cluster.node;
    std::vector<ProfileParameter> list;
    const auto add = [&list](auto... arguments) { list.push_back(parameter(arguments...)); };
    const auto bandwidth_of = [&](const LinkType& type, auto place) {
        add("bandwidth achieved, fraction of " + type.name, link, reached, place);
    };
    if (node.device.kind == DeviceKind::cpu) {
        list = cpu_parameters(node);
        std::erase_if(list, [](const ProfileParameter& p) { return p.owner != device && p.owner != link; });
    } else {
        add("sustained clock, fraction of boost", device, ParameterRange<double>{.least = 0.3, .most = 1.0, .spread = unsure},
            in_device(&Device::sustained_clock));
        add("memory bandwidth achieved, fraction of peak", device, streamed, in_device(&Device::stream_fraction));
        if (node.peers.layout != PeerLayout::none)
            bandwidth_of(
                node.peers.link, [](auto& s) -> auto& { return s.cluster.node.peers.link.achievable; });
        bandwidth_of(
            node.host_link, [](auto& s) -> auto& { return s.cluster.node.host_link.achievable; });
    }
    if (node.nics == 0) return list;
    bandwidth_of(
        node.nic_link, [](auto& s) -> auto& { return s.cluster.node.nic_link.achievable; });
    add(
        "latency of " + node.nic_link.name, link, ParameterRange<Seconds>{.least = 0.1 * us, .most = 10 * ms, .spread = unsure},
        [](auto& s) -> auto& { return s.cluster.node.nic_link.latency; });
    return list;
}

}  // namespace sextant
