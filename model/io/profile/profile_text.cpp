#include "model/base/grouped_digits.hpp"
#include "model/base/list_text.hpp"
#include "model/io/format/text_table.hpp"
#include "model/io/profile/profile_writer.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

namespace sextant {
namespace {

using namespace units;

// "1.410 GHz" -> "1.41 GHz".
std::string without_trailing_zeros(std::string text) {
    const auto point = text.find('.');
    if (point == std::string::npos) return text;
    auto end = text.find_first_not_of("0123456789", point + 1);
    if (end == std::string::npos) end = text.size();
    auto last = end;
    while (text[last - 1] == '0') --last;
    if (text[last - 1] == '.') --last;
    return text.erase(last, end - last);
}

template <class Q>
std::string shown(Q q) {
    return without_trailing_zeros(to_text(q, 4));
}
std::string shown(double number, int digits = 4) { return without_trailing_zeros(number_text(number, digits)); }

std::string tera(FlopRate rate) { return shown(rate / (TFLOP / s)); }

// Memory of devices is sold in GiB.
std::string gibibytes(Bytes b) { return shown(b / GiB) + " GiB"; }

std::string_view unit_text(ComputeUnit unit) { return unit == ComputeUnit::tensor ? "tensor" : "vector"; }

// Rows of numbers, each with a note of its source.
struct NumberTable {
    SourceNotes sources;
    TextTable table;

    void row(std::vector<std::string> cells) { table.row(std::move(cells)); }
    template <class T>
    void number(const std::string& name, const Sourced<T>& known, std::string text = {}) {
        if constexpr (!std::is_same_v<T, double>)  // a plain number comes with its text
            if (text.empty()) text = shown(known.value);
        row({name, std::move(text), sources.note(known)});
    }
    template <class T>
    void number(const std::string& name, const std::optional<Sourced<T>>& known, std::string text = {}) {
        if (known) number(name, *known, std::move(text));
    }
    [[nodiscard]] std::string text_with(const std::string& notes) const {
        return table.text() + paragraph("Notes", notes) + "\n" + sources.text();
    }
};

std::string rates_of(const Device& d, SourceNotes& sources) {
    TextTable table;
    table.row({"input", "sums in", "unit", "TOP/s", "", "sustained", ""});
    for (const PeakRate& p : d.peaks)
        table.row({std::string(to_text(p.input)), std::string(to_text(p.accumulate)), std::string(unit_text(p.unit)), tera(p.rate.value),
                   sources.note(p.rate), percent_text(p.achievable.value), sources.note(p.achievable)});
    return "\nMatrix products, dense: D = A x B + C, A and B in `input`, C and D in `sums in`\n" + table.text();
}

// What happens to a product of matrices stored in each type that people train in.
std::string paths_of(const Device& d) {
    TextTable table;
    const auto row = [&](std::string label, DataType type, bool tf32) {
        const MatrixPath path = matrix_path(d, type, tf32);
        const PeakRate& p = *path.peak;
        std::string how = std::string(to_text(p.input)) + " on the " + std::string(unit_text(p.unit)) + " units";
        if (type == DataType::fp32 && p.input == DataType::tf32) how += ": cast, since tensor cores do not take FP32";
        if (!path.native) how += ": expanded, not native";
        table.row({std::move(label), tera(p.rate.value) + " TOP/s", how});
    };
    row("fp32", DataType::fp32, false);
    row("fp32, TF32 allowed", DataType::fp32, true);
    for (const DataType t : {DataType::fp16, DataType::bf16, DataType::fp8}) row(std::string(to_text(t)), t, false);
    return "\nWhat libraries make of matrices stored in\n" + table.text();
}

std::string peers_text(const NodeSpec& node) {
    const PeerFabric& p = node.peers;
    const std::string each = std::to_string(p.links) + " x " + p.link.name;
    const std::string pair = shown(p.link.bandwidth.value * static_cast<double>(p.links)) + " per direction";
    switch (p.layout) {
        case PeerLayout::none: return node.peer_access ? "over PCIe, device to device" : "over PCIe, staged in host memory: no peer access";
        case PeerLayout::crossbar:
            return "every device on a switch: " + each + ", " + pair + (p.in_switch_reduction ? ", the switch adds" : "") +
                   (p.domain ? ", " + std::to_string(p.domain) + " devices on one switch" : "");
        case PeerLayout::all_to_all: return "all to all: " + each + " between every pair, " + pair;
        case PeerLayout::pairs:
            return "bridges between 0-1, 2-3, ...: " + each + ", " + pair + (node.peer_access ? "" : "; other pairs staged in host memory");
        case PeerLayout::matrix:
            return "a mesh of " + p.link.name + ", " + shown(p.link.bandwidth.value) + " per direction each; links per pair:";
    }
    return {};
}

std::string matrix_text(const PeerFabric& p) {
    TextTable table("      ");
    std::vector<std::string> head{""};
    for (std::size_t i = 0; i < p.link_count.size(); ++i) head.push_back(std::to_string(i));
    table.row(head);
    for (std::size_t i = 0; i < p.link_count.size(); ++i) {
        std::vector<std::string> cells{std::to_string(i)};
        for (const int links : p.link_count[i]) cells.push_back(links == 0 ? "." : std::to_string(links));
        table.row(std::move(cells));
    }
    return table.text();
}

// "0" or "0-3".
std::string range_text(int first, int count) {
    return count == 1 ? std::to_string(first) : std::to_string(first) + "-" + std::to_string(first + count - 1);
}

// Sockets as roots, PCIe switches and network adapters as branches, devices as leaves.
std::string drawing(const NodeSpec& node) {
    const int sockets = std::max(1, node.host.sockets);
    const int switches = node.devices / std::max(1, node.devices_per_switch);
    std::string out;
    for (int socket = 0; socket < sockets; ++socket) {
        std::vector<std::string> branches;
        for (int sw = 0; sw < switches; ++sw) {
            if (sw * sockets / switches != socket) continue;
            const std::string devices = "device " + range_text(sw * node.devices_per_switch, node.devices_per_switch);
            branches.push_back("-- " + node.host_link.name + " --" + (node.devices_per_switch > 1 ? " switch -- " : " ") + devices);
        }
        std::vector<std::string> nics;
        for (int nic = 0; nic < node.nics; ++nic)
            if (nic * sockets / node.nics == socket) nics.push_back(std::to_string(nic));
        if (!nics.empty()) branches.push_back("-- " + node.nic_link.name + " -- network adapter " + joined(nics));
        out += "    socket " + std::to_string(socket) + "\n";
        for (std::size_t i = 0; i < branches.size(); ++i) out += (i + 1 < branches.size() ? "      |" : "      `") + branches[i] + "\n";
        if (socket + 1 < sockets) out += "    ||  " + node.host.socket_link.name + "\n";
    }
    return out;
}

std::string fabric_text(const Cluster& c) {
    const FabricSpec& f = c.fabric;
    const std::string leaf = std::to_string(f.nodes_per_leaf) + " nodes per leaf";
    const std::string over = f.oversubscription > 1 ? ", oversubscribed " + shown(f.oversubscription) + " to 1" : ", not oversubscribed";
    switch (f.kind) {
        case FabricKind::none: return "none";
        case FabricKind::single_switch: return "one switch";
        case FabricKind::leaf_spine: return "leaf and spine, " + leaf + over;
        case FabricKind::rail_leaf_spine: return "rails, leaf and spine, " + leaf + " and rail" + over;
        case FabricKind::dragonfly: return "dragonfly, " + std::to_string(f.nodes_per_leaf) + " nodes per group" + over;
    }
    return {};
}

// "3 us and 1.2 GB/s": of each sample, and of its bytes.
std::string library_text(const std::optional<Sourced<Seconds>>& each, const std::optional<Sourced<Bandwidth>>& bytes) {
    return (each ? shown(each->value) : "not measured") + (bytes ? " and " + shown(bytes->value) : "");
}

void sample_rows(NumberTable& t, const SampleSpeeds& s) {
    t.number("  decodes JPEG", s.decode_jpeg);
    t.number("  decodes PNG", s.decode_png);
    t.number("  encodes JPEG", s.encode_jpeg);
    t.number("  encodes PNG", s.encode_png);
    t.number("  scales pictures", s.resize);
    t.number("  makes numbers", s.convert);
    for (const auto& [name, format] : s.formats)
        t.row({"  " + name + ", a sample",
               "read " + library_text(format.read, format.read_bytes) + ", write " + library_text(format.write, format.write_bytes)});
}

void network_rows(NumberTable& t, const Cluster& c) {
    const NodeSpec& n = c.node;
    if (n.nics > 0)
        t.row({"network",
               std::to_string(n.nics) + " x " + n.nic_link.name + ", " + shown(n.nic_link.bandwidth.value) + " each" +
                   (n.gpu_direct ? ", reads device memory" : ", through host memory"),
               t.sources.note(n.nic_link.bandwidth)});
    t.number("  of device memory", n.gpu_direct_bandwidth);
    if (n.ethernet) t.row({"sockets", n.ethernet->name + ", " + shown(n.ethernet->bandwidth.value), t.sources.note(n.ethernet->bandwidth)});
    if (c.fabric.kind != FabricKind::none)
        t.row({"fabric",
               fabric_text(c) + ", " + shown(c.fabric.switch_latency.value) + " per switch" +
                   (c.fabric.in_switch_reduction ? ", switches add (SHARP, which predictions leave out)" : ""),
               t.sources.note(c.fabric.switch_latency)});
}

// What a file system has room for, and how long it keeps files.
std::string policy_text(const StorageClass& s) {
    if (!s.shared) return "the local storage, as long as the job runs";
    std::string text = s.name;
    if (s.capacity) text += ", " + to_text(s.capacity->value);
    if (s.read_only) text += ", read only";
    if (s.backed_up) text += *s.backed_up ? ", backed up" : ", not backed up";
    if (s.retention) text += ", files go after " + to_text(s.retention->value);
    return text;
}

}  // namespace

std::string profile_to_text(const Device& d) {
    NumberTable t;
    std::string out = d.name + "\n  " + joined(std::array{d.vendor, d.architecture}, {}, " ");
    if (!d.compute_capability.empty()) out += ", compute capability " + d.compute_capability;
    out += ", " + std::to_string(d.multiprocessors) + (d.kind == DeviceKind::cpu ? " cores" : " multiprocessors") + "\n";
    if (!d.aliases.empty()) out += "  also: " + joined(d.aliases) + "\n";
    out += rates_of(d, t.sources) + paths_of(d);
    t.number("memory", d.memory, gibibytes(d.memory.value));
    if (d.usable_memory) t.number("  usable", d.usable_memory, gibibytes(d.usable_memory->value));
    t.number("memory bandwidth", d.memory_bandwidth);
    t.number("  streaming achieves", d.stream_fraction, percent_text(d.stream_fraction.value));
    if (d.bandwidth_alone) t.number("  alone", *d.bandwidth_alone, shown(d.bandwidth_alone->value) + " times that");
    if (d.kind == DeviceKind::gpu) t.number("  load latency", d.load_latency);
    t.number("L2", d.l2, shown(d.l2.value / MiB) + " MiB");
    t.number("  streams", d.cache_bandwidth);
    if (d.shared_cache) t.number("shared cache", *d.shared_cache, shown(d.shared_cache->value / MiB) + " MiB");
    t.number("  streams", d.shared_cache_bandwidth);
    t.number("an exponential", d.exponential);
    if (d.convolution) t.number("convolutions", *d.convolution, percent_text(d.convolution->value) + " of products");
    t.number("clock", d.clock);
    t.number("between kernels", d.kernel_overhead);
    t.number("  in a graph", d.graph_kernel_overhead);
    const auto of_library = [](double factor) { return shown(factor) + " times what the library takes on others"; };
    if (d.call_start) t.number("start of a collective", *d.call_start, of_library(d.call_start->value));
    if (d.call_step) t.number("  a step in a node", *d.call_step, of_library(d.call_step->value));
    t.number("power", d.power);
    t.number("  idle", d.idle_power);
    t.number("rent", d.price);
    t.row({"host link", d.host_link});
    if (!d.gemm_curves.empty())
        t.row({"measured GEMMs", std::to_string(d.gemm_curves.size()) + " curves",
               t.sources.note(SourceKind::measured, d.gemm_curves.front().source)});
    return out + "\n" + t.text_with(d.notes);
}

std::string profile_to_text(const Cluster& c) {
    NumberTable t;
    const NodeSpec& n = c.node;
    std::string out = c.name + ": " + c.title + "\n  " + std::to_string(c.nodes) + (c.nodes == 1 ? " node of " : " nodes of ") +
                      std::to_string(n.devices) + " x " + n.device.name + "\n";
    if (!c.aliases.empty()) out += "  also: " + joined(c.aliases) + "\n";
    out += "\nNode\n" + drawing(n) + "    between devices: " + peers_text(n) + "\n";
    if (n.peers.layout == PeerLayout::matrix) out += matrix_text(n.peers);
    t.row({"host", joined(std::array{n.host.cpu, std::to_string(n.host.cores) + " cores"})});
    t.number("  memory", n.host.memory, gibibytes(n.host.memory.value));
    t.number("  memory bandwidth", n.host.memory_bandwidth);
    t.number("  thread speed", n.host.thread_speed, shown(n.host.thread_speed.value) + " of a 3 GHz core of 2020");
    sample_rows(t, n.host.samples);
    network_rows(t, c);
    if (n.local_storage)
        t.row({"local storage",
               n.local_storage->name + (c.local_storage_nodes ? ", on " + std::to_string(*c.local_storage_nodes) + " nodes" : "")});
    for (const StorageClass& storage : c.shared_storage) t.row({"shared storage", storage.name});
    for (const auto& [called, storage] : c.file_systems) t.row({"  \"" + called + "\"", policy_text(storage)});
    if (!c.slurm.partition.empty()) t.row({"partition", c.slurm.partition});
    t.number("power without devices", n.base_power);
    t.number("rent of a node", n.price);
    out += "\n" + t.table.text();
    if (!c.assumptions.empty()) out += "\nAssumed\n  " + joined(c.assumptions, {}, "\n  ") + "\n";
    return out + paragraph("Notes", c.notes) + "\n" + t.sources.text();
}

std::string profile_to_text(const LinkType& link) {
    NumberTable t;
    t.number("bandwidth", link.bandwidth, shown(link.bandwidth.value) + " per direction");
    t.number("  large transfers reach", link.achievable, percent_text(link.achievable.value));
    t.number("latency", link.latency);
    return link.name + "\n" + t.text_with(link.notes);
}

std::string profile_to_text(const StorageClass& storage) {
    NumberTable t;
    t.number("open a file", storage.open_latency);
    t.number("seek", storage.seek_latency);
    t.number("create a file", storage.create_latency);
    t.number("remove a file", storage.remove_latency);
    t.number("  not yet written", storage.remove_unwritten_latency);
    t.number("read, one stream", storage.read_bandwidth);
    t.number("write, one stream", storage.write_bandwidth);
    t.number("read, piece by piece", storage.random_read_bandwidth);
    t.number("read ahead, at most", storage.read_ahead);
    const auto rate_row = [&](const char* name, const std::optional<Sourced<Frequency>>& rate) {
        if (rate) t.number(name, *rate, per_second_text(rate->value));
    };
    rate_row("random reads", storage.random_read_rate);
    rate_row("opens, all clients", storage.metadata_rate);
    rate_row("creates, all clients", storage.create_rate);
    t.number("read, one node", storage.client_read_bandwidth);
    t.number("write, one node", storage.client_write_bandwidth);
    t.number("read, all nodes", storage.total_read_bandwidth);
    t.number("write, all nodes", storage.total_write_bandwidth);
    t.number("room", storage.capacity);
    t.number("kept for", storage.retention);
    if (storage.backed_up) t.row({"backed up", *storage.backed_up ? "yes" : "no", ""});
    if (storage.read_only) t.row({"read only", "for jobs", ""});
    return storage.name + (storage.shared ? ", shared by all nodes" : ", local to a node") + "\n" + t.text_with(storage.notes);
}

std::string profile_to_text(const CommunicationLibrary& library) {
    NumberTable t;
    t.row({"protocol", "of the link", "per call", "per step: NVLink", "PCIe", "network", "up to", ""});
    for (const Protocol& p : library.protocols)
        t.row({p.name, percent_text(p.bandwidth_fraction.value), shown(p.base.value), shown(p.ring_step[0].value),
               shown(p.ring_step[1].value), shown(p.ring_step[2].value), p.up_to ? shown(*p.up_to) : "any size", t.sources.note(p.base)});
    std::string out = library.name + "\n" + t.table.text();
    if (library.tree)
        out += "  double binary trees, at " + percent_text(library.tree_bandwidth_fraction.value) + " of the ring's bandwidth\n";
    if (library.in_switch_reduction) out += "  lets switches add where they can\n";
    if (library.host_reduction) out += "  reduces on the host, " + to_text(library.host_reduction->value) + " a process\n";
    if (library.host_staging)
        out += "  copies device buffers through host memory, " + to_text(library.host_staging->value) + " a process\n";
    if (library.sockets_only) out += "  uses Ethernet sockets even where a faster fabric exists\n";
    return out + paragraph("Notes", library.notes) + "\n" + t.sources.text();
}

std::string profile_to_text(const ReferenceLatencies& table) {
    TextTable t;
    t.row(table.columns);
    std::vector<std::string> errata;
    for (const auto& row : table.rows) {
        t.row({row.what, row.time, row.instructions + (row.erratum.empty() ? "" : " (!)")});
        if (!row.erratum.empty()) errata.push_back("(!) " + row.what + ": " + row.erratum);
    }
    std::string out = table.title + "\n" + t.text();
    if (!errata.empty()) out += "\nErrata: the two columns contradict each other\n  " + joined(errata, {}, "\n  ") + "\n";
    return out + paragraph("Notes", table.notes) + "\nSource\n  " + table.source + "\n";
}

}  // namespace sextant
