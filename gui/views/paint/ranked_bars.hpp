// Things in the order of their size, a line each: name, bar, value. A name that has no room on one line takes two.
#pragma once

#include "gui/views/paint/axis.hpp"
#include "gui/views/paint/chart.hpp"

namespace sextant::gui {

struct RankedLine {
    int key = 0;
    QString name{}, tag{};        // the tag stands before the name: "measured"
    double start = 0, share = 0;  // of the bar: where it begins and how long it is, of `full`
    QString value{}, note{};      // "20.1 s", "-33 %"
    QString tip{};
    Fill fill{};
    QColor tag_colour{};
};

class RankedBars : public Chart {
public:
    std::vector<RankedLine> lines;
    double full = 1;
    double bar_part = 0.32;  // of the width

    [[nodiscard]] double height_for(double width) const override;
    std::vector<Hit> paint(QPainter&, const QRectF&, const Look&, std::optional<int> emphasized) const override;

private:
    // Where parts of a line stand from its left, and how wide they are.
    struct Columns {
        double tag, name_left, name, bar_left, bar, value, right, note;
    };
    [[nodiscard]] Columns columns(double width) const;
    [[nodiscard]] static double height_of(const RankedLine&, const Columns&);
};

}  // namespace sextant::gui
