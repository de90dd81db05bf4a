#include "model/sextant_trace_export.hpp"

#include "model/base/quantity_text.hpp"
#include "model/io/chakra/chakra_writer.hpp"
#include "model/io/format/replace_file.hpp"
#include "model/lower/lower.hpp"
#include "model/predict/cost_table.hpp"
#include "model/simulate/recorded_step.hpp"

#include <ostream>

namespace sextant {
namespace {

// A node takes some hundred bytes.
constexpr std::size_t most_nodes = 40'000'000;

const Scenario& without_servers(const Scenario& s) {
    if (!s.plan.has_servers()) return s;
    throw InputError(Diagnostic{s.file, "/plan/data_parallel", "an execution trace has ranks that train, and no parameter servers",
                                "simulate plays them; all_reduce says the same job with collectives"});
}

// What step to write down, and what it is made of.
struct PricedStep {
    PricedStep(const Prepared& job, std::uint64_t seed)
        : graph(lower(without_servers(job.scenario()), Fold::nothing)),
          table(cost_table(job, graph)),
          recorded(graph, table, slowness_of(graph, jitter_of(job.scenario(), seed))) {
        if (recorded.nodes() <= most_nodes) return;
        throw InputError(Diagnostic{job.scenario().file, "/plan/global_batch",
                                    "the step has " + std::to_string(recorded.nodes()) + " nodes on all ranks, too many for files",
                                    std::to_string(most_nodes) + " at most: fewer micro-batches have the same rhythm"});
    }

    TaskGraph graph;
    CostTable table;
    RecordedStep recorded;
};

bool stand_in_order(const std::vector<DeviceIndex>& devices) {
    for (std::size_t r = 0; r < devices.size(); ++r)
        if (devices[r] != static_cast<DeviceIndex>(r)) return false;
    return true;
}

std::vector<std::string> left_out(const Prepared& job, const CostTable& table) {
    const Scenario& s = job.scenario();
    std::vector<std::string> list;
    if (table.loaders) list.emplace_back("samples are there when they are asked for: reading, decoding and copying them is left out");
    if (table.fusion)
        list.emplace_back("gradients are exchanged block by block: what a thread would reduce together depends on when it wakes");
    if (table.overlap_slowdown > 1 && s.plan.devices() > 1)
        list.emplace_back("kernels are not slower beside communication; here they take " + percent_text(table.overlap_slowdown - 1) +
                          " longer there");
    if (s.plan.offload != Offload::none)
        list.emplace_back("copies with host memory, and updates there, are kernels that last as long: bytes are not said");
    if (s.plan.shards_parameters() && s.framework.list_of_pieces.value > Seconds{})
        list.emplace_back("what the framework spends on the pieces of a gather is left out");
    if (uses_sockets(s) && !s.library.sockets_only)
        list.emplace_back("calls go over the Ethernet of the nodes here, and there over whatever network plays them");
    if (!stand_in_order(used_machine(job).placement.device_of))
        list.emplace_back("ranks do not fill one node after the other: replay is told where they stand, ASTRA-sim is not");
    return list;
}

std::filesystem::path file_of(const std::filesystem::path& prefix, std::size_t rank) {
    return prefix.string() + "." + std::to_string(rank) + ".et";
}

// Readers take ranks as long as there is a next one.
void check_that_it_ends(const std::filesystem::path& prefix, std::size_t ranks) {
    const std::filesystem::path other = file_of(prefix, ranks);
    std::error_code error;
    if (std::filesystem::exists(other, error))
        throw InputError(Diagnostic{other.string(), "", "is there of a trace with more ranks than " + std::to_string(ranks),
                                    "remove that trace, or write to another name"});
}

}  // namespace

ExecutionTrace execution_trace(const Prepared& job, std::uint64_t seed) {
    const PricedStep step(job, seed);
    ExecutionTrace trace{{}, step.recorded.groups(), {}};
    for (GraphRank r = 0; r < step.recorded.ranks(); ++r) trace.ranks.push_back(step.recorded.rank(r));
    return trace;
}

ExportedTrace export_chakra(const Prepared& job, const std::filesystem::path& prefix, std::uint64_t seed,
                            const std::function<void(std::size_t done, std::size_t ranks)>& progress) {
    const PricedStep step(job, seed);
    const std::size_t ranks = step.recorded.ranks();
    check_that_it_ends(prefix, ranks);
    ReplacedFiles files;
    for (std::size_t r = 0; r < ranks; ++r) {
        const RecordedRank recorded = step.recorded.rank(static_cast<GraphRank>(r));
        files.write_text(file_of(prefix, r), [&](std::ostream& out) { write_chakra(out, recorded, static_cast<int>(r)); });
        if (progress) progress(r + 1, ranks);
    }
    files.write_text(prefix.string() + ".groups.json", [&](std::ostream& out) { out << chakra_groups_to_json(step.recorded.groups()); });
    files.write_text(prefix.string() + ".nodes.json",
                     [&](std::ostream& out) { out << chakra_nodes_to_json(nodes_of_ranks(job.scenario())); });
    files.put_in_place();
    return {ranks, step.recorded.nodes(), step.recorded.groups().size(), left_out(job, step.table)};
}

}  // namespace sextant
