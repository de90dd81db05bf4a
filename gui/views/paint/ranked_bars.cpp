#include "gui/views/paint/ranked_bars.hpp"

#include <algorithm>

namespace sextant::gui {
namespace {

constexpr double line_height = 26;

}  // namespace

double RankedBars::height_for(double) const { return static_cast<double>(lines.size()) * line_height; }

std::vector<Hit> RankedBars::paint(QPainter& painter, const QRectF& area, const Look& look, std::optional<int> emphasized) const {
    std::vector<Hit> hits;
    const double tags = widest(lines, &RankedLine::tag, Type::small), values = widest(lines, &RankedLine::value, Type::strong),
                 notes = widest(lines, &RankedLine::note, Type::body);
    const double right = area.right() - (notes > 0 ? notes + 12 : 0);
    const double name_left = area.left() + (tags > 0 ? tags + 14 : 0);
    // Names before bars.
    const double room = right - values - 24 - name_left - widest(lines, &RankedLine::name, Type::body);
    const double bar = std::clamp(room, std::min(40.0, bar_part * area.width()), bar_part * area.width());
    const double bar_left = right - values - 12 - bar;
    double y = area.top();
    for (const RankedLine& line : lines) {
        const QRectF row(area.left(), y, area.width(), line_height);
        if (emphasized && *emphasized == line.key) painter.fillRect(row, look.accent_ground);
        if (tags > 0)
            paint_text(painter, {area.left(), y, tags + 4, line_height}, Qt::AlignVCenter, line.tag, font_of(Type::small), line.tag_colour);
        paint_text(painter, {name_left, y, bar_left - name_left - 10, line_height}, Qt::AlignVCenter, line.name, font_of(Type::body),
                   look.text);
        const QRectF ground(bar_left, y + 8, bar, line_height - 16);
        painter.fillRect(ground, look.sunken);
        const auto part = [&](double value) { return full > 0 ? std::clamp(value / full, 0.0, 1.0) * ground.width() : 0; };
        const double from = part(line.start), to = part(line.start + line.share);
        paint_fill(painter, {ground.left() + from, ground.top(), std::max(1.0, to - from), ground.height()}, line.fill, look);
        paint_text(painter, {right - values - 2, y, values + 2, line_height}, Qt::AlignVCenter | Qt::AlignRight, line.value,
                   font_of(Type::strong), look.text);
        if (notes > 0)
            paint_text(painter, {right + 12, y, notes + 1, line_height}, Qt::AlignVCenter | Qt::AlignRight, line.note, font_of(Type::body),
                       look.faint);
        hits.push_back({row, line.key, line.tip});
        y += line_height;
    }
    return hits;
}

}  // namespace sextant::gui
