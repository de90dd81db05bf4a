// A measured collective: which library made the call, on which ranks, and how long it took.
#include "model/io/measurement/measurement_scenario.hpp"

#include "model/io/measurement/mentioned_word.hpp"

#include <algorithm>
#include <charconv>

namespace sextant {
namespace {

// The profile of NCCL 2.`minor`: trees came with 2.4, those over two nodes with 2.12, other channels with 2.19.
std::string_view nccl_of(int minor) { return minor < 4 ? "nccl-2.0" : minor < 12 ? "nccl-2.8" : minor < 19 ? "nccl-2.12" : "nccl-2"; }

// Where the row's words name no version of it: one of the device's years.
int nccl_minor(std::string_view library, std::string_view architecture) {
    if (const std::size_t at = library.find("2."); at != std::string_view::npos && mentions(library, "NCCL")) {
        int minor = 0;
        std::from_chars(library.data() + at + 2, library.data() + library.size(), minor);
        return minor;
    }
    constexpr std::string_view until_ampere[] = {"kepler", "maxwell", "pascal", "volta", "turing", "ampere"};
    return std::ranges::find(until_ampere, architecture) != std::end(until_ampere) ? 12 : 19;
}

// Ranks on the cores of a host: what an MPI moves between host buffers inside a node goes through its memory.
void put_ranks_on_host(NodeSpec& node, const MeasurementSources& sources, RowReport& report) {
    node.device.kind = DeviceKind::cpu;
    node.peers = {};
    node.host_link = look_up("Host memory copy", sources, report, "/hardware/buffers");
    node.devices_per_switch = 1;
    node.peer_access = true;
    node.gpu_direct = true;
    report.assume("ranks on host cores, one for each device of the node");
}

}  // namespace

std::string_view library_of(std::string_view words, const Device& device) {
    constexpr std::pair<std::string_view, std::string_view> named[] = {
        {"Baidu", "baidu-allreduce"}, {"RCCL", "rccl"}, {"Gloo", "gloo"}, {"UCX", "openmpi-ucx"}};
    if (const std::string_view* name = mentioned_word(words, named)) return *name;
    if (words.empty() && device.architecture.starts_with("cdna")) return "rccl";
    const bool for_training = mentions(words, "CCL") || mentions(words, "MLSL");  // adds on all the cores that it takes
    if (!words.empty() && !for_training) return "openmpi-4.0";
    return nccl_of(nccl_minor(words, device.architecture));
}

// github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md: the size over the time, times what the busiest link moves of it.
std::optional<Seconds> measured_time(const CollectiveRow& row) {
    if (row.time || !row.bus_bandwidth) return row.time;
    const double others = (row.ranks - 1.0) / row.ranks;
    const bool moves_all = row.collective == "broadcast" || row.collective == "reduce" || row.collective == "sendrecv";
    const double factor = row.collective == "all_reduce" ? 2 * others : moves_all ? 1 : others;
    return factor * row.message / *row.bus_bandwidth;
}

CollectiveScenario to_scenario(const CollectiveRow& row, const MeasurementSources& sources) {
    RowReport report(row.header);
    CollectiveScenario scenario;
    const MeasuredHardware& h = row.hardware;
    MeasuredHardware named = h;
    if (h.gpu.empty() && sources.device(h.system)) {
        named.gpu = h.system;
        report.assume("the devices are what the system is called after: " + h.system);
    }
    if (named.gpu.empty()) report.complain("/hardware", "the source does not say which device the ranks ran on");
    report.diagnostics().throw_if_any();
    scenario.cluster = cluster_of(named, sources, report);
    report.diagnostics().throw_if_any();
    if (row.host_buffers) put_ranks_on_host(scenario.cluster.node, sources, report);

    const std::string_view name = library_of(row.library, scenario.cluster.node.device);
    if (name == "openmpi-4.0" && !mentions(row.library, "Open") && !mentions(row.library, "OSU"))
        report.assume("\"" + row.library + "\" is priced as Open MPI 4.0");
    if (name.starts_with("nccl") && !row.library.empty() && !mentions(row.library, "NCCL"))
        report.assume("\"" + row.library + "\" is priced as NCCL");
    if (auto library = sources.library(name))
        scenario.library = std::move(*library);
    else
        report.complain("/library", "communication library \"" + std::string(name) + "\" is not in the catalog");
    if (row.ranks % h.nodes != 0 || row.ranks / h.nodes > scenario.cluster.node.devices)
        report.complain("/hardware/ranks", std::to_string(row.ranks) + " ranks do not fit on " + std::to_string(h.nodes) + " nodes of " +
                                               std::to_string(scenario.cluster.node.devices) + " devices");
    report.diagnostics().throw_if_any();

    for (int node = 0; node < h.nodes; ++node)
        for (int local = 0; local < row.ranks / h.nodes; ++local) scenario.members.push_back(node * scenario.cluster.node.devices + local);
    // A table that does not tell gathers from scatters: they move the same.
    const bool either = row.collective.starts_with("all_gather/reduce_scatter");
    if (either) report.assume("an all_gather, or a reduce_scatter, which takes as long");
    scenario.collective = either                         ? "all_gather"
                          : row.collective == "alltoall" ? "all_to_all"
                          : row.collective == "sendrecv" ? "send"
                                                         : row.collective;
    scenario.cluster.assumptions = std::move(report.assumptions());
    scenario.size = row.message;
    // Without an MPI nccl-tests is one process that drives all devices of its host.
    if (h.nodes == 1 && (row.library.empty() || mentions(row.library, "Single"))) scenario.devices_of_process = row.ranks;
    return scenario;
}

}  // namespace sextant
