// Points and lines over two axes, each even or logarithmic.
#pragma once

#include "gui/views/paint/axis.hpp"
#include "gui/views/paint/chart.hpp"

#include <QPolygonF>

#include <functional>
#include <limits>

namespace sextant::gui {

struct PlotAxis {
    QString title;  // with its unit
    double low = 0, high = 1;
    bool logarithmic = false;
    std::vector<Tick> marks{};
    double broken_at = std::numeric_limits<double>::infinity();  // from there on nothing is to scale

    [[nodiscard]] double part_of(double value) const;  // 0 at low, 1 at high
};
// From 0 to a little more than `largest`.
PlotAxis even_axis(const QString& title, double largest, const AxisUnit& unit = {});
// From the one to the other, marked at round numbers.
PlotAxis log_axis(const QString& title, double smallest, double largest, const std::function<QString(double)>& name);

enum class Mark { disc, ring, square, diamond, triangle, line };

struct PlotPoint {
    double x = 0, y = 0;
    int key = 0;
    QColor colour{};
    double radius = 4.5;
    Mark mark = Mark::disc;
    QString tip{}, name{};  // the name stands beside it
};
struct PlotLine {
    std::vector<QPointF> points;
    QColor colour{};
    double width = 1.8;
    Qt::PenStyle style = Qt::SolidLine;
    bool stepped = false;  // level, then upright
    QString name{};        // along its end
};
struct PlotLimit {
    double x = 0;
    QColor colour{};
    QString name;
};
struct LegendMark {
    QString name;
    QColor colour{};
    Mark mark = Mark::disc;
};

class Plot : public Chart {
public:
    PlotAxis x, y;
    std::vector<PlotLine> lines;
    std::vector<PlotPoint> points;  // later ones lie on top
    std::vector<PlotLimit> limits;
    std::vector<LegendMark> legend;
    double height = 320;

    [[nodiscard]] double height_for(double) const override { return height; }
    std::vector<Hit> paint(QPainter&, const QRectF&, const Look&, std::optional<int> emphasized) const override;

private:
    [[nodiscard]] QPointF place(const QRectF& ground, double px, double py) const;
    [[nodiscard]] QPolygonF corners(const PlotLine&, const QRectF& ground) const;  // as it is painted
    double paint_legend(QPainter&, const QRectF&, const Look&) const;              // the height that it took
    void paint_axes(QPainter&, const QRectF& ground, const Look&) const;
    void paint_lines(QPainter&, const QRectF& ground) const;
    void paint_break(QPainter&, const QRectF& ground, const Look&) const;
    [[nodiscard]] bool limits_meet_title(const QRectF& ground) const;
    void paint_limit_names(QPainter&, const QRectF& ground) const;
    using Places = std::vector<QRectF>;  // of points and names: no name is painted over another
    [[nodiscard]] Places paint_line_names(QPainter&, const QRectF& ground, const Look&) const;
    void paint_names(QPainter&, const QRectF& ground, const Look&, std::optional<int> emphasized, Places taken) const;
};

}  // namespace sextant::gui
