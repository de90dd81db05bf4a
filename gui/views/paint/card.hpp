// A card: a heading and what stands below it.
#pragma once

#include "gui/views/paint/look.hpp"

#include <QFrame>
#include <QLabel>
#include <QVBoxLayout>

#include <initializer_list>

namespace sextant::gui {

class Card : public QFrame {
    Q_OBJECT

public:
    explicit Card(const QString& heading, const QString& tip = {});
    [[nodiscard]] QVBoxLayout& body() const { return *body_; }
    void add(std::initializer_list<QWidget*>);
    void set_heading(const QString& heading) { heading_->setText(heading); }

private:
    QLabel* heading_;
    QVBoxLayout* body_;
};

// A layout of the widget with nothing around what stands in it.
template <class Layout>
Layout* bare_layout(QWidget* of, int spacing) {
    auto* layout = new Layout(of);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(spacing);
    return layout;
}

// The widget under a name, by which style sheets and tests find it.
template <class Widget>
Widget* with_name(const QString& name, Widget* widget) {
    widget->setObjectName(name);
    return widget;
}

// "faint", "good", "warning", "bad", "accent": in the look's colour of that name.
QLabel* text_label(Type, const char* role = nullptr, const QString& text = {});
void set_role(QLabel&, const char* role);

}  // namespace sextant::gui
