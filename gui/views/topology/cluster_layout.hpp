// Where each part of the machine stands in its picture.
#pragma once

#include "gui/models/topology/cluster_map.hpp"

#include <QRectF>
#include <QString>

#include <unordered_map>
#include <vector>

namespace sextant::gui {

struct NodeBox {
    ShownNode shown;
    QRectF area;
};

// Numbers of four digits have no room in the boxes of devices: a node says which of them are its own.
inline constexpr double ranks_line = 16;
bool names_ranks(const ClusterMap&);

struct ClusterLayout {
    ShownNodes shown;
    std::vector<NodeBox> boxes;
    std::unordered_map<int, QRectF> place;  // by vertex of the topology
    QRectF storage;                         // empty where the job reads from none
    QRectF legend;
    double height = 0;
};
// What the boxes are, from the top.
QString levels_text(const ClusterMap&);
ClusterLayout lay_out(const ClusterMap&, double width, std::optional<int> rank);

}  // namespace sextant::gui
