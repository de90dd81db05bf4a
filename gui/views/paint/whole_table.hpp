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
    explicit WholeTable(QAbstractItemModel&, Room = Room::last);
    // Fixes the width of a column.
    void fix(int column, int width);

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return {200, sizeHint().height()}; }

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
