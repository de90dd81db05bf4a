#include "gui/views/paint/side_by_side.hpp"

#include "gui/views/paint/look.hpp"

#include <QGridLayout>

#include <algorithm>

namespace sextant::gui {

SideBySide::SideBySide(std::vector<QWidget*> widgets, int needed)
    : widgets_(std::move(widgets)), grid_(new QGridLayout(this)), needed_(needed) {
    grid_->setContentsMargins(0, 0, 0, 0);
    grid_->setSpacing(gap + 4);
    arrange(static_cast<int>(widgets_.size()));
}

QSize SideBySide::minimumSizeHint() const {
    int width = 0;
    for (const QWidget* w : widgets_)
        if (!w->isHidden()) width = std::max(width, w->minimumSizeHint().width());
    return {width, QWidget::minimumSizeHint().height()};
}

void SideBySide::arrange(int columns) {
    if (columns == columns_) return;
    for (QWidget* w : widgets_) grid_->removeWidget(w);
    for (int i = 0; i < static_cast<int>(widgets_.size()); ++i) {
        QWidget* const w = widgets_[static_cast<std::size_t>(i)];
        grid_->addWidget(w, i / columns, i % columns);
        grid_->setColumnStretch(i, i < columns ? std::max(1, w->sizePolicy().horizontalStretch()) : 0);
    }
    columns_ = columns;
}

void SideBySide::resizeEvent(QResizeEvent* e) {
    int columns = static_cast<int>(widgets_.size());
    for (int needed = needed_; columns > 1 && width() < needed; needed /= 2) columns /= 2;
    arrange(columns);
    QWidget::resizeEvent(e);
}

}  // namespace sextant::gui
