// The machine that a job uses: where its ranks are, and how busy the simulation finds its links.
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
    // The utilization series of each link of the topology; none where nothing crosses the link.
    std::vector<std::optional<std::uint32_t>> series_of_link{};
    std::vector<std::optional<int>> rank_of_device{};
    std::vector<std::vector<int>> links_of_node{};  // one direction of each link, with those to the fabric
    std::vector<int> fabric_links{};
    // Groups of nodes whose links all carry the same, in order of the first node of each; and how busy their links to other nodes are.
    std::vector<std::vector<int>> alike{};
    std::vector<double> network_use{};

    [[nodiscard]] const SimulationReport& report() const { return *played; }
    [[nodiscard]] const UtilizationSeries* series(int link) const;
};
// Takes some tenths of a second for a machine of ten thousand devices: for worker threads.
std::shared_ptr<const ClusterMap> map_of(const Scenario&, std::shared_ptr<const SimulationReport> played);

// Nodes that represent all nodes.
struct ShownNode {
    int node = 0;
    int stands_for = 1;  // how many nodes are used like this one, with itself
    friend bool operator==(const ShownNode&, const ShownNode&) = default;
};
struct ShownNodes {
    std::vector<ShownNode> nodes;
    int left_out = 0;  // nodes that none of these represents
};
// All nodes where there is room for them; otherwise one of each kind. Where there are too many kinds: the first and the last, that of
// `rank`, and those with the busiest network.
ShownNodes nodes_to_show(const ClusterMap&, std::size_t most, std::optional<int> rank);

// The utilization of a link: the mean over a range, or, without a range, the maximum over all intervals of the step. Most links are idle
// for most of a step; what counts is whether they are full when they are needed.
double use_of(const ClusterMap&, const UtilizationSeries&, const std::optional<TimeRange>&);
// The interval over which utilization is averaged: "1/200 of the step".
QString name_of_interval(const ClusterMap&);
// The utilization of the busier direction of a link.
double use_of(const ClusterMap&, int link, const std::optional<TimeRange>&);
// The mean utilization of a rank's compute stream.
double use_of_rank(const ClusterMap&, int rank, const std::optional<TimeRange>&);

// The ranks of the same group in this dimension, with the rank itself.
std::vector<int> group_of(const ClusterMap&, int rank, PlanDimension);
// "InfiniBand"
QString name_of(LinkCategory);
QString place_in_words(const ClusterMap&, int rank);

// Sentences that name the most limiting link and the rank that others wait for.
QStringList findings(const ClusterMap&, const std::optional<TimeRange>&);

Table cluster_links_table(const ClusterMap&, const std::optional<TimeRange>&);

}  // namespace sextant::gui
