#include "gui/models/session.hpp"

namespace sextant::gui {
namespace {

Answer answer_to(Library& library, const Session& question) {
    Prepared job = prepare(load_scenario(library, question.document));
    Report report = make_report(job, question.what_if);
    const Seconds described = is_neutral(question.what_if) ? report.estimate.step : estimate(job).step;
    return {std::move(job), std::move(report), described};
}

}  // namespace

Session answered(Library& library, const Session& question) {
    Session result = question;
    try {
        result.answer = std::make_shared<const Answer>(answer_to(library, question));
        result.state = AnswerState::ready;
        result.problems.clear();
    } catch (const InputError& e) {
        result.state = AnswerState::refused;
        result.problems = e.diagnostics();
    } catch (const std::exception& e) {
        result.state = AnswerState::refused;
        result.problems = {
            {question.document.file.string(), "", "a defect in sextant itself, please report it: " + std::string(e.what()), ""}};
    }
    return result;
}

void take_answer(Session& session, const Session& answered) {
    session.state = answered.state;
    session.answer = answered.answer;
    session.problems = answered.problems;
}

void forget_findings(Session& session) {
    session.plans.reset();
    session.scaling.reset();
    session.compared.reset();
}

void keep_findings(Session& here, const Session& from) {
    here.simulated = from.simulated;
    here.plans = from.plans;
    here.scaling = from.scaling;
    here.compared = from.compared;
}

}  // namespace sextant::gui
