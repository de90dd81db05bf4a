#include "gui/views/paint/whole_table.hpp"

#include "gui/views/paint/look.hpp"

#include <QHeaderView>
#include <QScrollBar>

namespace sextant::gui {
namespace {

constexpr int row_height = 26;

}  // namespace

WholeTable::WholeTable(QAbstractItemModel& table, Room room) : room_(room) {
    setObjectName(QStringLiteral("bare"));
    setFont(font_of(Type::small));
    setShowGrid(false);
    setWordWrap(false);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    setTabKeyNavigation(false);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(row_height);
    horizontalHeader()->setFont(font_of(Type::small));
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setMinimumSectionSize(24);
    setModel(&table);
    connect(&table, &QAbstractItemModel::modelReset, this, &WholeTable::fit);
    fit();
}

void WholeTable::fit() {
    const int columns = model()->columnCount();
    if (columns == 0) return;
    for (int c = 0; c < columns; ++c) {
        const bool takes_room = c == columns - 1 || (room_ == Room::shared && c > 0);
        horizontalHeader()->setSectionResizeMode(c, takes_room ? QHeaderView::Stretch : QHeaderView::ResizeToContents);
    }
    if (fixed_) {
        horizontalHeader()->setSectionResizeMode(fixed_->first, QHeaderView::Fixed);
        horizontalHeader()->resizeSection(fixed_->first, fixed_->second);
    }
    updateGeometry();
}

void WholeTable::fix(int column, int width) {
    fixed_ = {column, width};
    fit();
}

QSize WholeTable::sizeHint() const {
    const int beyond = horizontalHeader()->length() > width() ? horizontalScrollBar()->sizeHint().height() : 0;
    return {600, horizontalHeader()->sizeHint().height() + model()->rowCount() * row_height + beyond + 2 * frameWidth() + 2};
}

void WholeTable::resizeEvent(QResizeEvent* e) {
    QTableView::resizeEvent(e);
    updateGeometry();
}

}  // namespace sextant::gui
