// The state of a lesson's step, found by comparing it with what is open. A change counts however it was made.
#pragma once

#include "gui/models/session.hpp"

#include <QStringList>

#include <filesystem>
#include <memory>
#include <vector>

namespace sextant::gui {

struct OpenedLesson {
    Lesson lesson;
    std::vector<LessonAnswer> answers;  // of its steps
};

// Whether a file holds a lesson, judged by its beginning.
bool holds_lesson(const std::filesystem::path&);
// Reads a lesson. Scenarios that its steps name are also looked for beside it. Throws InputError with everything that is wrong.
Lesson lesson_in(const std::filesystem::path&);
std::shared_ptr<const OpenedLesson> opened(Library&, const Lesson&);
// The statements of a lesson that the model contradicts: for authors of lessons.
std::vector<Diagnostic> mistakes_in(const OpenedLesson&);

enum class StepState {
    elsewhere,  // another scenario is open, or none
    pending,    // the answer is being computed
    at_start,
    otherwise,  // the scenario was changed, but not as the step asks
    done,
};
StepState state_of(const Session*, const LessonStep&, const LessonAnswer&);

// What the reader has seen, with the numbers of what is open.
QStringList seen(const LessonStep&, const LessonAnswer&, const Report& now);

}  // namespace sextant::gui
