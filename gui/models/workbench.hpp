// What is being worked on: the current session and its history. Views read it and edit through it; nobody else changes a session.
#pragma once

#include "gui/models/fields.hpp"
#include "gui/models/history.hpp"

#include <QObject>

#include <filesystem>
#include <functional>

namespace sextant::gui {

struct OpenedLesson;

class Workbench : public QObject {
    Q_OBJECT

public:
    using QObject::QObject;

    // Null as long as nothing was opened.
    [[nodiscard]] SessionPtr session() const { return history_.is_empty() ? nullptr : history_.now(); }
    // The last answer that could be given; null as long as there is none.
    [[nodiscard]] std::shared_ptr<const Answer> answer() const;
    [[nodiscard]] const History& history() const { return history_; }

    // Puts what was opened in place of everything.
    void open(SessionPtr);
    // A lesson from a file, for who shows lessons.
    void open(const std::shared_ptr<const OpenedLesson>& lesson) { emit lesson_opened(lesson); }
    // As --set would: "plan.tp", "8" (see edited() in model/io/scenario/scenario_document.hpp). All of them are one step; undo calls it by
    // its first field unless there is a label.
    void edit(const Edits&, const QString& label = {});
    // Another plan for the same job: what was found out about the job stays.
    void replace_plan(const Plan&, const QString& label);
    // Other edits of the same file.
    void replace_document(const ScenarioDocument&, const QString& label);
    // Steps with the same gesture, as of a slider that is dragged, are undone together.
    void set_what_if(const Resources&, int gesture = 0);
    void undo();
    void redo();

    // Has the fields give what is being typed in them: before the document leaves the window.
    void take_typed() { emit typed_wanted(); }
    // Has the field of this place shown, such as "hardware.nodes", to be changed.
    void want_field(const QString& place) { emit field_wanted(place); }
    // Writes the document, and from then on is at work on that file, whichever step is gone back to. Throws BackendError when the disk
    // refuses; nothing is lost then.
    void save(const std::filesystem::path&);

    // Asks for the simulation of what the document says now, for a view that needs it. Nothing happens where it is known, or where there is
    // no answer yet: ask again when the session has changed.
    void want_simulation();
    void stop_simulation() { emit simulation_unwanted(); }

    // What was found out about a session is added to the present one, if that still asks the same; else it is of no interest any more. So
    // a job takes session() with it, and comes back with what it adds.
    void add(const Session& question, const std::function<void(Session&)>& finding);
    // The same of what holds whatever the what-if.
    void add(const ScenarioDocument& question, const std::function<void(Session&)>& finding);

    // A number for a gesture that begins.
    int new_gesture() { return ++gestures_; }

signals:
    void opened();  // another scenario
    void lesson_opened(const std::shared_ptr<const sextant::gui::OpenedLesson>&);
    void changed();  // the session was replaced, for whatever reason
    void asked(const sextant::gui::SessionPtr& question);
    void typed_wanted();
    void field_wanted(const QString& place);
    void saved();
    void simulation_wanted(const sextant::gui::SessionPtr& question);
    void simulation_unwanted();
    void simulating(double played);  // from 0 to 1, while it is under way

private:
    void push(Session, const QString& label, int gesture);
    void announce();
    void leave();
    void arrive(const SessionPtr& from);

    History history_;
    int gestures_ = 0;
};

}  // namespace sextant::gui
