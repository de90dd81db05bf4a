#include "model/sextant_replay.hpp"

#include "model/cost/recorded_prices.hpp"
#include "model/io/chakra/chakra_reader.hpp"
#include "model/io/profile/profile_reader.hpp"
#include "model/lower/execution_trace.hpp"

#include <numeric>

namespace sextant {
namespace {

// What the report calls it: its only file, or what the names of all begin with.
std::string name_of(const std::vector<std::filesystem::path>& files, std::size_t ranks) {
    const std::filesystem::path& first = files.front();
    return ranks == 1 ? first.string()
                      : (first.has_extension() && files.size() > 1 ? first.parent_path() / first.stem().stem() : first).string();
}

int nodes_for(const ExecutionTrace& trace, const Cluster& cluster) {
    const int ranks = static_cast<int>(trace.ranks.size()), per_node = cluster.node.devices;
    const int nodes = (ranks + per_node - 1) / per_node;
    if (nodes <= cluster.nodes) return nodes;
    throw InputError(Diagnostic{trace.ranks.front().file, "",
                                "the trace has " + std::to_string(ranks) + " ranks, and " + cluster.name + " " +
                                    std::to_string(cluster.nodes) + " nodes of " + std::to_string(per_node) + " devices",
                                "a larger cluster"});
}

}  // namespace

ReplayReport replay(const ExecutionTrace& trace, const Cluster& cluster, const CommunicationLibrary& library, DataType type) {
    const RecordedGraph recorded = lower(trace);
    const Topology topology = Topology::build(cluster, nodes_for(trace, cluster), library.sockets_only);
    const CostTable table = price_recorded(recorded, {cluster, topology, library, type});
    Placement placement;
    placement.device_of.resize(trace.ranks.size());
    std::iota(placement.device_of.begin(), placement.device_of.end(), 0);
    ReplayReport report = make_replay_report(recorded, play_as_ready(recorded.graph, table, topology, placement));
    report.hardware = cluster.title.empty() ? cluster.name : cluster.title;
    report.hardware += ": " + std::to_string(cluster.node.devices) + " x " + cluster.node.device.name + " a node";
    report.library = library.name;
    return report;
}

ReplayReport replay(Library& library, const ReplayRequest& request) {
    Diagnostics diagnostics;
    const NamedBy option{"--hardware " + request.hardware, ""};
    const Cluster* cluster = find_cluster(library.catalog, request.hardware, diagnostics, option);
    const CommunicationLibrary* found = find_library(library.catalog, request.library, diagnostics, {"--library " + request.library, ""});
    const auto type = parse_data_type(request.precision);
    if (!type) diagnostics.add({"--precision " + request.precision, "", "no such data type", "bf16, fp16, fp8, tf32, fp32"});
    library.check_read(diagnostics);
    const ExecutionTrace trace = load_chakra(request.files, request.groups);
    for (const RecordedRank& rank : trace.ranks) library.files.insert(rank.file);
    library.files.insert(request.groups);
    ReplayReport report = replay(trace, *cluster, *found, *type);
    report.trace_name = name_of(request.files, trace.ranks.size());
    return report;
}

}  // namespace sextant
