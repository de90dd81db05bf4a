// How far a lesson's step is, told from what is open: the change counts however it was made, by what it comes to.
#pragma once

#include "gui/models/session.hpp"

#include <QString>
#include <QStringList>

#include <filesystem>
#include <memory>
#include <vector>

namespace sextant::gui {

struct OpenedLesson {
    Lesson lesson;
    std::vector<LessonAnswer> answers;  // of its steps
};

// Of a file that holds one, told from its beginning.
bool holds_lesson(const std::filesystem::path&);
// Throws InputError with everything that is wrong with it. A scenario that its steps name may stand beside it.
Lesson lesson_in(const std::filesystem::path&);
std::shared_ptr<const OpenedLesson> opened(Library&, const Lesson&);
// What the lesson says and is not so: for whoever writes one.
std::vector<Diagnostic> mistakes_in(const OpenedLesson&);

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
