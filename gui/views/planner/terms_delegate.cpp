#include "gui/views/planner/terms_delegate.hpp"

#include "gui/models/plan_table_model.hpp"
#include "gui/views/paint/axis.hpp"

#include <QPainter>

namespace sextant::gui {

void TermsDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    QStyledItemDelegate::paint(painter, option, index);
    const auto& table = static_cast<const PlanTableModel&>(*index.model());
    const Look& look = look_of(*option.widget);
    constexpr double height = 14;
    const QRectF area(option.rect.left() + 6, option.rect.center().y() - height / 2, option.rect.width() - 12, height);
    const Scale scale{table.longest_step().si(), area.left(), area.right()};
    double sum = 0;
    painter->save();
    for (const Term term : all_terms) {
        const double from = scale.x_of(sum), to = scale.x_of(sum += table.at(index.row()).estimate.terms[term].si());
        if (to > from) paint_fill(*painter, {from, area.top(), to - from, area.height()}, fill_of(term), look);
    }
    painter->restore();
}

}  // namespace sextant::gui
