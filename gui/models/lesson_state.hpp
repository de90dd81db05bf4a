// How far a lesson's step is, told from what is open: the change counts however it was made, by what it comes to.
#pragma once

#include "gui/models/session.hpp"

#include <QString>
#include <QStringList>

#include <vector>

namespace sextant::gui {

struct OpenedLesson {
    Lesson lesson;
    std::vector<LessonAnswer> answers;  // of its steps
};

enum class StepState {
    elsewhere,  // another scenario is open, or none
    pending,    // what is open is being worked out
    at_start,
    otherwise,  // the scenario was changed, and not as the step asks
    done,
};
StepState state_of(const Session*, const LessonStep&, const LessonAnswer&);

// What happened, with the numbers of what is open.
QStringList seen(const LessonStep&, const LessonAnswer&, const Report& now);

}  // namespace sextant::gui
