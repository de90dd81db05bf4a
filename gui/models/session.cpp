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
    }
    return result;
}

bool is_neutral(const Resources& r) {
    for (const double factor :
         {r.compute, r.memory_bandwidth, r.node_bandwidth, r.network_bandwidth, r.latency, r.host, r.kernel_overhead, r.storage, r.overlap})
        if (factor != 1) return false;
    return true;
}

}  // namespace sextant::gui
