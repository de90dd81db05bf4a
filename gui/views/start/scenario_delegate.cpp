#include "gui/views/start/scenario_delegate.hpp"

#include "gui/models/scenario_list_model.hpp"
#include "gui/models/text.hpp"
#include "gui/views/paint/axis.hpp"

#include <QPainter>

#include <algorithm>

namespace sextant::gui {
namespace {

constexpr int heading_height = 34, entry_height = 70;
constexpr double widest_glance = 190, part_of_glance = 0.3;  // the name needs more

void paint_glance(QPainter& painter, const ScenarioGlance& glance, const QRectF& area, const Look& look) {
    const QString text = quantity(glance.step) + (glance.fits ? QString() : QStringLiteral(", does not fit"));
    paint_text(painter, {area.left(), area.top() + 8, area.width(), 18}, Qt::AlignVCenter | Qt::AlignRight, text, font_of(Type::strong),
               glance.fits ? look.text : look.bad);
    const Scale scale{glance.terms.total().si(), area.left(), area.right()};
    double sum = 0;
    for (const Term term : all_terms) {
        const double from = scale.x_of(sum), to = scale.x_of(sum += glance.terms[term].si());
        if (to > from) paint_fill(painter, {from, area.top() + 30, to - from, 10}, fill_of(term), look);
    }
}

}  // namespace

void ScenarioDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const auto& model = *static_cast<const ScenarioListModel*>(index.model());
    const ScenarioEntry& entry = model.at(index.row());
    const Look& look = look_of(*option.widget);
    const QRectF area(option.rect);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    if (!entry.heading.isEmpty()) {
        paint_text(*painter, area.adjusted(gap, 0, 0, -6), Qt::AlignBottom, entry.heading, font_of(Type::heading), look.faint);
        painter->restore();
        return;
    }
    if (option.state & (QStyle::State_Selected | QStyle::State_MouseOver)) {
        painter->setPen(Qt::NoPen);
        painter->setBrush(option.state & QStyle::State_Selected ? look.accent_ground : look.sunken);
        painter->drawRoundedRect(area.adjusted(0, 1, 0, -1), 6, 6);
    }
    const double glance_width = std::min(widest_glance, part_of_glance * area.width());
    const QRectF text = area.adjusted(gap + 4, 0, -glance_width - 3 * gap, 0);
    paint_text(*painter, {text.left(), text.top() + 8, text.width(), 18}, Qt::AlignVCenter, entry.name, font_of(Type::strong), look.text);
    const QRectF below = text.adjusted(0, 28, 0, 0);
    if (entry.place.isEmpty()) {
        paint_two_lines(*painter, below, entry.description, font_of(Type::small), look.faint);
    } else {
        const QRectF line(below.left(), below.top(), below.width(), 16);
        paint_text(*painter, line, Qt::AlignVCenter, entry.place, font_of(Type::small), look.text);
        paint_text(*painter, line.translated(0, line.height()), Qt::AlignVCenter, entry.description, font_of(Type::small), look.faint);
    }
    if (entry.glance)
        paint_glance(*painter, *entry.glance, {area.right() - glance_width - gap, area.top(), glance_width, area.height()}, look);
    painter->restore();
}

QSize ScenarioDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const {
    return {300, index.data(ScenarioListModel::is_heading).toBool() ? heading_height : entry_height};
}

}  // namespace sextant::gui
