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
};

FieldInput* make_input(const Field&, QObject* owner);

}  // namespace sextant::gui
