// A table whose contents come all at once: for views that show one, and for CSV.
#pragma once

#include <QAbstractTableModel>
#include <QStringList>
#include <QVariant>

#include <vector>

namespace sextant::gui {

struct Table {
    QStringList headings;
    std::vector<std::vector<QVariant>> rows;  // as wide as the headings
};

class TableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;
    void set_table(Table);

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex&, int role = Qt::DisplayRole) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation, int role = Qt::DisplayRole) const override;

private:
    Table table_;
};

}  // namespace sextant::gui
