// A line to type the words of a search into.
#pragma once

#include <QAbstractItemView>
#include <QLineEdit>

namespace sextant::gui {

// `hint`: shown while it is empty.
QLineEdit* search_field(const QString& name, const QString& hint);

// From what is searched for to what was found: Down goes to the first of the list, Enter opens it.
void lead_to(QLineEdit& field, QAbstractItemView& found);

}  // namespace sextant::gui
