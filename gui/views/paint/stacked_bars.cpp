#include "gui/views/paint/stacked_bars.hpp"

#include "gui/models/text.hpp"

#include <algorithm>
#include <numeric>

namespace sextant::gui {
namespace {

constexpr double legend_gap = 6, row_gap = 10, limit_height = 18;

double total_of(const BarRow& row) {
    return std::accumulate(row.parts.begin(), row.parts.end(), 0.0, [](double sum, const BarPart& p) { return sum + p.value; });
}

QRectF box_of(const BarPart& part, double sum_before, const QRectF& bar, const Scale& scale) {
    const double from = scale.x_of(sum_before), to = scale.x_of(sum_before + part.value);
    const double seam = to - from > 3 ? 1 : 0;
    return {from, bar.top(), std::max(0.5, to - from - seam), bar.height()};
}

}  // namespace

double StackedBars::largest() const {
    double most = limit ? limit->value : 0;
    for (const BarRow& row : rows) most = std::max(most, total_of(row));
    return most;
}

// Each key once, in the order in which they are stacked.
Legend StackedBars::legend() const {
    std::vector<LegendEntry> entries;
    for (const BarRow& row : rows)
        for (const BarPart& part : row.parts)
            if (has_legend && part.value > 0 && std::ranges::find(entries, part.key, &LegendEntry::key) == entries.end())
                entries.push_back({part.key, part.name, part.fill, QStringLiteral("<b>%1</b><br>%2").arg(part.name, part.meaning)});
    std::ranges::sort(entries, {}, &LegendEntry::key);
    return Legend(std::move(entries));
}

double StackedBars::height_for(double width) const {
    const double legend_height = legend().height_for(width);
    return legend_height + (legend_height > 0 ? legend_gap : 0) + (limit ? limit_height : 0) +
           static_cast<double>(rows.size()) * (row_height + row_gap) - row_gap + (has_axis ? axis_height + 4 : 2);
}

void StackedBars::paint_row(QPainter& painter, const BarRow& row, const QRectF& bar, const Scale& scale, const Look& look,
                            std::optional<int> emphasized, std::vector<Hit>& hits) const {
    double sum = 0;
    const double total = total_of(row);
    for (const BarPart& part : row.parts) {
        if (part.value <= 0) continue;
        const QRectF box = box_of(part, sum, bar, scale);
        sum += part.value;
        painter.setOpacity(emphasized && *emphasized != part.key ? 0.45 : 1);
        paint_fill(painter, box, part.fill, look);
        painter.setOpacity(1);
        if (emphasized && *emphasized == part.key) {
            painter.setPen(QPen(look.text, 1.5));
            painter.setBrush(Qt::NoBrush);
            painter.drawRect(box.adjusted(0.75, 0.75, -0.75, -0.75));
        }
        hits.push_back({box.adjusted(-1, 0, 1, 0), part.key,
                        QStringLiteral("<b>%1</b>: %2, %3<br>%4").arg(part.name, part.text, percent(part.value / total), part.meaning)});
    }
}

// On a ground of their own where lines would run through them.
void StackedBars::paint_values(QPainter& painter, const BarRow& row, const QRectF& bar, const Scale& scale, const Look& look,
                               std::optional<int> emphasized) const {
    if (row_height <= 20) return;
    const QFont font = font_of(Type::small);
    double sum = 0;
    for (const BarPart& part : row.parts) {
        if (part.value <= 0) continue;
        const QRectF box = box_of(part, sum, bar, scale);
        sum += part.value;
        const double width = text_width(part.text, font) + 8;
        if (box.width() <= width) continue;
        const QColor ground = part.fill.hatched ? look.sunken : part.fill.colour;
        painter.setOpacity(emphasized && *emphasized != part.key ? 0.45 : 1);
        if (part.fill.hatched || limit) painter.fillRect(QRectF(box.center().x() - width / 2, box.center().y() - 8, width, 16), ground);
        paint_text(painter, box, Qt::AlignCenter, part.text, font, part.fill.hatched ? look.text : text_on(ground));
    }
    painter.setOpacity(1);
}

void StackedBars::paint_limit(QPainter& painter, const Scale& scale, double top, double bottom, const Look& look) const {
    const double x = scale.x_of(limit->value);
    paint_limit_line(painter, {{x, top}, {x, bottom}}, look);
    const QFont font = font_of(Type::small);
    const double width = text_width(limit->label, font) + 2;
    const double left = std::clamp(x - width / 2, scale.left, std::max(scale.left, scale.right - width));
    paint_text(painter, {left, top - limit_height, width, limit_height}, Qt::AlignVCenter, limit->label, font, look.bad);
}

std::vector<Hit> StackedBars::paint(QPainter& painter, const QRectF& area, const Look& look, std::optional<int> emphasized) const {
    std::vector<Hit> hits;
    double y = area.top();
    const Legend legend = this->legend();
    const std::vector<Hit> names = legend.paint(painter, area, look, emphasized);
    if (!names.empty()) y += legend.height_for(area.width()) + legend_gap;
    if (limit) y += limit_height;
    const double beside = room_beside(rows, &BarRow::label, Type::body), behind = room_beside(rows, &BarRow::note, Type::strong);
    const double left = area.left() + beside, right = area.right() - behind;
    const Scale scale{largest(), left, right};
    const double top = y, bottom = y + static_cast<double>(rows.size()) * (row_height + row_gap) - row_gap;
    if (has_axis) paint_axis(painter, scale, unit, top, bottom, look);
    for (const BarRow& row : rows) {
        const QRectF bar(left, y, right - left, row_height);
        if (!row.label.isEmpty())
            paint_text(painter, {area.left(), y, beside - 12, row_height}, Qt::AlignVCenter, row.label, font_of(Type::body), look.text);
        if (!has_axis) painter.fillRect(bar, look.sunken);
        paint_row(painter, row, bar, scale, look, emphasized, hits);
        if (!row.note.isEmpty())
            paint_text(painter, {right + 12, y, behind - 12, row_height}, Qt::AlignVCenter, row.note, font_of(Type::strong), look.text);
        y += row_height + row_gap;
    }
    if (limit) paint_limit(painter, scale, top, bottom, look);
    for (std::size_t i = 0; i < rows.size(); ++i)
        paint_values(painter, rows[i], {left, top + static_cast<double>(i) * (row_height + row_gap), right - left, row_height}, scale, look,
                     emphasized);
    hits.insert(hits.end(), names.begin(), names.end());
    return hits;
}

}  // namespace sextant::gui
