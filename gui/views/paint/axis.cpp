#include "gui/views/paint/axis.hpp"

#include "gui/models/text.hpp"
#include "model/io/format/svg.hpp"

#include <QFontMetricsF>
#include <QTextLayout>

#include <algorithm>
#include <cmath>
#include <utility>

namespace sextant::gui {

AxisUnit unit_for(Seconds largest) {
    using namespace units;
    if (largest >= 2 * hour) return {QStringLiteral("h"), hour.si()};
    if (largest >= 1 * s) return {QStringLiteral("s"), 1};
    if (largest >= 1 * ms) return {QStringLiteral("ms"), 1e-3};
    return {QStringLiteral("\u00b5s"), 1e-6};
}

AxisUnit unit_for(Bytes largest) {
    using namespace units;
    if (largest >= 1 * TB) return {QStringLiteral("TB"), 1e12};
    if (largest >= 1 * GB) return {QStringLiteral("GB"), 1e9};
    if (largest >= 1 * MB) return {QStringLiteral("MB"), 1e6};
    return {QStringLiteral("KB"), 1e3};
}

bool is_within_reach(Bytes capacity, Bytes most) {
    constexpr double far = 4;
    return capacity < far * most;
}

int decimals_of(double step) { return std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9))); }

std::vector<Tick> ticks(double largest, const AxisUnit& unit, double count) {
    const double range = largest / unit.si;
    if (!(range > 0) || !std::isfinite(range)) return {{0, QStringLiteral("0")}};
    const double step = svg::round_step(range, std::max(1.0, count));
    const int decimals = decimals_of(step);
    std::vector<Tick> list;
    const auto label = [&](double value) { return decimals > 0 ? QString::number(value, 'f', decimals) : grouped(std::round(value)); };
    for (int i = 0; i * step <= range * (1 + 1e-9); ++i) list.push_back({i * step * unit.si, label(i * step)});
    return list;
}

void paint_axis(QPainter& painter, const Scale& scale, const AxisUnit& unit, double top, double bottom, const Look& look) {
    const std::vector<Tick> list = ticks(scale.largest, unit, std::max(4.0, (scale.right - scale.left) / 90));
    const QFont font = font_of(Type::small);
    double free_until = INFINITY;
    for (auto at = list.rbegin(); at != list.rend(); ++at) {
        const Tick& tick = *at;
        const double x = scale.x_of(tick.value);
        painter.setPen(QPen(look.grid, 1));
        painter.drawLine(QPointF(x, top), QPointF(x, bottom + 3));
        const bool last = &tick == &list.back();
        const QString label = last ? tick.label + QLatin1Char(' ') + unit.name : tick.label;
        const double half = text_width(label, font) / 2 + 1;
        const double centre = std::clamp(x, scale.left + half, std::max(scale.left + half, scale.right - (last ? half : 0)));
        if (centre + half > free_until) continue;
        free_until = centre - half - 4;
        paint_text(painter, {centre - half, bottom + 4, 2 * half, axis_height - 4}, Qt::AlignCenter, label, font, look.faint);
    }
}

void paint_limit_line(QPainter& painter, const QLineF& line, const Look& look) {
    for (const auto& [colour, width] : {std::pair(look.surface, 4), std::pair(look.bad, 2)}) {
        painter.setPen(QPen(colour, width, Qt::SolidLine, Qt::FlatCap));
        painter.drawLine(line);
    }
}

void paint_text(QPainter& painter, const QRectF& area, Qt::Alignment alignment, const QString& text, const QFont& font, const QColor& ink) {
    painter.setFont(font);
    painter.setPen(ink);
    painter.drawText(area, static_cast<int>(alignment) | Qt::TextSingleLine | Qt::TextDontClip,
                     QFontMetricsF(font).elidedText(text, Qt::ElideRight, area.width() + 0.5));
}

void paint_two_lines(QPainter& painter, const QRectF& area, const QString& text, const QFont& font, const QColor& ink) {
    QTextLayout layout(text, font);
    layout.beginLayout();
    QTextLine first = layout.createLine();
    if (!first.isValid()) return;
    first.setLineWidth(area.width());
    layout.endLayout();
    const double height = QFontMetricsF(font).lineSpacing();
    const QRectF line(area.left(), area.top(), area.width(), height);
    paint_text(painter, line, Qt::AlignVCenter, text.left(first.textLength()).trimmed(), font, ink);
    paint_text(painter, line.translated(0, height), Qt::AlignVCenter, text.mid(first.textLength()), font, ink);
}

double text_width(const QString& text, const QFont& font) { return QFontMetricsF(font).horizontalAdvance(text); }

}  // namespace sextant::gui
