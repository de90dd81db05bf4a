// The machine that a job uses, with its ranks in their places and what the simulation says of its links.
#pragma once

#include "gui/models/selection.hpp"
#include "gui/models/session.hpp"
#include "gui/models/table_model.hpp"
#include "gui/models/timeline/timeline.hpp"
#include "model/plan/rank_layout.hpp"

#include <QString>

#include <memory>
#include <optional>
#include <vector>

namespace sextant::gui {

struct ClusterMap {
    std::shared_ptr<const Answer> answer;
    std::shared_ptr<const Simulated> simulated;  // of its scenario
    UsedMachine machine;
    RankLayout layout;
    // By link of the topology; none where nothing crosses it.
    std::vector<std::optional<std::uint32_t>> series_of_link;
    std::vector<std::optional<int>> rank_of_device;
    std::vector<std::vector<int>> links_of_node;  // one direction of each, those to the fabric too
    std::vector<int> fabric_links;
    // Nodes whose links all carry the same, in order of the first of each.
    std::vector<std::vector<int>> alike;

    [[nodiscard]] const SimulationReport& report() const { return *simulated->report; }
    [[nodiscard]] const UtilizationSeries* series(int link) const;
};
// Takes some tenths of a second for a machine of ten thousand devices: for worker threads.
std::shared_ptr<const ClusterMap> map_of(std::shared_ptr<const Answer>, std::shared_ptr<const Simulated>);

// Some nodes in the place of all.
struct ShownNode {
    int node = 0;
    int stands_for = 1;  // so many that are used alike, itself among them
    friend bool operator==(const ShownNode&, const ShownNode&) = default;
};
struct ShownNodes {
    std::vector<ShownNode> nodes;
    int left_out = 0;  // nodes that are like none of these
};
// All where there is room for all; else one of each kind, and where there are too many kinds, first and last, that of the rank, and those
// with the busiest network.
ShownNodes nodes_to_show(const ClusterMap&, std::size_t most, std::optional<int> rank);

// Of both directions, whichever is more in use.
double use_of(const ClusterMap&, int link, const TimeRange&);
// Of the compute stream of a rank.
double use_of_rank(const ClusterMap&, int rank, const TimeRange&);

// The ranks that share this dimension with the rank, itself among them.
std::vector<int> group_of(const ClusterMap&, int rank, PlanDimension);
// "InfiniBand"
QString name_of(LinkCategory);
QString place_in_words(const ClusterMap&, int rank);

// The link that limits most and the rank that others wait for, by name, in sentences.
QStringList findings(const ClusterMap&, const TimeRange&);

Table cluster_links_table(const ClusterMap&, const TimeRange&);

}  // namespace sextant::gui
