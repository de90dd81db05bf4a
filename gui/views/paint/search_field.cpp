#include "gui/views/paint/search_field.hpp"

namespace sextant::gui {

QLineEdit* search_field(const QString& name, const QString& hint) {
    auto* field = new QLineEdit;
    field->setObjectName(name);
    field->setAccessibleName(QObject::tr("Search"));
    field->setPlaceholderText(hint);
    field->setClearButtonEnabled(true);
    return field;
}

}  // namespace sextant::gui
