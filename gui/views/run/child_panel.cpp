#include "gui/views/run/child_panel.hpp"

#include "gui/views/paint/card.hpp"

#include <QHBoxLayout>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>

namespace sextant::gui {
namespace {

constexpr int most_lines = 2000, log_height = 130;

}  // namespace

ChildPanel::ChildPanel(Child& child, QPushButton& start, const QString& name) : start_(start) {
    auto* column = bare_layout<QVBoxLayout>(this, gap - 2);
    make_progress(name);
    said_ = with_name(name + QStringLiteral(".said"), text_label(Type::body));
    make_log(name);
    for (QWidget* w : std::initializer_list<QWidget*>{progress_, said_, log_}) {
        column->addWidget(w);
        w->hide();
    }
    follow(child);
}

void ChildPanel::make_progress(const QString& name) {
    progress_ = new QWidget;
    auto* row = bare_layout<QHBoxLayout>(progress_, gap + 4);
    bar_ = new QProgressBar;
    bar_->setTextVisible(false);
    bar_->setFixedWidth(200);
    note_ = text_label(Type::small, "faint");
    stop_ = with_name(name + QStringLiteral(".stop"), new QPushButton(tr("Stop")));
    stop_->setToolTip(tr("Ends it and every process that it started"));
    row->addWidget(bar_);
    row->addWidget(note_, 1);
    row->addWidget(stop_);
}

void ChildPanel::make_log(const QString& name) {
    log_ = with_name(name + QStringLiteral(".log"), new QPlainTextEdit);
    log_->setAccessibleName(tr("What it says"));
    log_->setReadOnly(true);
    log_->setTabChangesFocus(true);
    log_->setFont(code_font());
    log_->setMaximumBlockCount(most_lines);
    log_->setFixedHeight(log_height);
}

void ChildPanel::follow(Child& child) {
    connect(stop_, &QPushButton::clicked, this, [this, &child] {
        stop_had_focus_ = has_focus(*stop_);
        stop_->setEnabled(false);
        bar_->setRange(0, 0);
        note_->setText(tr("stopping"));
        child.stop();
    });
    connect(&child, &Child::began, this, [this] {
        stop_->setEnabled(true);
        stop_had_focus_ = false;
        bar_->setRange(0, 0);
        note_->setText(tr("starting"));
        log_->clear();
        progress_->show();
        said_->hide();
        log_->hide();
        if (has_focus(start_)) stop_->setFocus();
        start_.setEnabled(false);
    });
    connect(&child, &Child::progressed, this, [this](int done, int total, const QString& what) {
        if (!stop_->isEnabled()) return;
        bar_->setRange(0, total);
        bar_->setValue(done);
        note_->setText(tr("%1: %2 of %3").arg(what).arg(done).arg(total));
    });
    connect(&child, &Child::said, this, [this](const QString& line) {
        log_->appendPlainText(line);
        log_->show();
    });
    connect(&child, &Child::ended, this, [this](const ChildEnd& end) {
        start_.setEnabled(true);
        if (stop_had_focus_ || has_focus(*stop_)) start_.setFocus();
        progress_->hide();
        if (end.stopped)
            say(tr("Stopped. Nothing of it is left."));
        else if (!end.problem.isEmpty())
            say(tr("%1. Nothing here was changed.").arg(end.problem.toHtmlEscaped()), true);
    });
}

bool ChildPanel::has_focus(const QPushButton& button) const { return window()->focusWidget() == &button; }

void ChildPanel::say(const QString& what, bool is_wrong) {
    said_->setText(what);
    set_role(*said_, is_wrong ? "bad" : "faint");
    said_->setVisible(!what.isEmpty());
}

}  // namespace sextant::gui
