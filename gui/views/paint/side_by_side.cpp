#include "gui/views/paint/side_by_side.hpp"

#include "gui/views/paint/look.hpp"

#include <QBoxLayout>

namespace sextant::gui {

SideBySide::SideBySide(std::initializer_list<QWidget*> widgets, int needed)
    : row_(new QBoxLayout(QBoxLayout::LeftToRight, this)), needed_(needed) {
    row_->setContentsMargins(0, 0, 0, 0);
    row_->setSpacing(gap + 4);
    for (QWidget* widget : widgets) row_->addWidget(widget, 1);
}

void SideBySide::resizeEvent(QResizeEvent* e) {
    row_->setDirection(width() < needed_ ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
    QWidget::resizeEvent(e);
}

}  // namespace sextant::gui
