#include "gui/views/job_bar.hpp"

#include "gui/views/paint/card.hpp"

#include <QHBoxLayout>
#include <QProgressBar>
#include <QPushButton>

namespace sextant::gui {

JobBar::JobBar(LongJob& job, const QString& name) {
    auto* row = bare_layout<QHBoxLayout>(this, gap + 4);
    bar_ = new QProgressBar;
    bar_->setRange(0, 1000);
    bar_->setTextVisible(false);
    bar_->setFixedWidth(160);
    note_ = text_label(Type::small, "faint");
    auto* stop = with_name(name, new QPushButton(tr("Stop")));
    stop->setToolTip(tr("Stop, and keep what was found so far"));
    row->addWidget(bar_);
    row->addWidget(note_, 1);
    row->addWidget(stop);
    hide();
    connect(stop, &QPushButton::clicked, &job, &LongJob::stop);
    connect(&job, &LongJob::began, this, [this] {
        bar_->setValue(0);
        note_->clear();
        show();
    });
    connect(&job, &LongJob::ended, this, &QWidget::hide);
    connect(&job, &LongJob::progressed, this, [this](double done, const QString& note) {
        bar_->setValue(static_cast<int>(1000 * done));
        note_->setText(note);
    });
}

}  // namespace sextant::gui
