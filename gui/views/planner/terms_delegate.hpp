// Draws the terms of a plan's step into its cell, for all plans on one scale.
#pragma once

#include <QStyledItemDelegate>

namespace sextant::gui {

class TermsDelegate : public QStyledItemDelegate {
    Q_OBJECT

public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter*, const QStyleOptionViewItem&, const QModelIndex&) const override;
    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override { return {150, 24}; }
};

}  // namespace sextant::gui
