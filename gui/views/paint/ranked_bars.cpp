#include "gui/views/paint/ranked_bars.hpp"

#include <QFontMetricsF>

#include <algorithm>

namespace sextant::gui {
namespace {

constexpr double line_height = 26;

double second_line() { return QFontMetricsF(font_of(Type::body)).lineSpacing(); }

}  // namespace

// Names before bars.
RankedBars::Columns RankedBars::columns(double width) const {
    Columns c{};
    c.tag = widest(lines, &RankedLine::tag, Type::small);
    c.value = widest(lines, &RankedLine::value, Type::strong);
    c.note = widest(lines, &RankedLine::note, Type::body);
    c.right = width - (c.note > 0 ? c.note + 12 : 0);
    c.name_left = c.tag > 0 ? c.tag + 14 : 0;
    const double room = c.right - c.value - 24 - c.name_left - widest(lines, &RankedLine::name, Type::body);
    c.bar = std::clamp(room, std::min(40.0, bar_part * width), bar_part * width);
    c.bar_left = c.right - c.value - 12 - c.bar;
    c.name = c.bar_left - c.name_left - 10;
    return c;
}

double RankedBars::height_of(const RankedLine& line, const Columns& c) {
    return line_height + (text_width(line.name, font_of(Type::body)) > c.name + 0.5 ? second_line() : 0);
}

double RankedBars::height_for(double width) const {
    const Columns c = columns(width);
    double height = 0;
    for (const RankedLine& line : lines) height += height_of(line, c);
    return height;
}

std::vector<Hit> RankedBars::paint(QPainter& painter, const QRectF& area, const Look& look, std::optional<int> emphasized) const {
    std::vector<Hit> hits;
    const Columns c = columns(area.width());
    const double right = area.left() + c.right, bar_left = area.left() + c.bar_left;
    double y = area.top();
    for (const RankedLine& line : lines) {
        const QRectF row(area.left(), y, area.width(), height_of(line, c));
        const auto write = [&](double left, double width, Qt::Alignment alignment, const QString& text, Type type, const QColor& ink) {
            paint_text(painter, {left, y, width, row.height()}, Qt::AlignVCenter | alignment, text, font_of(type), ink);
        };
        if (emphasized && *emphasized == line.key) painter.fillRect(row, look.accent_ground);
        if (c.tag > 0) write(area.left(), c.tag + 4, Qt::AlignLeft, line.tag, Type::small, line.tag_colour);
        const double name_left = area.left() + c.name_left;
        if (row.height() > line_height)
            paint_two_lines(painter, {name_left, row.center().y() - second_line(), c.name, 2 * second_line()}, line.name,
                            font_of(Type::body), look.text);
        else
            write(name_left, c.name, Qt::AlignLeft, line.name, Type::body, look.text);
        const QRectF ground(bar_left, row.center().y() - 5, c.bar, 10);
        painter.fillRect(ground, look.sunken);
        const auto part = [&](double value) { return full > 0 ? std::clamp(value / full, 0.0, 1.0) * ground.width() : 0; };
        const double from = part(line.start), to = part(line.start + line.share);
        paint_fill(painter, {ground.left() + from, ground.top(), std::max(1.0, to - from), ground.height()}, line.fill, look);
        write(right - c.value - 2, c.value + 2, Qt::AlignRight, line.value, Type::strong, look.text);
        if (c.note > 0) write(right + 12, c.note + 1, Qt::AlignRight, line.note, Type::body, look.faint);
        hits.push_back({row, line.key, line.tip});
        y += row.height();
    }
    return hits;
}

}  // namespace sextant::gui
