// The machine that a job uses, with its ranks in their places and what the simulation says of its links.
#pragma once

#include "gui/models/selection.hpp"
#include "gui/models/table_model.hpp"
#include "model/plan/rank_layout.hpp"
#include "model/sextant.hpp"

#include <QString>

#include <memory>
#include <optional>
#include <vector>

namespace sextant::gui {

struct ClusterMap {
    Scenario scenario;
    std::shared_ptr<const SimulationReport> played;
    UsedMachine machine;
    RankLayout layout;
    // By link of the topology; none where nothing crosses it.
    std::vector<std::optional<std::uint32_t>> series_of_link{};
    std::vector<std::optional<int>> rank_of_device{};
    std::vector<std::vector<int>> links_of_node{};  // one direction of each, those to the fabric too
    std::vector<int> fabric_links{};
    // Nodes whose links all carry the same, in order of the first of each; and how busy the links are by which they reach others.
    std::vector<std::vector<int>> alike{};
    std::vector<double> network_use{};

    [[nodiscard]] const SimulationReport& report() const { return *played; }
    [[nodiscard]] const UtilizationSeries* series(int link) const;
};
// Takes some tenths of a second for a machine of ten thousand devices: for worker threads.
std::shared_ptr<const ClusterMap> map_of(const Scenario&, std::shared_ptr<const SimulationReport> played);

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

// How much of a link is in use: on average over a range, and without one at most, in any of the intervals of the step. Most links are
// idle for most of a step; what counts is whether they are full when they are needed.
double use_of(const ClusterMap&, const UtilizationSeries&, const std::optional<TimeRange>&);
// What is called the busiest is so on average over that long: "1/200 of the step".
QString name_of_interval(const ClusterMap&);
// Of both directions, whichever is more in use.
double use_of(const ClusterMap&, int link, const std::optional<TimeRange>&);
// On average, of the compute stream of a rank.
double use_of_rank(const ClusterMap&, int rank, const std::optional<TimeRange>&);

// The ranks that share this dimension with the rank, itself among them.
std::vector<int> group_of(const ClusterMap&, int rank, PlanDimension);
// "InfiniBand"
QString name_of(LinkCategory);
QString place_in_words(const ClusterMap&, int rank);

// The link that limits most and the rank that others wait for, by name, in sentences.
QStringList findings(const ClusterMap&, const std::optional<TimeRange>&);

Table cluster_links_table(const ClusterMap&, const std::optional<TimeRange>&);

}  // namespace sextant::gui
