// The row below a question that takes long to answer: a button that asks it, a line of text, and a progress bar while it is computed. The
// result is added to the session, unless the scenario has changed by then.
#pragma once

#include "gui/jobs/long_job.hpp"
#include "gui/models/text.hpp"
#include "gui/models/workbench.hpp"

#include <QWidget>

class QLabel;
class QPushButton;

namespace sextant::gui {

class AskRow : public QWidget {
    Q_OBJECT

public:
    // `button`: the name of the button, "planner.search"; what stands beside it has names with the same beginning.
    AskRow(Workbench&, const QString& button, const QString& text);

    void say(const QString& text);
    [[nodiscard]] bool is_running() const { return job_.is_running(); }
    // The present session; null where it has no answer, which the user is told.
    [[nodiscard]] SessionPtr session_to_ask();

    // Shows what has been found so far.
    template <class Found>
    using Show = std::function<void(Found)>;

    // `work(tell, show)` works in another thread on what was asked of the present session. What it finds becomes this member of the
    // session.
    template <class Found, class Work>
    void ask(std::shared_ptr<const Found> Session::*place, Work work) {
        asked_of_ = workbench_.session()->document;
        const auto keep = [this, place](const std::shared_ptr<const Found>& found) {
            workbench_.add(asked_of_, [&](Session& s) { s.*place = found; });
        };
        job_.start(
            [work = std::move(work), keep](const LongJob::Tell& tell) {
                const Show<Found> show = [&](Found so_far) {
                    tell.in_window([keep, found = std::make_shared<const Found>(std::move(so_far))] { keep(found); });
                };
                return work(tell, show);
            },
            [this, keep](Outcome<Found> outcome) {
                if (!outcome.result) return say(html_of(outcome.problems));
                keep(std::make_shared<const Found>(std::move(*outcome.result)));
            });
    }

signals:
    void asked();

private:
    void follow();

    Workbench& workbench_;
    QPushButton* button_;
    QLabel *said_, *without_;
    ScenarioDocument asked_of_;
    LongJob job_;
};

}  // namespace sextant::gui
