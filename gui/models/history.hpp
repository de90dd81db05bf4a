// Sessions in the order in which edits made them, and which of them is shown. As they are values, undo is taking the one before.
#pragma once

#include "gui/models/session.hpp"

#include <QString>

#include <functional>
#include <optional>
#include <vector>

namespace sextant::gui {

class History {
public:
    // Begins anew, with what was just opened: that is what is saved.
    void begin(SessionPtr);
    // Forgets what was undone. Steps of one gesture, as of a slider that is dragged, are one: give them one number that is not 0.
    void push(SessionPtr, QString label, int gesture = 0);
    // The same step, of which more is known now.
    void replace(SessionPtr);
    // Puts another in place of every step.
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
    std::optional<std::size_t> saved_;  // none: what was saved cannot be reached any more
};

}  // namespace sextant::gui
