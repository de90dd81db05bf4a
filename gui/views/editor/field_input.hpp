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
    // What it shows from now on; not an edit. What is being typed stays where the value is the same as before.
    void show_text(const QString&);
    // As if the field were left.
    virtual void take_typed() {}
    virtual void set_choices(const QStringList&) {}

signals:
    void edited(const QString& text);

protected:
    // Into the widget.
    virtual void put(const QString&) = 0;
    // Something that is not taken over yet.
    [[nodiscard]] virtual bool is_being_typed() const { return false; }
    [[nodiscard]] const QString& shown() const { return shown_; }
    void take(const QString& text);
    bool eventFilter(QObject*, QEvent*) override;

private:
    QString shown_;
};

FieldInput* make_input(const Field&, QObject* owner);

}  // namespace sextant::gui
