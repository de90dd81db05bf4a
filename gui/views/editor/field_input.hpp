// The widget in which a field is edited, whichever its kind.
#pragma once

#include "gui/models/fields.hpp"

#include <QWidget>

namespace sextant::gui {

class FieldInput : public QObject {
    Q_OBJECT

public:
    using QObject::QObject;

    [[nodiscard]] virtual QWidget& widget() = 0;
    // What it shows from now on; not an edit.
    virtual void show_text(const QString&) = 0;
    virtual void set_choices(const QStringList&) {}

signals:
    void edited(const QString& text);

protected:
    // Something that is not taken over yet.
    [[nodiscard]] virtual bool is_being_typed() const { return false; }
    bool eventFilter(QObject*, QEvent*) override;
};

FieldInput* make_input(const Field&, QObject* owner);

}  // namespace sextant::gui
