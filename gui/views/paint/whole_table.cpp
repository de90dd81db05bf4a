#include "gui/views/paint/whole_table.hpp"

#include "gui/models/text.hpp"
#include "gui/views/paint/look.hpp"

#include <QHeaderView>
#include <QResizeEvent>
#include <QScrollBar>
#include <QSignalBlocker>

#include <algorithm>
#include <numeric>

namespace sextant::gui {
namespace {

constexpr int row_height = 26, above_text = 10, least_last = 90, worth_a_line = 20;

// Headings that can take two lines.
class Headings : public QHeaderView {
public:
    explicit Headings(QWidget* table) : QHeaderView(Qt::Horizontal, table) {}
    bool are_broken = false;

protected:
    void initStyleOptionForIndex(QStyleOptionHeader* option, int section) const override {
        QHeaderView::initStyleOptionForIndex(option, section);
        if (are_broken) option->text = in_two_lines(option->text);
    }
    [[nodiscard]] QSize sectionSizeFromContents(int section) const override {
        const QSize whole = QHeaderView::sectionSizeFromContents(section);
        if (!are_broken) return whole;
        const QString heading = model()->headerData(section, Qt::Horizontal).toString();
        const QFontMetrics metrics = fontMetrics();
        const QSize spared = metrics.size(0, heading) - metrics.size(0, in_two_lines(heading));
        return whole - spared;
    }
};

}  // namespace

WholeTable::WholeTable(const QString& name, QAbstractItemModel& table, Room room) : room_(room) {
    setAccessibleName(name);
    setObjectName(QStringLiteral("bare"));
    setFont(font_of(Type::small));
    setShowGrid(false);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    setTabKeyNavigation(false);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setHorizontalHeader(new Headings(this));
    horizontalHeader()->setSectionsClickable(false);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(row_height);
    horizontalHeader()->setFont(font_of(Type::small));
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setMinimumSectionSize(24);
    setModel(&table);
    connect(&table, &QAbstractItemModel::modelReset, this, &WholeTable::fit);
    connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
        if (now.isValid()) emit row_chosen(now.row());
    });
    connect(this, &QAbstractItemView::activated, this, [this](const QModelIndex& at) { emit row_opened(at.row()); });
    fit();
}

int WholeTable::width_of(int column) const {
    if (fixed_ && fixed_->first == column) return fixed_->second;
    return std::max(sizeHintForColumn(column), horizontalHeader()->sectionSizeHint(column));
}

// What there is room for beside the others.
void WholeTable::fit() {
    const int columns = model()->columnCount();
    if (columns == 0) return;
    setWordWrap(false);
    static_cast<Headings*>(horizontalHeader())->are_broken = false;
    verticalHeader()->setDefaultSectionSize(row_height);
    for (int row = 0; row < model()->rowCount(); ++row) setRowHeight(row, row_height);
    int needed = 0;
    for (int c = 0; c < columns; ++c) needed += width_of(c);
    const int left = viewport()->width() - needed;
    if (left < 0) return fit_narrow();
    for (int c = 0; c < columns - 1; ++c) {
        const bool shares = room_ == Room::shared && c > 0;
        horizontalHeader()->setSectionResizeMode(c, shares ? QHeaderView::Fixed : QHeaderView::ResizeToContents);
        if (shares) horizontalHeader()->resizeSection(c, width_of(c) + left / (columns - 1));
    }
    horizontalHeader()->setSectionResizeMode(columns - 1, QHeaderView::Stretch);
    if (fixed_) {
        horizontalHeader()->setSectionResizeMode(fixed_->first, QHeaderView::Fixed);
        horizontalHeader()->resizeSection(fixed_->first, fixed_->second);
    }
    updateGeometry();
}

// As they are, and each over two lines.
WholeTable::Widest WholeTable::widest_text(int column) const {
    Widest widest;
    for (int row = 0; row < model()->rowCount(); ++row) {
        const QString text = model()->index(row, column).data().toString();
        widest.whole = std::max(widest.whole, fontMetrics().size(0, text).width());
        widest.in_two = std::max(widest.in_two, fontMetrics().size(0, in_two_lines(text)).width());
    }
    return widest;
}

// Headings over two lines, then texts; without room for all even so, the table is scrolled.
void WholeTable::fit_narrow() {
    auto& headings = static_cast<Headings&>(*horizontalHeader());
    headings.are_broken = true;
    const int last = model()->columnCount() - 1;
    std::vector<int> widths, beside_text;
    for (int c = 0; c <= last; ++c) {
        widths.push_back(c < last ? width_of(c) : std::min(width_of(c), least_last));
        beside_text.push_back(sizeHintForColumn(c) - widest_text(c).whole);
    }
    const auto left = [&] { return viewport()->width() - std::accumulate(widths.begin(), widths.end(), 0); };
    std::vector<std::pair<int, int>> spared;  // by texts over two lines, and where: a number keeps its unit beside it
    for (int c = 0; c < last; ++c) {
        const Widest text = widest_text(c);
        if (text.whole - text.in_two >= worth_a_line) spared.emplace_back(text.whole - text.in_two, c);
    }
    std::ranges::sort(spared, std::ranges::greater());
    for (const auto& [width, c] : spared) {
        if (left() >= 0) break;
        const auto i = static_cast<std::size_t>(c);
        widths[i] = std::max(widths[i] - width, headings.sectionSizeHint(c));
    }
    const int room = std::max(0, left());
    for (int c = 1; room_ == Room::shared && c < last; ++c) widths[static_cast<std::size_t>(c)] += room / last;
    widths.back() += std::max(0, left());
    for (int c = 0; c <= last; ++c) {
        headings.setSectionResizeMode(c, QHeaderView::Fixed);
        headings.resizeSection(c, widths[static_cast<std::size_t>(c)]);
    }
    setWordWrap(true);
    for (int c = 0; c <= last; ++c) widths[static_cast<std::size_t>(c)] -= beside_text[static_cast<std::size_t>(c)];
    for (int row = 0; row < model()->rowCount(); ++row) setRowHeight(row, height_of(row, widths));
    updateGeometry();
}

int WholeTable::height_of(int row, const std::vector<int>& widths_of_texts) const {
    int height = row_height;
    for (int c = 0; c < model()->columnCount(); ++c) {
        const QRect room(0, 0, widths_of_texts[static_cast<std::size_t>(c)], 1000);
        const QRect lines = fontMetrics().boundingRect(room, Qt::TextWordWrap, model()->index(row, c).data().toString());
        height = std::max(height, lines.height() + above_text);
    }
    return height;
}

void WholeTable::fix(int column, int width) {
    fixed_ = {column, width};
    fit();
}

void WholeTable::mark_row(int row) {
    const QSignalBlocker quiet(selectionModel());
    if (row < model()->rowCount())
        setCurrentIndex(model()->index(row, 0));
    else
        clearSelection();
    viewport()->update();
}

QSize WholeTable::sizeHint() const {
    const int beyond = horizontalHeader()->length() > width() ? horizontalScrollBar()->sizeHint().height() : 0;
    return {600, horizontalHeader()->sizeHint().height() + verticalHeader()->length() + beyond + 2 * frameWidth() + 2};
}

void WholeTable::resizeEvent(QResizeEvent* e) {
    QTableView::resizeEvent(e);
    if (e->size().width() != e->oldSize().width()) fit();
}

}  // namespace sextant::gui
