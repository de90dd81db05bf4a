// What each colour stands for.
#pragma once

#include "gui/views/paint/chart.hpp"

#include <utility>

namespace sextant::gui {

struct LegendEntry {
    int key = 0;
    QString name;
    Fill fill;
    QString tip{};
};

// From left to right, in as many lines as needed.
class Legend : public Chart {
public:
    explicit Legend(std::vector<LegendEntry> e = {}) : entries(std::move(e)) {}
    std::vector<LegendEntry> entries;

    [[nodiscard]] double height_for(double width) const override;
    std::vector<Hit> paint(QPainter&, const QRectF&, const Look&, std::optional<int> emphasized) const override;

private:
    [[nodiscard]] std::vector<QRectF> places(const QRectF& area) const;
};

}  // namespace sextant::gui
