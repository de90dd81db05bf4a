// The current session and its history. Views read sessions here and edit only through it.
#pragma once

#include "gui/models/fields.hpp"
#include "gui/models/history.hpp"

#include <QObject>

#include <filesystem>
#include <functional>
#include <memory>
#include <utility>

namespace sextant::gui {

struct OpenedLesson;
struct PublishedRuns;

class Workbench : public QObject {
    Q_OBJECT

public:
    using QObject::QObject;

    // Null until something is opened.
    [[nodiscard]] SessionPtr session() const { return history_.is_empty() ? nullptr : history_.now(); }
    // The latest answer, which may be of an earlier session; null until there is one.
    [[nodiscard]] std::shared_ptr<const Answer> answer() const;
    [[nodiscard]] const History& history() const { return history_; }

    // Replaces everything by a session that was just opened.
    void open(SessionPtr);
    // Opens a lesson, which the view of lessons shows.
    void open(const std::shared_ptr<const OpenedLesson>& lesson) { emit lesson_opened(lesson); }
    // Edits as --set does: "plan.tp", "8" (see edited() in model/io/scenario/scenario_document.hpp). All of them are one step of the
    // history, which is named after the first field unless there is a label.
    void edit(const Edits&, const QString& label = {});
    // Replaces the plan for the same job, and keeps what was found out about the job.
    void replace_plan(const Plan&, const QString& label);
    // Replaces the document of the same file.
    void replace_document(const ScenarioDocument&, const QString& label);
    // Steps with the same gesture, as of a slider that is dragged, are undone together.
    void set_what_if(const Resources&, int gesture = 0);
    void undo();
    void redo();

    // Makes fields take what is being typed in them. To be called before the document is saved or passed on.
    void take_typed() { emit typed_wanted(); }
    // Asks the editor to show the field of this place, such as "hardware.nodes".
    void want_field(const QString& place) { emit field_wanted(place); }
    // Writes the document to a file, which is the file of every step of the history from then on. Throws BackendError when the disk
    // refuses; nothing is lost then.
    void save(const std::filesystem::path&);

    // Asks for the simulation of the present document. Does nothing where it is known, or where there is no answer yet: a view asks again
    // when the session has changed.
    void want_simulation();
    void stop_simulation() { emit simulation_unwanted(); }

    // Adds a finding about a session to the present one, if that still asks the same question; otherwise the finding is dropped. A job
    // takes session() with it as `question`.
    void add(const Session& question, const std::function<void(Session&)>& finding);
    // The same for a finding that does not depend on the what-if.
    void add(const ScenarioDocument& question, const std::function<void(Session&)>& finding);

    // Published runs beside their predictions, which take seconds and hold whatever is open; null until a view has worked them out.
    [[nodiscard]] const std::shared_ptr<const PublishedRuns>& published_runs() const { return published_runs_; }
    void keep(std::shared_ptr<const PublishedRuns> runs) { published_runs_ = std::move(runs); }

    // The number of a new gesture.
    int new_gesture() { return ++gestures_; }

signals:
    void opened();  // another scenario
    void lesson_opened(const std::shared_ptr<const sextant::gui::OpenedLesson>&);
    void changed();  // the session was replaced
    void asked(const sextant::gui::SessionPtr& question);
    void typed_wanted();
    void field_wanted(const QString& place);
    void saved();
    void simulation_wanted(const sextant::gui::SessionPtr& question);
    void simulation_unwanted();
    void simulating(double played);  // the progress of a simulation, 0 to 1

private:
    void push(Session, const QString& label, int gesture);
    void announce();
    void leave();
    void arrive(const SessionPtr& from);

    History history_;
    std::shared_ptr<const PublishedRuns> published_runs_;
    int gestures_ = 0;
};

}  // namespace sextant::gui
