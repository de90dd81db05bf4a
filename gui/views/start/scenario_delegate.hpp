// Draws a scenario in a list: its name and what it is about, and how its step is divided.
#pragma once

#include <QStyledItemDelegate>

namespace sextant::gui {

class ScenarioDelegate : public QStyledItemDelegate {
    Q_OBJECT

public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter*, const QStyleOptionViewItem&, const QModelIndex&) const override;
    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override;
};

}  // namespace sextant::gui
