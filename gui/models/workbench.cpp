#include "gui/models/workbench.hpp"

#include "gui/models/text.hpp"
#include "model/io/format/json_text.hpp"
#include "model/io/format/replace_file.hpp"
#include "model/io/scenario/scenario_writer.hpp"

namespace sextant::gui {

std::shared_ptr<const Answer> Workbench::answer() const {
    const SessionPtr now = session();
    return now ? now->answer : nullptr;
}

void Workbench::open(SessionPtr session) {
    history_.begin(std::move(session));
    emit opened();
    announce();
}

void Workbench::edit(const Edits& edits, const QString& label) {
    if (history_.is_empty() || edits.empty()) return;
    Session next = *history_.now();
    for (const auto& [path, value] : edits) next.document = edited(next.document, path, value);
    if (next.document == history_.now()->document) return;
    forget_findings(next);
    push(std::move(next), label.isEmpty() ? tr("change of %1").arg(q(edits.front().first)) : label, 0);
}

void Workbench::replace_document(const ScenarioDocument& document, const QString& label) {
    if (history_.is_empty() || document == history_.now()->document) return;
    Session next = *history_.now();
    next.document = document;
    next.what_if = {};
    forget_findings(next);
    push(std::move(next), label, 0);
}

void Workbench::replace_plan(const Plan& plan, const QString& label) {
    if (!answer()) return;
    Session next = *history_.now();
    next.document = document_with_plan(next.document, answer()->scenario, plan);
    const Precision &now = answer()->scenario.plan.precision, &then = plan.precision;
    if (now.compute != then.compute || now.parameter != then.parameter)
        next.document = edited(next.document, "plan.precision", json_text(to_text(then.compute)));
    if (next.document == history_.now()->document) return;
    next.compared = nullptr;
    push(std::move(next), label, 0);
}

void Workbench::set_what_if(const Resources& what_if, int gesture) {
    if (history_.is_empty()) return;
    Session next = *history_.now();
    next.what_if = what_if;
    push(std::move(next), tr("what-if"), gesture);
}

// A simulation takes much memory and is soon worked out again: only the present session keeps its own.
void Workbench::leave() {
    if (!history_.now()->simulated) return;
    Session left = *history_.now();
    left.simulated = nullptr;
    history_.replace(std::make_shared<const Session>(std::move(left)));
}

// Undo takes back edits, and not what was opened to compare with.
void Workbench::arrive(const SessionPtr& from) {
    Session here = *history_.now();
    here.measured = from->measured;
    keep_findings(here, *from);
    history_.replace(std::make_shared<const Session>(std::move(here)));
    announce();
}

void Workbench::want_simulation() {
    const SessionPtr now = session();
    if (now && now->state == AnswerState::ready && !now->simulated) emit simulation_wanted(now);
}

void Workbench::push(Session next, const QString& label, int gesture) {
    next.state = AnswerState::pending;
    next.simulated = nullptr;
    leave();
    history_.push(std::make_shared<const Session>(std::move(next)), label, gesture);
    announce();
}

void Workbench::undo() {
    if (!history_.undoes()) return;
    const SessionPtr from = session();
    leave();
    history_.undo();
    arrive(from);
}

void Workbench::redo() {
    if (!history_.redoes()) return;
    const SessionPtr from = session();
    leave();
    history_.redo();
    arrive(from);
}

void Workbench::save(const std::filesystem::path& path) {
    if (history_.is_empty()) return;
    take_typed();
    replace_text_file(path, text_of(history_.now()->document));
    // Documents stay as they are with their edits, so that undo goes on to work; only their place may be another.
    history_.replace_all([&](Session step) {
        step.document.file = path;
        step.is_exercise = false;
        return step;
    });
    history_.mark_saved();
    emit saved();
    announce();
}

void Workbench::add(const Session& question, const std::function<void(Session&)>& finding) {
    if (!history_.is_empty() && question.what_if == history_.now()->what_if) add(question.document, finding);
}

void Workbench::add(const ScenarioDocument& question, const std::function<void(Session&)>& finding) {
    if (history_.is_empty() || question != history_.now()->document) return;
    Session next = *history_.now();
    finding(next);
    history_.replace(std::make_shared<const Session>(std::move(next)));
    emit changed();
}

void Workbench::announce() {
    const SessionPtr now = history_.now();
    emit changed();
    if (now->state == AnswerState::pending) emit asked(now);
}

}  // namespace sextant::gui
