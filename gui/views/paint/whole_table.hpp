// A table as high as all of its rows: the page around it scrolls. Where it is narrow, its headings and longest texts take two lines.
#pragma once

#include <QTableView>
#include <QWheelEvent>

#include <optional>
#include <utility>
#include <vector>

namespace sextant::gui {

class WholeTable : public QTableView {
    Q_OBJECT

public:
    enum class Room { last, shared };  // which columns take the room that is left
    // `name`: of what it holds, for screen readers.
    WholeTable(const QString& name, QAbstractItemModel&, Room = Room::last);
    // Fixes the width of a column.
    void fix(int column, int width);
    // Marks a row as chosen, or none where the table does not hold it, and emits nothing.
    void mark_row(int row);

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return {200, sizeHint().height()}; }

signals:
    void row_chosen(int row);  // with the pointer or the arrow keys
    void row_opened(int row);  // by a double click or Enter

protected:
    void resizeEvent(QResizeEvent*) override;
    void wheelEvent(QWheelEvent* e) override { e->ignore(); }

private:
    void fit();
    void fit_narrow();
    [[nodiscard]] int width_of(int column) const;
    struct Widest {
        int whole = 0, in_two = 0;
    };
    [[nodiscard]] Widest widest_text(int column) const;
    [[nodiscard]] int height_of(int row, const std::vector<int>& widths_of_texts) const;
    Room room_;
    std::optional<std::pair<int, int>> fixed_;
};

}  // namespace sextant::gui
