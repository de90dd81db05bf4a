#include "model/sextant_replay.hpp"

#include "model/cost/recorded_prices.hpp"
#include "model/io/chakra/chakra_reader.hpp"
#include "model/io/profile/profile_reader.hpp"
#include "model/lower/execution_trace.hpp"

#include <algorithm>
#include <vector>

namespace sextant {
namespace {

// What the report calls it: its only file, or what the names of all begin with.
std::string name_of(const std::vector<std::filesystem::path>& files, std::size_t ranks) {
    const std::filesystem::path& first = files.front();
    return ranks == 1 ? first.string()
                      : (first.has_extension() && files.size() > 1 ? first.parent_path() / first.stem().stem() : first).string();
}

// Where the ranks stand, and on how many nodes.
struct Places {
    Placement placement;
    int nodes = 0;
};

Places places_of(const ExecutionTrace& trace, const Cluster& cluster) {
    const int ranks = static_cast<int>(trace.ranks.size()), per_node = cluster.node.devices;
    std::vector<int> ranks_on;  // of each node, so far
    Places places;
    for (int r = 0; r < ranks; ++r) {
        const int node = trace.node_of.empty() ? r / per_node : trace.node_of[static_cast<std::size_t>(r)];
        if (node >= std::ssize(ranks_on)) ranks_on.resize(static_cast<std::size_t>(node) + 1);
        places.placement.device_of.push_back(node * per_node + ranks_on[static_cast<std::size_t>(node)]++);
    }
    places.nodes = static_cast<int>(ranks_on.size());
    if (places.nodes <= cluster.nodes && std::ranges::max(ranks_on) <= per_node) return places;
    const std::string where = trace.node_of.empty() ? ""
                                                    : " on " + std::to_string(places.nodes) + " nodes, up to " +
                                                          std::to_string(std::ranges::max(ranks_on)) + " on one";
    throw InputError(Diagnostic{trace.ranks.front().file, "",
                                "the trace has " + std::to_string(ranks) + " ranks" + where + ", and " + cluster.name + " " +
                                    std::to_string(cluster.nodes) + " nodes of " + std::to_string(per_node) + " devices",
                                "a larger cluster"});
}

}  // namespace

ReplayReport replay(const ExecutionTrace& trace, const Cluster& cluster, const CommunicationLibrary& library, DataType type) {
    const RecordedGraph recorded = lower(trace);
    const Places places = places_of(trace, cluster);
    const Topology topology = Topology::build(cluster, places.nodes, library.sockets_only);
    const CostTable table = price_recorded(recorded, {cluster, topology, places.placement.device_of, library, type});
    ReplayReport report = make_replay_report(recorded, play_as_ready(recorded.graph, table, topology, places.placement));
    report.hardware = cluster.title.empty() ? cluster.name : cluster.title;
    report.hardware += ": " + std::to_string(cluster.node.devices) + " x " + cluster.node.device.name + " a node";
    report.library = library.name;
    return report;
}

ReplayReport replay(Library& library, const ReplayRequest& request) {
    Diagnostics diagnostics;
    const NamedBy option{"--hardware", ""};  // beside which a file would be named: where we are
    const Cluster* cluster = find_cluster(library.catalog, request.hardware, diagnostics, option);
    const CommunicationLibrary* found = find_library(library.catalog, request.library, diagnostics, {"--library " + request.library, ""});
    const auto type = parse_data_type(request.precision);
    if (!type) diagnostics.add({"--precision " + request.precision, "", "no such data type", "bf16, fp16, fp8, tf32, fp32"});
    library.check_read(diagnostics);
    const ExecutionTrace trace = load_chakra(request.files, request.groups, request.nodes);
    for (const RecordedRank& rank : trace.ranks) library.files.insert(rank.file);
    library.files.insert({request.groups, request.nodes});
    ReplayReport report = replay(trace, *cluster, *found, *type);
    report.trace_name = name_of(request.files, trace.ranks.size());
    return report;
}

}  // namespace sextant
