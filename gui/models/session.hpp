// Everything that the window shows, as one value: what was opened and edited, and what is known about it. Never changed, only replaced
// as a whole, so that views, worker threads and the history may hold on to one without a lock.
#pragma once

#include "model/sextant.hpp"

#include <memory>
#include <vector>

namespace sextant::gui {

struct Simulated;        // gui/models/simulated.hpp
struct Measured;         // gui/models/timeline/timeline.hpp
struct Compared;         // gui/models/compared.hpp
struct PlanFindings;     // gui/models/plan_findings.hpp
struct ScalingFindings;  // gui/models/scaling_findings.hpp

// The prediction for a session.
struct Answer {
    Scenario scenario;  // as described
    Prepared job;       // at the what-if: what explain() reads
    Report report;
    Seconds step_without_what_if;
};

enum class AnswerState {
    pending,  // asked for; `answer`, if any, is of an earlier state of the document
    ready,    // `answer` is of this document and these resources
    refused,  // the document has `problems`; `answer`, if any, is the last that could be given
};

struct Session {
    ScenarioDocument document;
    std::shared_ptr<const PublishedRun> published{};  // that the document began as
    bool is_exercise = false;                         // of a lesson: what is changed is no loss
    Resources what_if{};
    AnswerState state = AnswerState::pending;
    std::shared_ptr<const Answer> answer{};
    std::vector<Diagnostic> problems{};
    std::shared_ptr<const Simulated> simulated{};  // of this document and these resources; null as long as it is not known
    // What was asked for beside the answer, and holds whatever the what-if.
    std::shared_ptr<const PlanFindings> plans{};
    std::shared_ptr<const ScalingFindings> scaling{};
    std::shared_ptr<const Measured> measured{};  // what was opened to compare with
    std::shared_ptr<const Compared> compared{};  // that, held beside this document
};
using SessionPtr = std::shared_ptr<const Session>;

// The session for a file, or for "FILE#ROW", without its answer. Throws InputError.
Session question_in(Library&, const std::filesystem::path&);
// Computes the answer of a session. Takes milliseconds: for worker threads.
Session answered(Library&, const Session& question);

// Whether document and resources are the same, so that what was found out about one session is true of the other.
bool asks_the_same(const Session&, const Session&);
inline bool is_neutral(const Resources& what_if) { return what_if == Resources{}; }
// Copies the answer from the session that was answered.
void take_answer(Session&, const Session& answered);
// Drops what was found out about another document.
void forget_findings(Session&);
// Copies what was found out about the same document, or about the same question.
void keep_findings(Session& here, const Session& from);

}  // namespace sextant::gui
