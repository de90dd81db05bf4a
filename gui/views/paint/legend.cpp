#include "gui/views/paint/legend.hpp"

#include "gui/views/paint/axis.hpp"

namespace sextant::gui {
namespace {

constexpr double line = 20, swatch = 12;

}  // namespace

std::vector<QRectF> Legend::places(const QRectF& area) const {
    std::vector<QRectF> list;
    double x = area.left(), y = area.top();
    for (const LegendEntry& e : entries) {
        const double width = swatch + 6 + text_width(e.name, font_of(Type::small)) + 14;
        if (x + width > area.right() + 14 && x > area.left()) {
            x = area.left();
            y += line;
        }
        list.emplace_back(x, y, width, line);
        x += width;
    }
    return list;
}

double Legend::height_for(double width) const {
    const std::vector<QRectF> list = places({0, 0, width, 1});
    return list.empty() ? 0 : list.back().bottom();
}

std::vector<Hit> Legend::paint(QPainter& painter, const QRectF& area, const Look& look, std::optional<int> emphasized) const {
    std::vector<Hit> hits;
    const std::vector<QRectF> list = places(area);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const LegendEntry& e = entries[i];
        painter.setOpacity(emphasized && *emphasized != e.key ? 0.5 : 1);
        paint_fill(painter, {list[i].left(), list[i].top() + 4, swatch, swatch}, e.fill, look);
        paint_text(painter, list[i].adjusted(swatch + 6, 0, 0, 0), Qt::AlignVCenter, e.name, font_of(Type::small), look.text);
        painter.setOpacity(1);
        hits.push_back({list[i], e.key, e.tip});
    }
    return hits;
}

}  // namespace sextant::gui
