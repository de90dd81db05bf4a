// A value and how sure it is: a mark inside its interval.
#pragma once

#include "gui/views/paint/axis.hpp"
#include "gui/views/paint/chart.hpp"

namespace sextant::gui {

class IntervalBar : public Chart {
public:
    Seconds low, value, high;
    std::optional<Seconds> before;  // as it is without the what-if

    [[nodiscard]] double height_for(double) const override { return 26 + axis_height; }
    std::vector<Hit> paint(QPainter&, const QRectF&, const Look&, std::optional<int> emphasized) const override;
};

}  // namespace sextant::gui
