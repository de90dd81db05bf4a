#include "gui/models/lesson_state.hpp"

#include "gui/models/stated_schema.hpp"
#include "gui/models/text.hpp"
#include "model/io/scenario/lesson_reader.hpp"

#include <algorithm>

namespace sextant::gui {
namespace {

bool states_the_change(const ScenarioDocument& d, const LessonStep& step, const LessonAnswer& answer) {
    return std::ranges::all_of(step.changes,
                               [&](const auto& change) { return stated_at(d, change.first) == stated_at(answer.changed, change.first); });
}

}  // namespace

bool holds_lesson(const std::filesystem::path& path) { return states_schema(path, "lesson/1"); }

Lesson lesson_in(const std::filesystem::path& path) {
    Diagnostics diagnostics;
    std::optional<Lesson> lesson = load_lesson(path, diagnostics);
    diagnostics.throw_if_any();
    const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
    for (LessonStep& step : lesson->steps)  // a whole path takes the place of the folder of those that are bundled
        if (std::filesystem::exists(folder / (step.scenario + ".json"))) step.scenario = (folder / step.scenario).string();
    return std::move(*lesson);
}

std::shared_ptr<const OpenedLesson> opened(Library& library, const Lesson& lesson) {
    OpenedLesson o{lesson, {}};
    for (const LessonStep& step : lesson.steps) o.answers.push_back(answer_of(library, step));
    return std::make_shared<const OpenedLesson>(std::move(o));
}

std::vector<Diagnostic> mistakes_in(const OpenedLesson& o) {
    std::vector<Diagnostic> mistakes;
    for (std::size_t i = 0; i < o.answers.size(); ++i) {
        const LessonStep& step = o.lesson.steps[i];
        const std::string at = "/steps/" + std::to_string(i);
        const auto quantities = lesson_quantities(o.answers[i].before, o.answers[i].after);
        std::vector<std::string> said = step.seen;
        said.push_back(step.look);
        for (const std::string& sentence : said)
            if (const std::string text = told(sentence, quantities); text.find('{') != std::string::npos)
                mistakes.push_back({o.lesson.file.string(), at, "a number that nobody knows: " + text,
                                    "as in {after.step_time} or {ratio.samples_per_s}"});
        for (const Condition& c : step.checks) {
            try {
                if (!holds(c, quantities))
                    mistakes.push_back(
                        {o.lesson.file.string(), at + "/checks", "this does not hold: " + c.text, "then what is seen is not so"});
            } catch (const InputError& e) {
                mistakes.insert(mistakes.end(), e.diagnostics().begin(), e.diagnostics().end());
            }
        }
    }
    return mistakes;
}

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
    for (const std::string& sentence : step.seen) sentences += with_signs(told(sentence, quantities));
    return sentences;
}

}  // namespace sextant::gui
