// A field with its name, a button that removes a stated value, and below it the problems that the reader found.
#pragma once

#include "gui/models/workbench.hpp"
#include "gui/views/editor/field_input.hpp"

#include <QLabel>

class QToolButton;

namespace sextant::gui {

class FieldRow : public QWidget {
    Q_OBJECT

public:
    // `keeps_devices`: whether editing one degree lets dp follow (see edits_for).
    FieldRow(const Field&, Workbench&, std::function<bool()> keeps_devices);

    void show_session(const Session&);
    void set_names(const QStringList& names) { input_->set_choices(names); }
    void take_keys() { input_->widget().setFocus(Qt::TabFocusReason); }
    [[nodiscard]] bool is_wrong() const { return !problem_->isHidden(); }
    // The label for problems. The owner of a small field gives it a place that is wide enough.
    [[nodiscard]] QLabel& problem() const { return *problem_; }
    [[nodiscard]] const Field& field() const { return field_; }

private:
    [[nodiscard]] bool is_below() const { return field_.small || field_.wide; }  // the input, of its label
    void make_drop();
    void take(const QString& text);

    const Field& field_;
    Workbench& workbench_;
    FieldInput* input_;
    QLabel* problem_;
    QToolButton* drop_ = nullptr;
    std::function<bool()> keeps_devices_;
};

}  // namespace sextant::gui
