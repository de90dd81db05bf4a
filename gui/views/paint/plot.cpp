#include "gui/views/paint/plot.hpp"

#include <QLineF>

#include <algorithm>
#include <cmath>

namespace sextant::gui {
namespace {

constexpr double legend_line = 20, title_height = 20;

void paint_mark(QPainter& painter, QPointF at, double radius, Mark mark, const QColor& colour, const QColor& edge) {
    painter.setPen(QPen(edge, 1));
    painter.setBrush(colour);
    const double r = radius;
    switch (mark) {
        case Mark::disc: painter.drawEllipse(at, r, r); break;
        case Mark::ring:
            painter.setBrush(Qt::NoBrush);
            painter.setPen(QPen(colour, 2));
            painter.drawEllipse(at, r, r);
            break;
        case Mark::square: painter.drawRect(QRectF(at.x() - 0.9 * r, at.y() - 0.9 * r, 1.8 * r, 1.8 * r)); break;
        case Mark::diamond:
            painter.drawPolygon(
                QPolygonF{{at + QPointF(0, -1.25 * r), at + QPointF(1.25 * r, 0), at + QPointF(0, 1.25 * r), at + QPointF(-1.25 * r, 0)}});
            break;
        case Mark::triangle:
            painter.drawPolygon(QPolygonF{{at + QPointF(0, -1.2 * r), at + QPointF(1.1 * r, 0.9 * r), at + QPointF(-1.1 * r, 0.9 * r)}});
            break;
        case Mark::line:
            painter.setPen(QPen(colour, 1.8));
            painter.drawLine(at - QPointF(1.4 * r, 0), at + QPointF(1.4 * r, 0));
            break;
    }
}

bool is_taken(const std::vector<QRectF>& places, const QRectF& room) {
    return std::ranges::any_of(places, [&](const QRectF& p) { return p.intersects(room); });
}

// What passes through a rectangle crosses one of its diagonals.
bool crosses(const QPolygonF& line, const QRectF& room) {
    const QLineF diagonals[] = {{room.topLeft(), room.bottomRight()}, {room.bottomLeft(), room.topRight()}};
    for (qsizetype i = 0; i + 1 < line.size(); ++i) {
        const QLineF part(line[i], line[i + 1]);
        const auto meets = [&](const QLineF& d) { return part.intersects(d, nullptr) == QLineF::BoundedIntersection; };
        if (room.contains(part.p1()) || room.contains(part.p2()) || std::ranges::any_of(diagonals, meets)) return true;
    }
    return false;
}

// How far down the last part of a line comes to the right of `x`.
double lowest_since(double x, const QPolygonF& line) {
    if (line.size() < 2) return line.last().y();
    const QLineF part(line[line.size() - 2], line.last());
    const double begin = std::max(x, part.x1());
    return std::max(part.y2(), part.dx() > 0 ? part.pointAt((begin - part.x1()) / part.dx()).y() : part.y1());
}

bool ends_level(const PlotLine& line) {
    const std::size_t n = line.points.size();
    return n < 2 || line.points[n - 1].y() == line.points[n - 2].y();
}

}  // namespace

double PlotAxis::part_of(double value) const {
    if (logarithmic) return value > 0 ? std::log(value / low) / std::log(high / low) : 0;
    return (value - low) / (high - low);
}

PlotAxis even_axis(const QString& title, double largest, const AxisUnit& unit) {
    PlotAxis axis{title, 0, largest > 0 ? 1.06 * largest : 1, false, {}};
    axis.marks = ticks(axis.high, unit, 6);
    return axis;
}

PlotAxis log_axis(const QString& title, double smallest, double largest, const std::function<QString(double)>& name) {
    PlotAxis axis{title, smallest, std::max(largest, 2 * smallest), true, {}};
    const double first = std::floor(std::log10(axis.low)), last = std::ceil(std::log10(axis.high));
    constexpr double few = 3;  // powers of ten: there is room for marks between them
    const bool has_room = last - first <= few;
    for (double power = first; power <= last; ++power)
        for (const double factor : {1, 2, 5}) {
            const double value = factor * std::pow(10, power);
            if ((factor == 1 || has_room) && value >= axis.low && value <= axis.high) axis.marks.push_back({value, name(value)});
        }
    return axis;
}

QPointF Plot::place(const QRectF& ground, double px, double py) const {
    return {ground.left() + x.part_of(px) * ground.width(), ground.bottom() - y.part_of(py) * ground.height()};
}

double Plot::paint_legend(QPainter& painter, const QRectF& area, const Look& look) const {
    if (legend.empty()) return 0;
    const QFont font = font_of(Type::small);
    double left = area.left(), top = area.top();
    for (const LegendMark& entry : legend) {
        const double width = 18 + text_width(entry.name, font) + 16;
        if (left > area.left() && left + width > area.right() + 16) {
            left = area.left();
            top += legend_line;
        }
        paint_mark(painter, {left + 6, top + legend_line / 2}, 4.5, entry.mark, entry.colour, look.surface);
        paint_text(painter, {left + 16, top, width - 16, legend_line}, Qt::AlignVCenter, entry.name, font, look.text);
        left += width;
    }
    return top + legend_line - area.top() + 4;
}

void Plot::paint_axes(QPainter& painter, const QRectF& ground, const Look& look) const {
    const QFont font = font_of(Type::small);
    for (const Tick& tick : y.marks) {
        const double at = place(ground, x.low, tick.value).y();
        if (at < ground.top() - 1 || at > ground.bottom() + 1) continue;
        painter.setPen(QPen(look.grid, 1));
        painter.drawLine(QPointF(ground.left(), at), QPointF(ground.right(), at));
        const double width = text_width(tick.label, font) + 2;
        paint_text(painter, {ground.left() - 6 - width, at - 9, width, 18}, Qt::AlignVCenter | Qt::AlignRight, tick.label, font,
                   look.faint);
    }
    double free_from = -INFINITY;
    for (const Tick& tick : x.marks) {
        const double at = place(ground, tick.value, y.low).x();
        if (at < ground.left() - 1 || at > ground.right() + 1 || tick.value >= 0.97 * x.broken_at) continue;
        painter.setPen(QPen(look.grid, 1));
        painter.drawLine(QPointF(at, ground.top()), QPointF(at, ground.bottom() + 3));
        const double half = text_width(tick.label, font) / 2 + 1, centre = std::min(at, ground.right() + 12 - half);
        if (centre - half < free_from) continue;
        free_from = centre + half + 6;
        paint_text(painter, {centre - half, ground.bottom() + 4, 2 * half, 16}, Qt::AlignCenter, tick.label, font, look.faint);
    }
    painter.setPen(QPen(look.border, 1));
    painter.drawLine(ground.bottomLeft(), ground.bottomRight());
    if (x.broken_at < x.high) paint_break(painter, ground, look);
    paint_text(painter, {ground.left(), ground.bottom() + 20, ground.width(), title_height}, Qt::AlignVCenter | Qt::AlignRight, x.title,
               font, look.faint);
}

// Two strokes through the axis, and another ground behind them.
void Plot::paint_break(QPainter& painter, const QRectF& ground, const Look& look) const {
    const double at = place(ground, x.broken_at, y.low).x();
    painter.fillRect(QRectF(at, ground.top(), ground.right() - at, ground.height()), look.sunken);
    painter.fillRect(QRectF(at - 2, ground.bottom() - 1, 5, 3), look.surface);
    painter.setPen(QPen(look.faint, 1.2));
    for (const double by : {-3.0, 3.0})
        painter.drawLine(QPointF(at + by - 2, ground.bottom() + 5), QPointF(at + by + 2, ground.bottom() - 5));
}

QPolygonF Plot::corners(const PlotLine& line, const QRectF& ground) const {
    QPolygonF list;
    for (const QPointF& p : line.points) {
        const QPointF at = place(ground, p.x(), p.y());
        if (line.stepped && !list.isEmpty()) list += QPointF(at.x(), list.last().y());
        list += at;
    }
    return list;
}

void Plot::paint_lines(QPainter& painter, const QRectF& ground) const {
    painter.save();
    painter.setClipRect(ground.adjusted(-1, -1, 1, 1));
    for (const PlotLine& line : lines) {
        painter.setPen(QPen(line.colour, line.width, line.style));
        painter.drawPolyline(corners(line, ground));
    }
    for (const PlotLimit& limit : limits) {
        const double at = place(ground, limit.x, y.low).x();
        painter.setPen(QPen(limit.colour, 1.5, Qt::DashLine));
        painter.drawLine(QPointF(at, ground.top()), QPointF(at, ground.bottom()));
    }
    painter.restore();
}

bool Plot::limits_meet_title(const QRectF& ground) const {
    const QFont font = font_of(Type::small);
    const double title_end = ground.left() + text_width(y.title, font);
    return std::ranges::any_of(
        limits, [&](const PlotLimit& limit) { return place(ground, limit.x, y.low).x() - text_width(limit.name, font) / 2 < title_end; });
}

// Above, where no point is.
void Plot::paint_limit_names(QPainter& painter, const QRectF& ground) const {
    const QFont font = font_of(Type::small);
    for (const PlotLimit& limit : limits) {
        const double at = place(ground, limit.x, y.low).x(), width = text_width(limit.name, font) + 2;
        const double left = std::clamp(at - width / 2, ground.left(), std::max(ground.left(), ground.right() - width));
        paint_text(painter, {left, ground.top() - title_height - 4, width, title_height}, Qt::AlignVCenter, limit.name, font, limit.colour);
    }
}

// Above the end of each line, or farther to the left where something stands there; of a level one also in front of it. Of one that does
// not end level, below it where another line passes above.
Plot::Places Plot::paint_line_names(QPainter& painter, const QRectF& ground, const Look& look) const {
    const QFont font = font_of(Type::small);
    Places taken;
    for (const PlotPoint& p : points) {
        const QPointF at = place(ground, p.x, p.y);
        taken.emplace_back(at.x() - p.radius, at.y() - p.radius, 2 * p.radius, 2 * p.radius);
    }
    for (const PlotLine& line : lines) {
        if (line.name.isEmpty() || line.points.empty()) continue;
        const QPointF end = place(ground, line.points.back().x(), line.points.back().y());
        if (!ground.adjusted(-1, -1, 1, 1).contains(end)) continue;
        const double width = text_width(line.name, font) + 2;
        const double left = std::clamp(end.x() - width - 10, ground.left(), std::max(ground.left(), ground.right() - width));
        QRectF room(left, std::max(ground.top(), end.y() - 18), width, 16);
        const double begin = std::max(ground.left(), place(ground, line.points.front().x(), line.points.front().y()).x());
        const auto hides_a_line = [&](const QRectF& name) {
            return std::ranges::any_of(lines,
                                       [&](const PlotLine& other) { return &other != &line && crosses(corners(other, ground), name); });
        };
        const QRectF below = room.translated(0, lowest_since(left, corners(line, ground)) + 3 - room.top());
        const bool is_free_below = ground.contains(below) && !is_taken(taken, below) && !hides_a_line(below);
        if (!ends_level(line) && hides_a_line(room) && is_free_below) {
            room = below;
        } else {
            for (QRectF other = room; other.left() >= (ends_level(line) ? ground.left() : begin); other.translate(-8, 0))
                if (!is_taken(taken, other) && (other.left() >= begin || !hides_a_line(other))) {
                    room = other;
                    break;
                }
        }
        painter.fillRect(room.adjusted(-2, 1, 2, -1), look.surface);
        paint_text(painter, room, Qt::AlignVCenter, line.name, font, look.faint);
        taken.push_back(room);
    }
    return taken;
}

// Beside its point, or above or below where something else stands there; without any room, only what is chosen is named.
void Plot::paint_names(QPainter& painter, const QRectF& ground, const Look& look, std::optional<int> emphasized, Places taken) const {
    const QFont font = font_of(Type::small);
    for (const PlotPoint& p : points) {
        if (p.name.isEmpty()) continue;
        const QPointF at = place(ground, p.x, p.y);
        const double width = text_width(p.name, font) + 2, beside = p.radius + 6, high = 16;
        const double left = std::clamp(at.x() - width / 2, ground.left(), std::max(ground.left(), ground.right() - width));
        const QRectF rooms[] = {
            {at.x() + beside, at.y() - high / 2, width, high},   {at.x() - beside - width, at.y() - high / 2, width, high},
            {left, at.y() - beside - high + 2, width, high},     {left, at.y() + beside - 2, width, high},
            {left, at.y() - beside - 2 * high + 2, width, high}, {left, at.y() + beside + high - 2, width, high}};
        const auto is_free = [&](const QRectF& room) { return ground.contains(room) && !is_taken(taken, room); };
        const auto* room = std::ranges::find_if(rooms, is_free);
        if (room == std::end(rooms)) {
            if (emphasized != p.key) continue;
            room = rooms + (ground.contains(rooms[0]) ? 0 : 1);
        }
        painter.fillRect(room->adjusted(-2, 1, 2, -1), look.surface);
        paint_text(painter, *room, Qt::AlignVCenter, p.name, font, emphasized == p.key ? look.accent : look.text);
        taken.push_back(*room);
    }
}

std::vector<Hit> Plot::paint(QPainter& painter, const QRectF& area, const Look& look, std::optional<int> emphasized) const {
    const QFont font = font_of(Type::small);
    const double legend_height = paint_legend(painter, area.adjusted(2, 0, -2, 0), look);
    double label_width = 0;
    for (const Tick& tick : y.marks) label_width = std::max(label_width, text_width(tick.label, font));
    QRectF ground(area.left() + label_width + 10, area.top() + legend_height + title_height + 2, area.width() - label_width - 24,
                  area.height() - legend_height - title_height - 44);
    const double title_top = ground.top() - title_height - 4;
    if (limits_meet_title(ground)) ground.setTop(ground.top() + title_height - 4);  // a line each
    if (ground.width() < 20 || ground.height() < 20) return {};
    paint_text(painter, {area.left() + 2, title_top, area.width() - 4, title_height}, Qt::AlignVCenter, y.title, font, look.faint);
    paint_axes(painter, ground, look);
    paint_lines(painter, ground);
    paint_limit_names(painter, ground);
    const Places taken = paint_line_names(painter, ground, look);
    std::vector<Hit> hits;
    for (const PlotPoint& p : points) {
        const QPointF at = place(ground, p.x, p.y);
        paint_mark(painter, at, p.radius, p.mark, p.colour, look.surface);
        const double reach = p.radius + 3;
        hits.push_back({QRectF(at.x() - reach, at.y() - reach, 2 * reach, 2 * reach), p.key, p.tip});
    }
    for (const PlotPoint& p : points) {
        if (emphasized != p.key) continue;
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(look.text, 1.8));
        painter.drawEllipse(place(ground, p.x, p.y), p.radius + 3.5, p.radius + 3.5);
    }
    paint_names(painter, ground, look, emphasized, taken);
    // Arrow keys go from left to right; what lies on top is hit first.
    std::ranges::reverse(hits);
    std::ranges::stable_sort(hits, {}, [](const Hit& h) { return h.area.center().x(); });
    return hits;
}

}  // namespace sextant::gui
