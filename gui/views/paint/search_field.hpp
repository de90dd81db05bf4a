// A line to type the words of a search into.
#pragma once

#include <QLineEdit>

namespace sextant::gui {

// `hint`: shown while it is empty.
QLineEdit* search_field(const QString& name, const QString& hint);

}  // namespace sextant::gui
