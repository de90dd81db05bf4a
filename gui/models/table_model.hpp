// A table whose contents are set all at once, for views and for CSV.
#pragma once

#include <QAbstractTableModel>
#include <QStringList>
#include <QVariant>

#include <set>
#include <vector>

namespace sextant::gui {

struct Table {
    QStringList headings;
    std::vector<std::vector<QVariant>> rows;  // as wide as the headings
    std::set<int> figures{};                  // columns that are aligned to the right
};

QVariant cell_alignment(bool figures);  // to the right, or to the left

class TableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;
    void set_table(Table);
    [[nodiscard]] const Table& table() const { return table_; }

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex&, int role = Qt::DisplayRole) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation, int role = Qt::DisplayRole) const override;

private:
    Table table_;
};

}  // namespace sextant::gui
