// Everything that the window shows, as one value: what was opened and edited, and what is known about it. Never changed, only replaced
// as a whole, so that views, worker threads and the history may hold on to one without a lock.
#pragma once

#include "model/sextant.hpp"

#include <memory>
#include <vector>

namespace sextant::gui {

struct Simulated;  // gui/models/simulated.hpp
struct Measured;   // gui/models/timeline/timeline.hpp

// What the closed form says.
struct Answer {
    Prepared job;  // what explain() reads; holds the resolved scenario
    Report report;
    Seconds step_without_what_if;

    [[nodiscard]] const Scenario& scenario() const { return job.scenario(); }
};

enum class AnswerState {
    pending,  // asked for; `answer`, if any, is of an earlier state of the document
    ready,    // `answer` is of this document and these resources
    refused,  // the document has `problems`; `answer`, if any, is the last that could be given
};

struct Session {
    ScenarioDocument document;
    Resources what_if{};
    AnswerState state = AnswerState::pending;
    std::shared_ptr<const Answer> answer{};
    std::vector<Diagnostic> problems{};
    std::shared_ptr<const Simulated> simulated{};  // of this document; null as long as it is not known
    std::shared_ptr<const Measured> measured{};    // what was opened to compare with
};
using SessionPtr = std::shared_ptr<const Session>;

// Works out the answer to a session. Takes milliseconds: for worker threads.
Session answered(Library&, const Session& question);

inline bool is_neutral(const Resources& what_if) { return what_if == Resources{}; }
// Whether what is known of one holds of the other.
bool asks_the_same(const Session&, const Session&);

}  // namespace sextant::gui
