// Scales with round numbers and a unit that suits them.
#pragma once

#include "gui/views/paint/look.hpp"

#include <QLineF>
#include <QPainter>
#include <QString>

#include <algorithm>
#include <vector>

namespace sextant::gui {

// One unit for a whole axis, so that its labels can be compared.
struct AxisUnit {
    QString name;
    double si = 1;  // value of one unit
};
AxisUnit unit_for(Seconds largest);
AxisUnit unit_for(Bytes largest);
// Whether what a device has can be drawn beside the most that is held, so that both can be seen.
bool is_within_reach(Bytes capacity, Bytes most);

// As many as tell multiples of the step apart.
int decimals_of(double step);

struct Tick {
    double value;  // in SI
    QString label;
};
// From 0 to `largest` (SI), about `count` steps of 1, 2 or 5 times a power of ten.
std::vector<Tick> ticks(double largest, const AxisUnit&, double count);

// Where values lie between two pixels.
struct Scale {
    double largest = 1;  // SI
    double left = 0, right = 1;
    [[nodiscard]] double x_of(double value) const { return largest > 0 ? left + value / largest * (right - left) : left; }
};
// Grid lines from `top` to `bottom`, labels below them, and the unit behind the last. Needs axis_height below `bottom`.
inline constexpr double axis_height = 22;
void paint_axis(QPainter&, const Scale&, const AxisUnit&, double top, double bottom, const Look&);

// What cannot be passed. With an edge that sets it off from what it crosses, whatever colour that has.
void paint_limit_line(QPainter&, const QLineF&, const Look&);

// A text whose end gives way to an ellipsis where it does not fit.
void paint_text(QPainter&, const QRectF&, Qt::Alignment, const QString&, const QFont&, const QColor&);
// The same over two lines, from the top of the area.
void paint_two_lines(QPainter&, const QRectF&, const QString&, const QFont&, const QColor&);
double text_width(const QString&, const QFont&);
// Of this text of the rows, the widest; 0 without rows.
template <class Row>
double widest(const std::vector<Row>& rows, QString Row::*text, Type type) {
    double most = 0;
    for (const Row& row : rows) most = std::max(most, text_width(row.*text, font_of(type)));
    return most;
}
// The room that this text takes beside a picture of the rows.
template <class Row>
double room_beside(const std::vector<Row>& rows, QString Row::*text, Type type) {
    const double width = widest(rows, text, type);
    return width > 0 ? width + 12 : 0;
}

}  // namespace sextant::gui
