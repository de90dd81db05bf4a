#include "gui/views/paint/search_field.hpp"

#include "gui/views/paint/card.hpp"

#include <QKeyEvent>

namespace sextant::gui {
namespace {

// Below its heading.
QModelIndex first_of(const QAbstractItemView& list) {
    const QAbstractItemModel& model = *list.model();
    for (int row = 0; row < model.rowCount(); ++row)
        if (const QModelIndex index = model.index(row, 0); index.flags() & Qt::ItemIsSelectable) return index;
    return {};
}

class DownToList : public QObject {
public:
    DownToList(QLineEdit& field, QAbstractItemView& list) : QObject(&field), list_(list) { field.installEventFilter(this); }
    bool eventFilter(QObject*, QEvent* e) override {
        if (e->type() != QEvent::KeyPress || static_cast<const QKeyEvent*>(e)->key() != Qt::Key_Down) return false;
        list_.setFocus();
        list_.setCurrentIndex(first_of(list_));
        return true;
    }

private:
    QAbstractItemView& list_;
};

}  // namespace

QLineEdit* search_field(const QString& name, const QString& hint) {
    auto* field = with_name(name, new QLineEdit);
    field->setAccessibleName(QObject::tr("Search"));
    field->setPlaceholderText(hint);
    field->setClearButtonEnabled(true);
    return field;
}

void lead_to(QLineEdit& field, QAbstractItemView& found) {
    new DownToList(field, found);
    QObject::connect(&field, &QLineEdit::returnPressed, &found, [&field, &found] {
        if (const QModelIndex first = first_of(found); first.isValid() && !field.text().isEmpty()) emit found.activated(first);
    });
}

}  // namespace sextant::gui
