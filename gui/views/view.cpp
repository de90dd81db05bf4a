#include "gui/views/view.hpp"

#include "gui/views/paint/card.hpp"
#include "gui/views/paint/chart.hpp"

#include <QEvent>
#include <QScrollArea>
#include <QVBoxLayout>

namespace sextant::gui {

View::View(Workbench& workbench, Selection& selection) : workbench_(workbench), selection_(selection) {
    connect(&workbench, &Workbench::changed, this, [this] {
        if (!isVisible()) return;
        refresh();
        if (is_complete()) emit completed();
    });
}

bool View::is_played() const {
    const SessionPtr session = workbench_.session();
    return !session || session->simulated || session->state == AnswerState::refused;
}

void View::shares_term(ChartWidget& chart) {
    const auto emphasize = [this, &chart] {
        const std::optional<Term> term = selection_.now().term;
        chart.emphasize(term ? std::optional(static_cast<int>(*term)) : std::nullopt);
    };
    connect(&chart, &ChartWidget::chosen, &selection_, [this](int key) { selection_.select(static_cast<Term>(key)); });
    connect(&selection_, &Selection::changed, &chart, emphasize);
    emphasize();
}

void View::showEvent(QShowEvent* e) {
    QWidget::showEvent(e);
    refresh();
}

// Charts hold the colours in which they are to be painted. The window, which says what these are, may hear of a change after its views.
void View::changeEvent(QEvent* e) {
    QWidget::changeEvent(e);
    if (e->type() != QEvent::PaletteChange) return;
    shown_.reset();
    QMetaObject::invokeMethod(
        this,
        [this] {
            if (isVisible()) refresh();
        },
        Qt::QueuedConnection);
}

void View::refresh() {
    const SessionPtr session = workbench_.session();
    if (!session || !session->answer) return;
    follow(*session);
    if (session->answer == shown_) return;
    shown_ = session->answer;
    show_answer(*session, *shown_);
}

PageView::PageView(Workbench& workbench, Selection& selection) : View(workbench, selection) {
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    auto* scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    page_ = with_name("page", new QWidget);
    auto* whole = new QVBoxLayout(page_);
    whole->setContentsMargins(2 * gap, 2 * gap, 2 * gap, 2 * gap);
    column_ = new QVBoxLayout;
    column_->setSpacing(gap + 4);
    whole->addLayout(column_);
    whole->addStretch(1);
    scroll->setWidget(page_);
    outer->addWidget(scroll);
}

}  // namespace sextant::gui
