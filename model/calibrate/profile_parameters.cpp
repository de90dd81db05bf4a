#include "model/calibrate/profile_parameters.hpp"

namespace sextant {
namespace {

struct Range {
    double least, most, spread, usual = 0, begin = 0;
};

// `field(Scenario&)` is the Sourced number.
template <class Field>
ProfileParameter parameter(std::string name, ParameterOwner owner, Range range, Field field) {
    return {sourced_field<Scenario>(field), std::move(name), owner, range.least, range.most, range.usual, range.spread, range.begin};
}

PeakRate& fp32(Scenario& s) {
    for (PeakRate& p : s.cluster.node.device.peaks)
        if (p.input == DataType::fp32 && p.unit == ComputeUnit::vector) return p;
    s.cluster.node.device.peaks.push_back({});
    return s.cluster.node.device.peaks.back();
}

// Of messages of any size, and of small ones.
Sourced<Seconds>& large_start(Scenario& s) { return s.library.protocols.back().base; }
Sourced<Seconds>& small_start(Scenario& s) { return s.library.messages ? s.library.messages->inside : s.library.protocols.front().base; }
Sourced<Bandwidth>& adding(Scenario& s) {
    if (s.library.messages) return s.library.messages->combine;
    return s.library.host_reduction.emplace(s.library.host_reduction.value_or(Sourced<Bandwidth>{}));
}

// A profile need not have them.
template <class T>
Sourced<T>& known(std::optional<Sourced<T>>& number, T usual) {
    if (!number) number.emplace(usual, SourceKind::estimated, "usual");
    return *number;
}
Sourced<Bandwidth>& cache(Scenario& s) {
    Device& d = s.cluster.node.device;
    return known(d.cache_bandwidth, 4.0 * d.memory_bandwidth.value);
}

constexpr double unknown = 1.0;  // a factor of e either way

// A run feels it only where the device waits for the host: the search begins where most runs would.
constexpr Range host_time(double usual) { return {1e-6, 4e-5, 0.5, usual, 4 * usual}; }

}  // namespace

std::string_view to_text(ParameterOwner owner) {
    constexpr std::string_view names[] = {"device", "link", "library", "framework"};
    return names[static_cast<std::size_t>(owner)];
}

std::vector<ProfileParameter> cpu_parameters() {
    using enum ParameterOwner;
    std::vector<ProfileParameter> list;
    const auto add = [&list](auto... arguments) { list.push_back(parameter(arguments...)); };
    add(
        "fp32 rate that large products sustain", device, Range{1e8, 1e14, unknown}, [](Scenario & s) -> auto& { return fp32(s).rate; });
    list.back().attribute = [](Scenario& s, const std::string& source) {
        PeakRate& p = fp32(s);
        p.rate.kind = SourceKind::measured;
        p.rate.source = source;
        p.achievable = Sourced<double>{1.0, SourceKind::measured, source};  // the rate is what was reached
    };
    add(
        "memory bandwidth that it streams", device, Range{1e8, 1e12, unknown},
        [](Scenario & s) -> auto& { return s.cluster.node.device.memory_bandwidth; });
    // All cores were measured at once: the host's memory moves what they do together.
    list.back().set = [set = list.back().set](Scenario& s, double si) {
        set(s, si);
        const NodeSpec& node = s.cluster.node;
        s.cluster.node.host.memory_bandwidth.value = node.devices / node.ranks_per_device * node.device.memory_bandwidth.value;
    };
    list.back().attribute = [attribute = list.back().attribute](Scenario& s, const std::string& source) {
        attribute(s, source);
        s.cluster.node.host.memory_bandwidth.kind = SourceKind::measured;
        s.cluster.node.host.memory_bandwidth.source = source + ", all cores together";
    };
    add(
        "bandwidth of its cache", device, Range{1e8, 1e13, unknown}, [](Scenario & s) -> auto& { return cache(s); });
    add(
        "time between two operators", device, Range{1e-8, 1e-3, unknown},
        [](Scenario & s) -> auto& { return s.cluster.node.device.kernel_overhead; });
    add(
        "fused attention forward, of the peak", device, Range{0.01, 1, unknown},
        [](Scenario & s) -> auto& { return s.cluster.node.device.attention_forward; });
    add(
        "fused attention backward, of the peak", device, Range{0.01, 1, unknown},
        [](Scenario & s) -> auto& { return s.cluster.node.device.attention_backward; });
    add(
        "bandwidth between two processes", link, Range{1e7, 1e12, unknown},
        [](Scenario & s) -> auto& { return s.cluster.node.host_link.bandwidth; });
    add(
        "start of a call with a small message", library, Range{1e-8, 1e-2, unknown}, [](Scenario & s) -> auto& { return small_start(s); });
    add(
        "start of a call with a large message", library, Range{1e-8, 1e-2, unknown}, [](Scenario & s) -> auto& { return large_start(s); });
    add(
        "bytes that one process adds", library, Range{1e7, 1e12, unknown}, [](Scenario & s) -> auto& { return adding(s); });
    add(
        "convolutions against products of their size", device, Range{0.05, 2, unknown},
        [](Scenario & s) -> auto& { return known(s.cluster.node.device.convolution, 1.0); });
    add(
        "wait for a core that another rank has", device, Range{1e-5, 0.1, unknown},
        [](Scenario & s) -> auto& { return known(s.cluster.node.host.turn, 3 * units::ms); });
    return list;
}

std::vector<ProfileParameter> training_parameters(const Scenario& s) {
    using enum ParameterOwner;
    std::vector<ProfileParameter> list;
    const auto add = [&list](auto... arguments) { list.push_back(parameter(arguments...)); };
    add(
        "sustained_clock", device, Range{0.3, 1, 0.15, 0.95}, [](Scenario & x) -> auto& { return x.cluster.node.device.sustained_clock; });
    add(
        "streaming_efficiency", framework, Range{0.2, 1, 0.2, 0.9}, [](Scenario & x) -> auto& { return x.framework.streaming_efficiency; });
    add(
        "native_build", framework, Range{0.3, 1, 0.1, 0.97}, [](Scenario & x) -> auto& { return x.framework.native_build; });
    if (!s.framework.dispatch_in_graph) {
        add(
            "dispatch", framework, host_time(9e-6), [](Scenario & x) -> auto& { return x.framework.dispatch; });
        add(
            "backward_dispatch", framework, host_time(7e-6), [](Scenario & x) -> auto& { return x.framework.backward_dispatch; });
    }
    if (s.plan.recompute != Recompute::none)
        add(
            "checkpoint_overhead", framework, Range{1e-6, 5e-3, unknown, 1e-4, 3e-4},
            [](Scenario & x) -> auto& { return x.framework.checkpoint_overhead; });
    if (!s.workload.is_transformer())
        add(
            "convolution_efficiency", framework, Range{0.05, 1.33, 0.2, 1},
            [](Scenario & x) -> auto& { return x.framework.convolution_efficiency; });
    return list;
}

std::vector<ProfileParameter> memory_parameters(const Scenario& s) {
    using enum ParameterOwner;
    std::vector<ProfileParameter> list;
    const auto add = [&list](auto... arguments) { list.push_back(parameter(arguments...)); };
    add(
        "context", framework, Range{1e8, 4e9, 0.4, 7e8}, [](Scenario & x) -> auto& { return x.framework.context; });
    add(
        "fragmentation", framework, Range{0.005, 0.5, unknown, 0.1}, [](Scenario & x) -> auto& { return x.framework.fragmentation; });
    if (s.plan.devices() > 1)
        add(
            "communication_buffers", framework, Range{5e7, 16e9, 0.7, 6e8},
            [](Scenario & x) -> auto& { return x.framework.communication_buffers; });
    return list;
}

}  // namespace sextant
