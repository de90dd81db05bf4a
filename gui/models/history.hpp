// The sessions in the order of edits, and which one is shown. Sessions are values, so undo just returns to the one before.
#pragma once

#include "gui/models/session.hpp"

#include <QString>

#include <functional>
#include <optional>
#include <vector>

namespace sextant::gui {

class History {
public:
    // Starts a new history with a session that was just opened, and counts as saved.
    void begin(SessionPtr);
    // Adds a step and forgets undone ones. Steps with the same `gesture` other than 0, as while a slider is dragged, become one.
    void push(SessionPtr, QString label, int gesture = 0);
    // Replaces the session of the current step, of which more is known now.
    void replace(SessionPtr);
    // Replaces the session of every step.
    void replace_all(const std::function<Session(Session)>& other);

    [[nodiscard]] const SessionPtr& now() const { return steps_[at_].session; }
    [[nodiscard]] bool is_empty() const { return steps_.empty(); }
    [[nodiscard]] std::optional<QString> undoes() const;  // the label of what undo() would take back
    [[nodiscard]] std::optional<QString> redoes() const;
    void undo();
    void redo();

    // Whether the document is that which was saved: a what-if is no part of it.
    [[nodiscard]] bool is_saved() const { return saved_ && steps_[*saved_].session->document == now()->document; }
    void mark_saved() { saved_ = at_; }

private:
    struct Step {
        SessionPtr session;
        QString label;
        int gesture = 0;
    };
    std::vector<Step> steps_;
    std::size_t at_ = 0;
    std::optional<std::size_t> saved_;  // none: the saved step is no longer in the history
};

}  // namespace sextant::gui
