#include "gui/models/lesson_state.hpp"

#include "gui/models/text.hpp"

#include <algorithm>

namespace sextant::gui {
namespace {

bool states_the_change(const ScenarioDocument& d, const LessonStep& step, const LessonAnswer& answer) {
    return std::ranges::all_of(step.changes,
                               [&](const auto& change) { return stated_at(d, change.first) == stated_at(answer.changed, change.first); });
}

}  // namespace

StepState state_of(const Session* session, const LessonStep& step, const LessonAnswer& answer) {
    if (!session || session->document.file != answer.start.file) return StepState::elsewhere;
    if (session->state == AnswerState::pending) return StepState::pending;
    if (session->state == AnswerState::refused) return StepState::otherwise;
    const Report& now = session->answer->report;
    const bool tells_apart = !same_answer(answer.before, answer.after);
    if (same_answer(now, answer.after) && (tells_apart || states_the_change(session->document, step, answer))) return StepState::done;
    return same_answer(now, answer.before) ? StepState::at_start : StepState::otherwise;
}

QStringList seen(const LessonStep& step, const LessonAnswer& answer, const Report& now) {
    const std::vector<NamedQuantity> quantities = lesson_quantities(answer.before, now);
    QStringList sentences;
    for (const std::string& sentence : step.seen) sentences += q(told(sentence, quantities));
    return sentences;
}

}  // namespace sextant::gui
