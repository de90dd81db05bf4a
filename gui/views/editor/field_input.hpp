// The widget in which a field of any kind is edited.
#pragma once

#include "gui/models/fields.hpp"

#include <QWidget>

namespace sextant::gui {

class FieldInput : public QObject {
    Q_OBJECT

public:
    using QObject::QObject;

    [[nodiscard]] virtual QWidget& widget() = 0;
    // Sets the text that is shown, without an edit. What is being typed stays if the value is the same as before.
    void show_text(const QString&);
    // Takes what was typed, as when the field loses the focus.
    virtual void take_typed() {}
    virtual void set_choices(const QStringList&) {}

signals:
    void edited(const QString& text);

protected:
    // Puts a text into the widget.
    virtual void put(const QString&) = 0;
    // Whether something was typed that is not taken yet.
    [[nodiscard]] virtual bool is_being_typed() const { return false; }
    [[nodiscard]] const QString& shown() const { return shown_; }
    void take(const QString& text);
    bool eventFilter(QObject*, QEvent*) override;

private:
    QString shown_;
};

FieldInput* make_input(const Field&, QObject* owner);

}  // namespace sextant::gui
