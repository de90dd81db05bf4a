// Bars that are stacked from parts: terms of a step, kinds of memory. One row each, on one scale, with a legend.
#pragma once

#include "gui/views/paint/axis.hpp"
#include "gui/views/paint/legend.hpp"

namespace sextant::gui {

struct BarPart {
    int key = 0;
    QString name;
    double value = 0;  // SI
    QString text;      // of the value: "3.17 s"
    Fill fill;
    QString meaning{};  // in a sentence
};
struct BarRow {
    QString label, note;  // the note stands behind the bar
    std::vector<BarPart> parts;
    int key = 0;
};
struct BarLimit {
    double value = 0;
    QString label;  // "a device has 80 GB"
};

class StackedBars : public Chart {
public:
    std::vector<BarRow> rows;
    AxisUnit unit;
    std::optional<BarLimit> limit;
    double row_height = 34;
    bool has_legend = true, has_axis = true;

    [[nodiscard]] double height_for(double width) const override;
    std::vector<Hit> paint(QPainter&, const QRectF&, const Look&, std::optional<int> emphasized) const override;

private:
    [[nodiscard]] Legend legend() const;
    void paint_row(QPainter&, const BarRow&, const QRectF& bar, const Scale&, const Look&, std::optional<int>, std::vector<Hit>&) const;
    void paint_values(QPainter&, const BarRow&, const QRectF& bar, const Scale&, const Look&, std::optional<int>) const;
    void paint_limit(QPainter&, const Scale&, double top, double bottom, const Look&) const;
    [[nodiscard]] double largest() const;
};

}  // namespace sextant::gui
