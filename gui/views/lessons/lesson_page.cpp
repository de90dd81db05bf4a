#include "gui/views/lessons/lesson_page.hpp"

#include "gui/models/text.hpp"
#include "gui/views/paint/card.hpp"

#include <QHBoxLayout>
#include <QPushButton>
#include <QToolButton>

#include <algorithm>

namespace sextant::gui {
namespace {

QPushButton* button(const char* name, const QString& text = {}) {
    auto* b = with_name(QStringLiteral("lesson.") + QLatin1String(name), new QPushButton(text));
    return b;
}

}  // namespace

LessonPage::LessonPage() {
    auto* column = bare_layout<QVBoxLayout>(this, gap + 2);
    auto* list = with_name("lesson.list", new QToolButton);
    list->setText(tr("All lessons"));
    list->setArrowType(Qt::LeftArrow);
    list->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    column->addWidget(list, 0, Qt::AlignLeft);
    for (const auto& [label, type, role] :
         {std::tuple(&title_, Type::heading, static_cast<const char*>(nullptr)),
          std::tuple(&question_, Type::body, static_cast<const char*>(nullptr)), std::tuple(&source_, Type::small, "faint")}) {
        *label = text_label(type, role);
        (*label)->setWordWrap(true);
        column->addWidget(*label);
    }
    look_card_ = add_card({}, look_);
    start_ = button("start", tr("Open it"));
    view_ = button("view");
    task_card_ = add_card(tr("Change this"), task_);
    hint_ = with_name("lesson.hint", text_label(Type::small, "faint"));
    show_ = button("show", tr("Show me"));
    show_->setToolTip(tr("Makes the change, as one step that undo takes back"));
    seen_card_ = add_card(tr("What happened"), seen_);
    seen_->setObjectName(QStringLiteral("lesson.seen"));
    remember_card_ = add_card(tr("To remember"), remember_);
    for (QPushButton* b : {start_, view_}) look_card_->body().addWidget(b, 0, Qt::AlignLeft);
    task_card_->body().addWidget(hint_);
    task_card_->body().addWidget(show_, 0, Qt::AlignLeft);
    auto* row = new QHBoxLayout;
    back_ = button("back", tr("Back"));
    next_ = button("next", tr("Next"));
    row->addWidget(back_);
    row->addStretch(1);
    row->addWidget(next_);
    column->addLayout(row);
    connect(list, &QToolButton::clicked, this, &LessonPage::left);
    connect(start_, &QPushButton::clicked, this, [this] { emit wants_start(answer().start); });
    connect(view_, &QPushButton::clicked, this, [this] { emit wants_view(q(step().view)); });
    connect(show_, &QPushButton::clicked, this, &LessonPage::show_change);
    connect(back_, &QPushButton::clicked, this, [this] { go_to(at_ - 1); });
    connect(next_, &QPushButton::clicked, this, [this] { is_last() ? emit left() : go_to(at_ + 1); });
}

Card* LessonPage::add_card(const QString& heading, QLabel*& text) {
    auto* card = new Card(heading);
    text = text_label(Type::body);
    card->body().addWidget(text);
    layout()->addWidget(card);
    return card;
}

void LessonPage::open(std::shared_ptr<const OpenedLesson> lesson, const std::filesystem::path& scenario) {
    opened_ = std::move(lesson);
    const Lesson& l = opened_->lesson;
    title_->setText(q(l.title));
    question_->setText(q(l.question));
    source_->setText(tr("After %1").arg(q(l.source)));
    remember_->setText(q(l.remember));
    const auto begins_with = [&](const LessonAnswer& a) { return a.start.file == scenario; };
    const auto found = std::ranges::find_if(opened_->answers, begins_with);
    go_to(found == opened_->answers.end() ? 0 : static_cast<std::size_t>(found - opened_->answers.begin()));
}

void LessonPage::go_to(std::size_t at) {
    at_ = at;
    show_step();
    emit wants_start(answer().start);
    if (!step().view.empty()) emit wants_view(q(step().view));
}

void LessonPage::show_step() {
    const std::size_t count = opened_->lesson.steps.size();
    look_card_->set_heading(tr("Step %1 of %2: look").arg(at_ + 1).arg(count));
    look_->setText(with_signs(told(step().look, lesson_quantities(answer().before, answer().before))));
    task_->setText(q(step().task));
    view_->setVisible(!step().view.empty());
    view_->setText(tr("%1 \u203a").arg(capitalized(q(step().view))));
    back_->setVisible(at_ > 0);
    next_->setText(is_last() ? tr("All lessons") : tr("Next"));
    for (Card* card : {seen_card_, remember_card_}) card->hide();
}

void LessonPage::show_session(const Session* session) {
    if (!opened_) return;
    const StepState state = state_of(session, step(), answer());
    if (state == StepState::pending) return;
    const bool done = state == StepState::done;
    start_->setVisible(state == StepState::elsewhere || state == StepState::otherwise);
    start_->setText(state == StepState::otherwise ? tr("Set it back") : tr("Open it"));
    show_->setEnabled(!done);
    hint_->setVisible(state == StepState::otherwise || state == StepState::elsewhere);
    const bool is_news = done && seen_card_->isHidden();
    seen_card_->setVisible(done);
    remember_card_->setVisible(done && is_last());
    next_->setDefault(done);
    show_->setDefault(!done);
    if (state == StepState::elsewhere) hint_->setText(tr("Another scenario is open."));
    if (state == StepState::otherwise) tell(*session);
    if (!done) return;
    seen_->setText(seen(step(), answer(), session->answer->report).join(QStringLiteral("\n\n")));
    if (is_news) emit told_down_to(next_);
    if (is_last()) emit finished(q(opened_->lesson.title));
}

// Another change is an answer too.
void LessonPage::tell(const Session& session) {
    if (session.state == AnswerState::refused) return hint_->setText(tr("This cannot be: the banner above says why."));
    const double factor = session.answer->report.estimate.step / answer().before.estimate.step;
    hint_->setText(tr("Not that yet. As it is now a step takes %1, %2 times what it took at the start.")
                       .arg(quantity(session.answer->report.estimate.step), number(factor)));
}

void LessonPage::show_change() { emit wants_change(answer().start, answer().changed); }

}  // namespace sextant::gui
