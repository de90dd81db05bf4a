// The machine as a picture: the fabric on top, below it the nodes with their parts, one level for each kind of part. One picture represents
// all nodes that are used alike.
#pragma once

#include "gui/models/topology/cluster_map.hpp"
#include "gui/views/paint/chart.hpp"

#include <set>

namespace sextant::gui {

class ClusterChart : public Chart {
public:
    std::shared_ptr<const ClusterMap> map;
    std::optional<TimeRange> range;
    std::optional<int> rank;  // that is pointed at
    std::set<int> group;      // ranks that share something with it

    [[nodiscard]] double height_for(double width) const override;
    // Keys are ranks.
    std::vector<Hit> paint(QPainter&, const QRectF&, const Look&, std::optional<int> emphasized) const override;
};

}  // namespace sextant::gui
