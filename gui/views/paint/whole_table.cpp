#include "gui/views/paint/whole_table.hpp"

#include "gui/views/paint/look.hpp"

#include <QHeaderView>
#include <QResizeEvent>
#include <QScrollBar>

#include <algorithm>

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

// What there is room for beside the others; without room for all, the table is scrolled.
void WholeTable::fit() {
    const int columns = model()->columnCount();
    if (columns == 0) return;
    int needed = 0;
    for (int c = 0; c < columns; ++c)
        needed += fixed_ && fixed_->first == c ? fixed_->second : std::max(sizeHintForColumn(c), horizontalHeader()->sectionSizeHint(c));
    for (int c = 0; c < columns; ++c) {
        const bool takes_room = needed <= viewport()->width() && (c == columns - 1 || (room_ == Room::shared && c > 0));
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
    if (e->size().width() != e->oldSize().width()) fit();
}

}  // namespace sextant::gui
