#include "gui/views/ask_row.hpp"

#include "gui/views/job_bar.hpp"
#include "gui/views/paint/card.hpp"

#include <QHBoxLayout>
#include <QPushButton>

namespace sextant::gui {

AskRow::AskRow(Workbench& workbench, const QString& button, const QString& text) : workbench_(workbench) {
    const QString area = button.section(QLatin1Char('.'), 0, 0);
    button_ = with_name(button, new QPushButton(text));
    button_->setDefault(true);
    said_ = with_name(area + QStringLiteral(".said"), text_label(Type::small, "faint"));
    auto* row = bare_layout<QHBoxLayout>(this, gap + 4);
    without_ = with_name(area + QStringLiteral(".without"), text_label(Type::small, "warning", tr("without the what-if")));
    without_->setWordWrap(false);
    row->addWidget(button_);
    row->addWidget(without_);
    row->addWidget(said_, 1);
    row->addWidget(new JobBar(job_, area + QStringLiteral(".stop")), 1);
    connect(button_, &QPushButton::clicked, this, &AskRow::asked);
    connect(&job_, &LongJob::began, this, [this] { button_->setEnabled(false), said_->hide(); });
    connect(&job_, &LongJob::ended, this, [this] { button_->setEnabled(true), said_->show(); });
    connect(&workbench, &Workbench::changed, this, &AskRow::follow);
    follow();
}

void AskRow::say(const QString& text) { said_->setText(text); }

SessionPtr AskRow::session_to_ask() {
    const SessionPtr session = workbench_.session();
    if (session && session->state == AnswerState::ready) return session;
    say(tr("The scenario has to be mended first."));
    return nullptr;
}

void AskRow::follow() {
    const SessionPtr session = workbench_.session();
    without_->setVisible(session && !is_neutral(session->what_if));
    if (!job_.is_running() || session->document == asked_of_) return;
    job_.stop();
    say(tr("The scenario was changed: what was asked of it was stopped."));
}

}  // namespace sextant::gui
