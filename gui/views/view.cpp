#include "gui/views/view.hpp"

#include "gui/views/paint/look.hpp"

#include <QScrollArea>
#include <QVBoxLayout>

namespace sextant::gui {

View::View(Workbench& workbench, Selection& selection) : workbench_(workbench), selection_(selection) {
    connect(&workbench, &Workbench::changed, this, [this] {
        if (isVisible()) refresh();
    });
}

void View::showEvent(QShowEvent* e) {
    QWidget::showEvent(e);
    refresh();
}

void View::refresh() {
    const SessionPtr session = workbench_.session();
    if (!session || !session->answer || session->answer == shown_) return;
    shown_ = session->answer;
    show_answer(*session, *shown_);
}

PageView::PageView(Workbench& workbench, Selection& selection) : View(workbench, selection) {
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    auto* scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFrameShape(QFrame::NoFrame);
    page_ = new QWidget;
    page_->setObjectName(QStringLiteral("page"));
    column_ = new QVBoxLayout(page_);
    column_->setContentsMargins(2 * gap, 2 * gap, 2 * gap, 2 * gap);
    column_->setSpacing(gap + 4);
    column_->setAlignment(Qt::AlignTop);
    scroll->setWidget(page_);
    outer->addWidget(scroll);
}

}  // namespace sextant::gui
