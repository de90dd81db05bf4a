#include "gui/models/table_model.hpp"

namespace sextant::gui {

void TableModel::set_table(Table table) {
    beginResetModel();
    table_ = std::move(table);
    endResetModel();
}

int TableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(table_.rows.size()); }

int TableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(table_.headings.size()); }

QVariant cell_alignment(bool figures) {
    return QVariant::fromValue(Qt::Alignment(Qt::AlignVCenter | (figures ? Qt::AlignRight : Qt::AlignLeft)));
}

QVariant TableModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    if (role == Qt::TextAlignmentRole) return cell_alignment(table_.figures.contains(index.column()));
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
    return table_.rows[static_cast<std::size_t>(index.row())][static_cast<std::size_t>(index.column())];
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role == Qt::TextAlignmentRole && orientation == Qt::Horizontal) return cell_alignment(table_.figures.contains(section));
    if (role != Qt::DisplayRole) return {};
    return orientation == Qt::Horizontal ? QVariant(table_.headings.value(section)) : QVariant(section + 1);
}

}  // namespace sextant::gui
