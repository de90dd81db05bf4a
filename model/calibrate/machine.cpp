#include "model/calibrate/machine.hpp"

#include <algorithm>

namespace sextant {

Sourced<double> reached_whole() { return {1.0, SourceKind::estimated, "the rate is the one that large products sustain"}; }

namespace {

// Its rates are those that products and streams reach on `like`: there is no peak beside them. `told`: where the machine's own
// numbers come from.
Device core_of(const MachineFacts& m, const Device& like, const std::string& source, const std::string& told) {
    Device d = like;
    d.name = "core of " + m.processor;
    d.aliases.clear();
    d.vendor.clear();
    d.clock = {};
    d.notes.clear();
    d.multiprocessors = 1;
    d.memory = {m.memory / m.cores, SourceKind::measured, told + ", shared by its cores"};
    if (m.cache > Bytes{}) d.l2 = {m.cache, SourceKind::measured, told};
    for (PeakRate& p : d.peaks) {
        p.rate.value = p.rate.value * p.achievable.value;
        p.rate.kind = SourceKind::estimated;
        p.rate.source = source;
        p.achievable = reached_whole();
    }
    if (const PeakRate* fp32 = d.peak(DataType::fp32, ComputeUnit::vector); m.bf16 && fp32 != nullptr) {
        PeakRate bf16 = *fp32;
        bf16.input = DataType::bf16;
        bf16.unit = ComputeUnit::tensor;
        bf16.rate = {4 * fp32->rate.value, SourceKind::estimated, "four times what fp32 is thought to reach"};
        d.peaks.push_back(bf16);
    }
    d.memory_bandwidth = {d.memory_bandwidth.value * d.stream_fraction.value, SourceKind::estimated, source};
    d.stream_fraction = {1.0, SourceKind::estimated, "the bandwidth is the one that streams"};
    if (m.cores > 1) d.bandwidth_alone = {1.0, SourceKind::estimated, "as beside others"};
    d.cache_bandwidth = {d.usual_cache_bandwidth(), SourceKind::estimated, "four times what memory streams"};
    if (m.shared_cache > Bytes{}) {
        // A virtual machine is told the whole cache of its host, whose other guests have most of it.
        d.shared_cache = {min(m.shared_cache / m.cores, 32 * units::MiB), SourceKind::estimated,
                          "a part of its last cache, of which " + m.host + " says how large it is"};
        d.shared_cache_bandwidth = {2 * d.memory_bandwidth.value, SourceKind::estimated, "twice what memory streams"};
    }
    d.exponential = {0.5 * units::ns, SourceKind::estimated, "some two thousand million a second"};
    d.convolution = {1.0, SourceKind::estimated, "as products of their size"};
    return d;
}

}  // namespace

Cluster machine_cluster(const MachineFacts& m, const Cluster& like) {
    Cluster c = like;
    c.name = m.host;
    c.title = m.host + ": " + std::to_string(m.cores) + (m.cores == 1 ? " core of " : " cores of ") + m.processor;
    c.aliases.clear();
    c.nodes = 1;
    c.notes = "Measured by `sextant calibrate`; one device is one core.";
    const std::string told = "what " + m.host + " says of itself";
    NodeSpec& node = c.node;
    node.devices = m.cores;
    node.device = core_of(m, like.node.device, "as " + like.name, told);
    node.host.cpu = m.processor;
    node.host.sockets = 1;
    node.host.cores = m.cores;
    node.host.memory = {m.memory, SourceKind::measured, told};
    node.host.turn = {usual_turn, SourceKind::estimated, "about a slice of Linux's scheduler"};
    node.host_link.bandwidth.value = node.host_link.bandwidth.value * node.host_link.achievable.value;
    node.host_link.achievable = {1.0, SourceKind::estimated, "the bandwidth is the one that copies reach"};
    return c;
}

Cluster connected_hosts(Cluster c, int hosts) {
    c.assumptions.push_back("all hosts are like " + c.name + ", whose cores were measured");
    c.title = std::to_string(hosts) + " hosts like " + c.title;
    c.nodes = hosts;
    c.notes = "Measured by `sextant calibrate --hostfile`; one device is one core.";
    c.node.nics = 1;
    LinkType& port = c.node.nic_link = {};
    port.name = "network between the hosts";
    port.category = LinkCategory::ethernet;
    port.bandwidth = {1 * units::GB / units::s, SourceKind::estimated, "about ten gigabit"};
    port.achievable = {1.0, SourceKind::estimated, "the bandwidth is the one that transfers reach"};
    port.latency = {20 * units::us, SourceKind::estimated, "some tens of microseconds, as TCP of the kernel"};
    c.fabric.kind = FabricKind::single_switch;
    c.fabric.switch_latency = {100 * units::ns, SourceKind::estimated, "next to nothing beside the latency of the ports"};
    return c;
}

Device device_after(const DeviceFacts& facts, const Device& like) {
    Device d = like;
    const std::string told = "what its driver says", source = "as " + like.name + ", by multiprocessors and clock";
    d.name = facts.name;
    d.aliases.clear();
    d.compute_capability = facts.compute_capability;
    d.notes.clear();
    d.price.reset();
    d.multiprocessors = facts.multiprocessors;
    d.clock = {facts.clock, SourceKind::measured, told};
    d.memory = {facts.memory, SourceKind::measured, told};
    if (facts.l2 > Bytes{}) d.l2 = {facts.l2, SourceKind::measured, told};
    if (facts.memory_bandwidth > Bandwidth{}) d.memory_bandwidth = {facts.memory_bandwidth, SourceKind::measured, told};
    const double times = facts.multiprocessors * facts.clock.si() / (like.multiprocessors * like.clock.value.si());
    for (PeakRate& p : d.peaks) p.rate = {times * p.rate.value, SourceKind::estimated, source};
    return d;
}

Cluster gpu_cluster(const MachineFacts& m, const DeviceFacts& facts, const Cluster& like) {
    Cluster c = like;
    NodeSpec& node = c.node;
    c.name = m.host;
    c.title = m.host + ": " + std::to_string(node.devices) + " x " + facts.name;
    c.aliases.clear();
    c.notes = "Measured by `sextant calibrate --backend cuda`.";
    const std::string told = "what " + m.host + " says of itself";
    node.host.cpu = m.processor;
    node.host.cores = m.cores;
    node.host.memory = {m.memory, SourceKind::measured, told};
    node.device.usable_memory = {facts.memory, SourceKind::measured, told};
    node.device.sustained_clock = {1.0, SourceKind::estimated, "as in short runs"};
    node.device.clock_alone = {1.0, SourceKind::estimated, "measured alone"};
    node.device.gemm_curves.clear();
    LinkType& copies = node.host_link;
    copies.achievable = {std::min(1.0, facts.copies / copies.bandwidth.value), SourceKind::measured,
                         "a copy from pinned memory, measured on " + m.host};
    return c;
}

}  // namespace sextant
