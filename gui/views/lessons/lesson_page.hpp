// Shows an open lesson step by step.
#pragma once

#include "gui/models/lesson_state.hpp"
#include "gui/views/paint/card.hpp"

class QPushButton;
class QToolButton;

namespace sextant::gui {

class LessonPage : public QWidget {
    Q_OBJECT

public:
    LessonPage();

    // Opens a lesson at its first step, or at the first that begins with `scenario`.
    void open(std::shared_ptr<const OpenedLesson>, const std::filesystem::path& scenario = {});
    void show_session(const Session*);
    // Whether the session is the starting point of the step.
    [[nodiscard]] bool is_at_start(const Session* session) const { return state_of(session, step(), answer()) == StepState::at_start; }
    // Makes the change of the step.
    void show_change();

signals:
    void left();  // back to the list
    void wants_start(const sextant::ScenarioDocument&);
    void wants_change(const sextant::ScenarioDocument& from, const sextant::ScenarioDocument& to);
    void wants_view(const QString& name);
    void told_down_to(QWidget*);  // what happened stands above it
    void finished(const QString& title);

private:
    Card* add_card(const QString& heading, QLabel*& text);
    void go_to(std::size_t at);  // a step
    void show_step();
    void tell(const Session&);
    [[nodiscard]] const LessonStep& step() const { return opened_->lesson.steps[at_]; }
    [[nodiscard]] const LessonAnswer& answer() const { return opened_->answers[at_]; }
    [[nodiscard]] bool is_last() const { return at_ + 1 == opened_->lesson.steps.size(); }

    std::shared_ptr<const OpenedLesson> opened_;
    std::size_t at_ = 0;
    QLabel *title_, *question_, *source_, *look_, *task_, *hint_, *seen_, *remember_;
    Card *look_card_, *task_card_, *seen_card_, *remember_card_;
    QPushButton *start_, *view_, *show_, *back_, *next_;
};

}  // namespace sextant::gui
