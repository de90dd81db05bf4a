#include "gui/models/session.hpp"

#include "gui/models/caught.hpp"

namespace sextant::gui {
namespace {

Answer answer_to(Library& library, const Session& question) {
    Scenario scenario = load_scenario(library, question.document);
    Prepared job = prepare(with_resources(scenario, question.what_if));
    Report report = make_report(job);
    look_elsewhere(library, report);
    const Seconds described = is_neutral(question.what_if) ? report.estimate.step : estimate(prepare(scenario)).step;
    return {std::move(scenario), std::move(job), std::move(report), described};
}

}  // namespace

Session question_in(Library& library, const std::filesystem::path& path) {
    const auto row = row_named(path);
    if (!row) return {.document = open_document(path)};
    const auto published = std::make_shared<const PublishedRun>(published_run(library, row->file, row->id));
    return {.document = published->document, .published = published};
}

Session answered(Library& library, const Session& question) {
    Session result = question;
    try {
        result.answer = std::make_shared<const Answer>(answer_to(library, question));
        result.state = AnswerState::ready;
        result.problems.clear();
    } catch (const std::exception&) {
        result.state = AnswerState::refused;
        result.problems = problems_caught(question.document.file.string());
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

bool asks_the_same(const Session& a, const Session& b) { return a.what_if == b.what_if && a.document == b.document; }

void keep_findings(Session& here, const Session& from) {
    if (here.document != from.document) return;
    if (here.what_if == from.what_if) here.simulated = from.simulated;
    here.plans = from.plans;
    here.scaling = from.scaling;
    here.compared = from.compared;
}

}  // namespace sextant::gui
