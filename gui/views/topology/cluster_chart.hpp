// The machine as a picture: the fabric on top, below it nodes with what is in them, in one level for each kind. Nodes that are used alike
// have one picture.
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
