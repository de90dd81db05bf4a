#include "gui/views/paint/interval_bar.hpp"

#include <algorithm>

namespace sextant::gui {

std::vector<Hit> IntervalBar::paint(QPainter& painter, const QRectF& area, const Look& look, std::optional<int>) const {
    const Seconds most = std::max(high, before.value_or(high));
    const double bottom = area.bottom() - axis_height, middle = (area.top() + bottom) / 2;
    const Scale scale{1.08 * most.si(), area.left() + 4, area.right() - 4};
    paint_axis(painter, scale, unit_for(most), area.top() + 2, bottom, look);
    const double from = scale.x_of(low.si()), to = scale.x_of(high.si()), at = scale.x_of(value.si());
    painter.setPen(Qt::NoPen);
    painter.setBrush(look.accent_ground);
    painter.drawRoundedRect(QRectF(from, middle - 6, to - from, 12), 4, 4);
    if (before) {
        const double x = scale.x_of(before->si());
        painter.setPen(QPen(look.faint, 2, Qt::DotLine));
        painter.drawLine(QPointF(x, middle - 10), QPointF(x, middle + 10));
    }
    painter.setPen(QPen(look.accent, 3, Qt::SolidLine, Qt::FlatCap));
    painter.drawLine(QPointF(at, middle - 10), QPointF(at, middle + 10));
    return {};
}

}  // namespace sextant::gui
