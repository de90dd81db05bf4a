#include "model/calibrate/profile_parameters.hpp"

#include "model/calibrate/machine.hpp"

#include <algorithm>
#include <set>
#include <type_traits>

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

// Of a number: what such hardware and frameworks can have, how sure we are of it without measuring, what is usual where nothing is known,
// and where a fit begins.
template <class T>
struct Range {
    T least, most;
    double spread = 0;
    T usual{}, begin{};
};

double si(double fraction) { return fraction; }
template <class Unit>
double si(Unit quantity) {
    return quantity.si();
}

// `field` is what makes a SourcedField: the place of a number, or how it is found and made.
template <class T, class... Field>
ProfileParameter parameter(std::string name, ParameterOwner owner, Range<T> range, Field... field) {
    return {sourced_field<Scenario>(field...),
            std::move(name),
            owner,
            si(range.least),
            si(range.most),
            si(range.usual),
            range.spread,
            si(range.begin)};
}

// Of messages of any size, and of small ones.
constexpr auto large_start = [](auto& s) -> auto& { return s.library.protocols.back().base; };
constexpr auto small_start = [](auto& s) -> auto& {
    return s.library.messages ? s.library.messages->inside : s.library.protocols.front().base;
};

// What a process adds of others' bytes. Of a library of messages its own number; elsewhere a profile need not have it.
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

constexpr double unknown = 1.0;  // a factor of e either way

// What was reached, with no peak beside it: of a profile that states a peak and what is reached of it, their product.
ProfileParameter rate_of_large_products(DataType type, ComputeUnit unit) {
    const auto find = [type, unit](const Scenario& s) { return s.cluster.node.device.peak(type, unit); };
    const auto make = [type, unit](Scenario& s) -> PeakRate& { return make_peak(s, type, unit); };
    ProfileParameter p = parameter(
        std::string(to_text(type)) + " rate of large GEMMs", ParameterOwner::device,
        Range<FlopRate>{.least = 0.1 * GFLOP / units::s, .most = 100 * TFLOP / units::s, .spread = unknown},
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

// How libraries multiply with such operands on this device: an index of its peaks.
std::size_t path_of(const Device& d, DataType type, bool tf32) {
    return static_cast<std::size_t>(matrix_path(d, type, tf32).peak - d.peaks.data());
}

// Between two kernels of a stream a GPU takes as long in any machine; what launches them does not. How much a thread asks memory for at a
// time stands in the kernels, not how many threads there is room for.
constexpr double gap_known = 0.35, in_flight_known = 0.4;

// Of a library's numbers: how sure its profile is of them, and how far from them a fit may look.
constexpr double unsure = 0.7, search_factor = 8;

// Of a link, or of a peak, what large transfers and products reach; of a memory what streams do.
constexpr Range<double> reached{.least = 0.02, .most = 1.0, .spread = unsure};
constexpr Range<double> streamed{.least = 0.2, .most = 1.0, .spread = unsure};

// Between the convolutions of 2017's libraries and matrix products of the same size.
constexpr double as_products = 1.33;

// A run feels it only where the device waits for the host: the search begins where most runs would.
constexpr Range<Seconds> host_time(Seconds usual) {
    return {.least = 1 * us, .most = 40 * us, .spread = 0.5, .usual = usual, .begin = 4.0 * usual};
}

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
    std::vector<ProfileParameter> list;
    const auto add = [&list](auto... arguments) { list.push_back(parameter(arguments...)); };
    list.push_back(rate_of_large_products(DataType::fp32, ComputeUnit::vector));
    add(
        "memory bandwidth achieved", device, Range<Bandwidth>{.least = 0.1 * GB / units::s, .most = 1 * TB / units::s, .spread = unknown},
        [](auto& s) -> auto& { return s.cluster.node.device.memory_bandwidth; });
    // All cores were measured at once: the host's memory moves what they do together.
    list.back().set = [set = list.back().set](Scenario& s, double si) {
        set(s, si);
        NodeSpec& of = s.cluster.node;
        const double cores = static_cast<double>(of.devices) / of.ranks_per_device;
        of.host.memory_bandwidth.value = cores * of.device.memory_bandwidth.value;
    };
    list.back().attribute = [attribute = list.back().attribute](Scenario& s, const std::string& source) {
        attribute(s, source);
        s.cluster.node.host.memory_bandwidth.kind = SourceKind::measured;
        s.cluster.node.host.memory_bandwidth.source = source + ", all cores together";
    };
    if (d.cache_bandwidth)
        add(
            "cache bandwidth", device, Range<Bandwidth>{.least = 0.1 * GB / units::s, .most = 10 * TB / units::s, .spread = unknown},
            [](auto& s) -> auto& { return *s.cluster.node.device.cache_bandwidth; });
    if (d.shared_cache && d.shared_cache_bandwidth) {
        add(
            "bandwidth of the cache that cores share", device,
            Range<Bandwidth>{.least = 0.1 * GB / units::s, .most = 10 * TB / units::s, .spread = unknown},
            [](auto& s) -> auto& { return *s.cluster.node.device.shared_cache_bandwidth; });
        add(
            "what a core finds in that", device, Range<Bytes>{.least = d.l2.value, .most = 10 * GB, .spread = unknown},
            [](auto& s) -> auto& { return *s.cluster.node.device.shared_cache; });
    }
    if (d.exponential)
        add(
            "time of an exponential", device, Range<Seconds>{.least = 0.001 * ns, .most = 100 * ns, .spread = unknown},
            [](auto& s) -> auto& { return *s.cluster.node.device.exponential; });
    add(
        "time between two operators", device, Range<Seconds>{.least = 10 * ns, .most = 1 * ms, .spread = unknown},
        [](auto& s) -> auto& { return s.cluster.node.device.kernel_overhead; });
    add(
        "fused attention forward, fraction of peak", device, Range<double>{.least = 0.01, .most = 1.0, .spread = unknown},
        [](auto& s) -> auto& { return s.cluster.node.device.attention_forward; });
    add(
        "fused attention backward, fraction of peak", device, Range<double>{.least = 0.01, .most = 1.0, .spread = unknown},
        [](auto& s) -> auto& { return s.cluster.node.device.attention_backward; });
    add(
        "bandwidth between two processes", link,
        Range<Bandwidth>{.least = 0.01 * GB / units::s, .most = 1 * TB / units::s, .spread = unknown},
        [](auto& s) -> auto& { return s.cluster.node.host_link.bandwidth; });
    add("start-up of a call, small message", library, Range<Seconds>{.least = 10 * ns, .most = 10 * ms, .spread = unknown}, small_start);
    add("start-up of a call, large message", library, Range<Seconds>{.least = 10 * ns, .most = 10 * ms, .spread = unknown}, large_start);
    add("rate at which a process reduces", library,
        Range<Bandwidth>{.least = 0.01 * GB / units::s, .most = 1 * TB / units::s, .spread = unknown}, find_adding, make_adding, 0.0);
    if (d.convolution)
        add(
            "convolutions, fraction of the rate of GEMMs", device, Range<double>{.least = 0.05, .most = 2.0, .spread = unknown},
            [](auto& s) -> auto& { return *s.cluster.node.device.convolution; });
    if (node.host.turn)
        add(
            "wait for a core in use by another rank", device, Range<Seconds>{.least = 10 * us, .most = 100 * ms, .spread = unknown},
            [](auto& s) -> auto& { return *s.cluster.node.host.turn; });
    if (d.peak(DataType::bf16, ComputeUnit::tensor) != nullptr) list.push_back(rate_of_large_products(DataType::bf16, ComputeUnit::tensor));
    return list;
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
    add(
        "memory bandwidth achieved, fraction of peak", device, streamed,
        [](auto& s) -> auto& { return s.cluster.node.device.stream_fraction; });
    add(
        "time between two kernels", device, Range<Seconds>{.least = 0.1 * us, .most = 100 * us, .spread = gap_known},
        [](auto& s) -> auto& { return s.cluster.node.device.kernel_overhead; });
    if (machine.framework.bytes_in_flight.value > Bytes{})
        add(
            "bytes_in_flight", framework, Range<Bytes>{.least = 3 * KB, .most = 1 * MB, .spread = in_flight_known},
            [](auto& s) -> auto& { return s.framework.bytes_in_flight; });
    add(
        "dispatch", framework, Range<Seconds>{.least = 0.1 * us, .most = 100 * us, .spread = unknown, .begin = 20 * us},
        [](auto& s) -> auto& { return s.framework.dispatch; });
    // The device waits for the host in both directions, and a step does not say in which.
    list.back().set = [](Scenario& s, double si) {
        s.framework.dispatch.value = s.framework.backward_dispatch.value = Seconds::from_si(si);
    };
    list.back().attribute = [attribute = list.back().attribute](Scenario& s, const std::string& source) {
        attribute(s, source);
        s.framework.backward_dispatch = s.framework.dispatch;
    };
    add(
        "step_overhead", framework, Range<Seconds>{.least = 1 * us, .most = 10 * ms, .spread = unknown},
        [](auto& s) -> auto& { return s.framework.step_overhead; });
    add(
        "attention_efficiency", framework, Range<double>{.least = 0.01, .most = 1.0, .spread = unknown},
        [](auto& s) -> auto& { return s.framework.attention_efficiency; });
    add(
        "convolution_efficiency", framework, Range<double>{.least = 0.01, .most = as_products, .spread = unknown},
        [](auto& s) -> auto& { return s.framework.convolution_efficiency; });
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
    if (node.device.kind == DeviceKind::cpu) {
        list = cpu_parameters(node);
        std::erase_if(list, [](const ProfileParameter& p) { return p.owner != device && p.owner != link; });
    } else {
        add(
            "sustained clock, fraction of boost", device, Range<double>{.least = 0.3, .most = 1.0, .spread = unsure},
            [](auto& s) -> auto& { return s.cluster.node.device.sustained_clock; });
        add(
            "memory bandwidth achieved, fraction of peak", device, streamed,
            [](auto& s) -> auto& { return s.cluster.node.device.stream_fraction; });
        if (node.peers.layout != PeerLayout::none)
            add(
                "bandwidth achieved, fraction of " + node.peers.link.name, link, reached,
                [](auto& s) -> auto& { return s.cluster.node.peers.link.achievable; });
        add(
            "bandwidth achieved, fraction of " + node.host_link.name, link, reached,
            [](auto& s) -> auto& { return s.cluster.node.host_link.achievable; });
    }
    if (node.nics == 0) return list;
    add(
        "bandwidth achieved, fraction of " + node.nic_link.name, link, reached,
        [](auto& s) -> auto& { return s.cluster.node.nic_link.achievable; });
    add(
        "latency of " + node.nic_link.name, link, Range<Seconds>{.least = 0.1 * us, .most = 10 * ms, .spread = unsure},
        [](auto& s) -> auto& { return s.cluster.node.nic_link.latency; });
    return list;
}

std::vector<ProfileParameter> library_parameters(const CommunicationLibrary& l) {
    std::vector<ProfileParameter> list;
    const auto add = [&](std::string pointer, std::string title, auto field) {
        list.push_back(
            parameter(std::move(pointer), ParameterOwner::library, Range<double>{.least = 0.0, .most = 0.0, .spread = unsure}, field));
        ProfileParameter& p = list.back();
        p.title = std::move(title);
        Scenario machine;
        machine.library = l;
        const double now = p.get(machine);
        const bool is_fraction = std::is_same_v<std::remove_cvref_t<decltype(field(machine).value)>, double>;
        p.least = now / search_factor;
        p.most = is_fraction ? std::min(1.0, now * search_factor) : now * search_factor;
    };
    if (l.messages) {
        const auto message = [&](const std::string& name, const char* title, auto member) {
            add(
                "/messages/" + name, title, [member](auto& s) -> auto& { return (*s.library.messages).*member; });
        };
        message("inside", "latency of a message inside a node", &MessagePassing::inside);
        message("across", "latency of a message between nodes", &MessagePassing::across);
        message("combine", "rate at which a process reduces", &MessagePassing::combine);
        message("post", "time to post a segment", &MessagePassing::post);
        message("copy", "rate of copying a segment", &MessagePassing::copy);
        message("staging_call", "start-up of staging through the host", &MessagePassing::staging_call);
        message("staging", "rate of staging through the host", &MessagePassing::staging);
        message("device_eager", "start-up of an eager message from a device", &MessagePassing::device_eager);
        message("device_reads", "rate of reading device memory", &MessagePassing::device_reads);
        message("device_rendezvous", "start-up of a rendezvous message from a device", &MessagePassing::device_rendezvous);
    }
    for (std::size_t i = 0; i < l.protocols.size(); ++i) {
        const Protocol& p = l.protocols[i];
        if (l.messages) {  // nothing else says what its messages reach of a link
            const std::string name = "/protocols/" + std::to_string(i) + "/bandwidth_fraction";
            add(
                name, p.name + ": bandwidth achieved, fraction of the link's", [i](auto& s) -> auto& {
                    return s.library.protocols[i].bandwidth_fraction;
                });
        }
        const std::string at = "/protocols/" + std::to_string(i);
        add(
            at + "/base", p.name + ": start-up of a call", [i](auto& s) -> auto& { return s.library.protocols[i].base; });
        if (p.inside_fraction)
            add(
                at + "/inside_fraction", p.name + ": bandwidth inside a node, fraction of the link's", [i](auto& s) -> auto& {
                    return *s.library.protocols[i].inside_fraction;
                });
        if (p.channel_start)
            add(
                at + "/channel_start",
                p.name + ": start-up of a channel", [i](auto& s) -> auto& { return *s.library.protocols[i].channel_start; });
        if (p.channel_bandwidth.value > Bandwidth{})
            add(
                at + "/channel_bandwidth",
                p.name + ": bandwidth of a channel", [i](auto& s) -> auto& { return s.library.protocols[i].channel_bandwidth; });
    }
    return list;
}

std::vector<ProfileParameter> training_parameters(const Scenario& s) {
    using enum ParameterOwner;
    std::vector<ProfileParameter> list;
    const auto add = [&list](auto... arguments) { list.push_back(parameter(arguments...)); };
    add(
        "sustained_clock", device, Range<double>{.least = 0.3, .most = 1.0, .spread = 0.15, .usual = 0.95},
        [](auto& x) -> auto& { return x.cluster.node.device.sustained_clock; });
    add(
        "streaming_efficiency", framework, Range<double>{.least = 0.2, .most = 1.0, .spread = 0.2, .usual = 0.9},
        [](auto& x) -> auto& { return x.framework.streaming_efficiency; });
    add(
        "bytes_in_flight", framework, Range<Bytes>{.least = 3 * KB, .most = 1 * MB, .spread = in_flight_known, .usual = 20 * KB},
        [](auto& x) -> auto& { return x.framework.bytes_in_flight; });
    add(
        "native_build", framework, Range<double>{.least = 0.3, .most = 1.0, .spread = 0.1, .usual = 0.97},
        [](auto& x) -> auto& { return x.framework.native_build; });
    if (!s.framework.dispatch_in_graph) {
        add(
            "dispatch", framework, host_time(9 * us), [](auto& x) -> auto& { return x.framework.dispatch; });
        add(
            "backward_dispatch", framework, host_time(7 * us), [](auto& x) -> auto& { return x.framework.backward_dispatch; });
        add(
            "step_overhead", framework, Range<Seconds>{.least = 10 * us, .most = 100 * ms, .spread = unknown, .usual = 3 * ms},
            [](auto& x) -> auto& { return x.framework.step_overhead; });
        if (s.plan.micro_batches() > 1)
            add(
                "micro_batch_overhead", framework, Range<Seconds>{.least = 1 * us, .most = 50 * ms, .spread = unknown, .usual = 0.5 * ms},
                [](auto& x) -> auto& { return x.framework.micro_batch_overhead; });
    }
    if (s.plan.recompute != Recompute::none)
        add(
            "checkpoint_overhead", framework,
            Range<Seconds>{.least = 1 * us, .most = 5 * ms, .spread = unknown, .usual = 0.1 * ms, .begin = 0.3 * ms},
            [](auto& x) -> auto& { return x.framework.checkpoint_overhead; });
    if (!s.workload.is_transformer())
        add(
            "convolution_efficiency", framework, Range<double>{.least = 0.05, .most = as_products, .spread = 0.2, .usual = 1.0},
            [](auto& x) -> auto& { return x.framework.convolution_efficiency; });
    return list;
}

std::vector<ProfileParameter> memory_parameters(const Scenario& s) {
    using enum ParameterOwner;
    std::vector<ProfileParameter> list;
    const auto add = [&list](auto... arguments) { list.push_back(parameter(arguments...)); };
    add(
        "context", framework, Range<Bytes>{.least = 0.1 * GB, .most = 4 * GB, .spread = 0.4, .usual = 0.7 * GB},
        [](auto& x) -> auto& { return x.framework.context; });
    add(
        "fragmentation", framework, Range<double>{.least = 0.005, .most = 0.5, .spread = unknown, .usual = 0.1},
        [](auto& x) -> auto& { return x.framework.fragmentation; });
    if (s.plan.devices() > 1)
        add(
            "communication_buffers", framework, Range<Bytes>{.least = 0.05 * GB, .most = 16 * GB, .spread = 0.7, .usual = 0.6 * GB},
            [](auto& x) -> auto& { return x.framework.communication_buffers; });
    return list;
}

}  // namespace sextant
